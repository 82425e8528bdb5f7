import FerryGenerator
import FerryModel
import Foundation
import Testing

@Suite("References that leave their partition") struct CrossingTests {
  private func notes(_ database: FixtureDatabase, _ partitions: [String]) throws -> [String] {
    let made = try ModelMaker.make(
      fromSQLite: database.path,
      options: TranslationOptions(
        name: "shop", partitions: try partitions.map(PartitionRequest.init)), file: "model.json")
    return made.translation.notes(.told).filter { $0.what.contains("rows refer by") }
      .map { "\($0.subject): \($0.what)" }
  }

  @Test("Rentals of one store whose copy of the film belongs to another are counted")
  func sakila() throws {
    let database = try FixtureDatabase(FixtureDatabase.text(ofFixture: "sakila-shape.sql"))
    let found = try notes(
      database, ["customer=store_id:claim:store", "inventory=store_id:claim:store"])
    // Counted by hand: rental i has the customer 1 + i % 30 and the copy 1 + i % 90; both stores are
    // 1 + n % 2, so they agree in each of the 150 rentals.
    #expect(!found.contains { $0.contains("\"inventory\"") })
    try database.execute("UPDATE inventory SET store_id = 3 - store_id WHERE inventory_id <= 30")
    let moved = try notes(
      database, ["customer=store_id:claim:store", "inventory=store_id:claim:store"])
    // The copies 1 to 30 are rented by i = 90 … 119, and by 1 … 29.
    #expect(
      moved.contains(
        "rental: 59 of 150 rows refer by \"inventory\" to Inventory objects in another "
          + "partition: devices get the row without that object"), "\(moved)")
  }

  private static let shop = """
    CREATE TABLE Team (n INTEGER PRIMARY KEY, town TEXT NOT NULL);
    CREATE TABLE Staff (
      n INTEGER PRIMARY KEY, region TEXT, boss INTEGER REFERENCES Staff, team INTEGER REFERENCES Team);
    CREATE TABLE Hint (n INTEGER PRIMARY KEY, about INTEGER REFERENCES Staff);
    INSERT INTO Team VALUES (1, 'Oslo');
    INSERT INTO Staff VALUES (1, 'N', NULL, 1), (2, 'N', 1, 1), (3, 'S', 1, NULL), (4, NULL, 1, 1),
      (5, 'S', 3, NULL);
    INSERT INTO Hint VALUES (1, 1), (2, NULL), (3, 5);
    """

  @Test("What everyone has, other claims and references to the own entity are told apart")
  func kinds() throws {
    let found = try notes(
      FixtureDatabase(CrossingTests.shop), ["Staff=region:claim:region", "Team=town:claim:town"])
    #expect(
      found == [
        "Hint: 2 of 2 rows refer by \"staff\" to Staff objects that only their own users have, while "
          + "everyone has these rows: devices get the row without that object",
        "Staff: 1 of 3 rows refer by \"bossStaff\" to Staff objects in another partition: devices "
          + "get the row without that object",
        "Staff: 2 of 2 rows refer by \"teamTeam\" to Team objects whose partition comes from claim:town and "
          + "not from claim:region: devices get the row without that object",
      ], "\(found)")
    #expect(try notes(FixtureDatabase(CrossingTests.shop), []) == [])
  }
}
