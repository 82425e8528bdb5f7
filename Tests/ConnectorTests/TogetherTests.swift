import FerryConnector
import FerryModel
import FerrySQLConnector
import FerrySQLite
import FerryTestTraits
import Testing

@Suite("Groups that a SQLite database commits together", .reference("sync/P25"))
struct TogetherTests {
  private let orders = entity(
    "Orders", [attribute("id", .long, required: true), attribute("customer", .long)])

  private func business(_ journal: String = "WAL") throws -> Business {
    try Business(
      """
      PRAGMA journal_mode = \(journal);
      CREATE TABLE Customers (id INTEGER PRIMARY KEY);
      CREATE TABLE Orders (
        id INTEGER PRIMARY KEY,
        customer INTEGER REFERENCES Customers DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO Customers VALUES (1);
      """, orders)
  }

  private func creates(
    _ business: Business, _ customers: [Int64], from first: Int64 = 1
  ) -> [[ConnectorOperation]] {
    customers.enumerated().map { index, customer in
      [
        business.operation(
          .create, orders, [.integer(first + Int64(index))], ["customer": .integer(customer)])
      ]
    }
  }

  private func count(_ business: Business, _ table: String = "Orders") throws -> SQLiteValue? {
    try business.other.value("SELECT count(*) FROM \(table)")
  }

  /// What was done of each, in short.
  private func shown(_ results: [PerformResult]) -> [String] {
    results.map { result in
      switch result {
      case .done(let outcomes, _):
        return outcomes.map { outcome in
          switch outcome {
          case .accepted(let key, _): "accepted \(key.text)"
          case .refused(let refusal): "refused \(refusal.code)"
          case .notTried: "not tried"
          case .unknown: "unknown"
          }
        }.joined(separator: ", ")
      case .notDone: return "not done"
      case .unknown: return "unknown"
      case .waits: return "waits"
      }
    }
  }

  @Test("Nothing of them is seen before all of it, and they end when enough is done")
  func together() throws {
    let business = try business()
    let groups = creates(business, [1, 1, 1, 1])
    var asked = 0
    var seen: [SQLiteValue?] = []
    let results = business.connector.perform(groups) {
      asked += 1
      seen.append(try? count(business))
      return asked < 3
    }
    #expect(shown(results) == ["accepted 1", "accepted 2", "accepted 3"])
    #expect(seen == [.integer(0), .integer(0), .integer(0)])
    #expect(try count(business) == .integer(3))
    // Those that were done before are answered as they were.
    let again = business.connector.perform(groups) { true }
    #expect(shown(again) == ["accepted 1", "accepted 2", "accepted 3", "accepted 4"])
    #expect(try count(business) == .integer(4))
    #expect(try count(business, "ferry_applied") == .integer(4))
  }

  @Test(
    "A foreign key that is judged at the end refuses its own group and no other",
    .reference("sync/Q11"))
  func deferredKey() throws {
    let business = try business()
    let results = business.connector.perform(creates(business, [1, 99, 1])) { true }
    #expect(shown(results) == ["accepted 1", "refused 412", "accepted 3"])
    guard case .done(let outcomes, _) = results[1], case .refused(let refusal)? = outcomes.first
    else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.message == "customer 99 does not exist in Customers.")
    #expect(try business.other.rows("SELECT id FROM Orders") == [[.integer(1)], [.integer(3)]])
  }

  @Test("Where a rule ends the transaction of all, those before it are performed for themselves")
  func ended() throws {
    let business = try business()
    try business.other.execute(
      """
      CREATE TRIGGER strict BEFORE INSERT ON Orders WHEN NEW.id = 3
      BEGIN SELECT RAISE(ROLLBACK, 'No third order'); END
      """)
    let groups = creates(business, [1, 1, 1, 1])
    let results = business.connector.perform(groups) { true }
    #expect(shown(results) == ["accepted 1", "accepted 2", "refused 412"])
    #expect(try count(business) == .integer(2))
    let rest = business.connector.perform(Array(groups.dropFirst(3))) { true }
    #expect(shown(rest) == ["accepted 4"])
  }

  @Test("A commit that the database does not take leaves nothing of any, refusals neither")
  func notCommitted() throws {
    let business = try business("DELETE")
    let groups = creates(business, [1, 99, 1])
    try business.other.execute("BEGIN; SELECT count(*) FROM Orders")
    // A reader that has not ended: the commit has to wait for it longer than it may.
    let reader = try business.other.statement("SELECT id FROM Customers")
    _ = try reader.step()
    let results = business.connector.perform(groups) { true }
    #expect(shown(results) == ["not done", "not done", "not done"])
    reader.reset()
    try business.other.execute("COMMIT")
    #expect(try count(business) == .integer(0))
    let again = business.connector.perform(groups) { true }
    #expect(shown(again) == ["accepted 1", "refused 412", "accepted 3"])
  }
}
