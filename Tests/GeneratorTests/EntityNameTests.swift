import FerryFlights
import FerryGenerator
import FerryModel
import Foundation
import Testing

struct EntityNameTests {
  private func translate(_ sql: String, _ entities: String...) throws -> Package {
    let database = try FixtureDatabase(sql)
    return try Translator.translate(
      try SchemaReader.read(path: database.path),
      options: TranslationOptions(name: "shop", entities: try entities.map(EntityRequest.init))
    ).package
  }

  private static let orders = """
    CREATE TABLE "Order" (x TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE Orders (OrderID INTEGER PRIMARY KEY);
    CREATE TABLE "Order Lines" (n INTEGER PRIMARY KEY, OrderID INTEGER REFERENCES Orders);
    """

  @Test("An entity has the name that was asked for, its many go by the table's name")
  func named() throws {
    let package = try translate(Self.orders, "Order=orders", "Line=Order Lines")
    #expect(package.entities.map(\.name).sorted() == ["Line", "Order", "Order2"])
    #expect(package.entity(named: "Order")?.table == "Orders")
    #expect(package.entity(named: "Line")?.relationships.map(\.inverse) == ["orderLines"])
  }

  @Test("A name that no type can have, for no table, or twice, is refused with its cure")
  func refused() {
    func problem(_ entities: String...) -> String {
      do {
        let database = try FixtureDatabase(Self.orders)
        _ = try Translator.translate(
          try SchemaReader.read(path: database.path),
          options: TranslationOptions(name: "shop", entities: try entities.map(EntityRequest.init)))
        return ""
      } catch { return "\(error)" }
    }
    #expect(problem("Orders").contains("Write Name=Table"))
    #expect(problem("String=Orders").contains("Give the entity another name"))
    #expect(problem("Order=Ordres").contains("Did you mean \"Orders\"?"))
    #expect(problem("A=Orders", "B=orders").contains("Give each table one name"))
    #expect(problem("A=Orders", "a=Order").contains("Give each table one name"))
  }

  @Test("The model of the travel sample is what ferry new makes of the sample database")
  func travel() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let database = folder.appending(path: "flights.db").path
    try FlightsSample.write(to: database, seed: 1, bookings: 200)
    let made = try ModelMaker.make(
      from: try SchemaReader.read(path: database),
      options: TranslationOptions(
        name: "Travel",
        partitions: [try PartitionRequest("Bookings=AgencyID:claim:agency")],
        entities: try ["Agency=Agencies", "Carrier=Carriers", "Flight=Flights", "Booking=Bookings"]
          .map(EntityRequest.init)), file: "model.json")
    let model = FixtureDatabase.root.appending(path: "Samples/Travel/model.json")
    #expect(try made.text == String(contentsOf: model, encoding: .utf8))
  }
}
