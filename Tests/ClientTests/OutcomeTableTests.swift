import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

@Suite("Outcomes are kept")
struct OutcomeTableTests {
  private let connection: Connection
  private var table: OutcomeTable { OutcomeTable(connection) }

  init() throws {
    connection = try Connection(path: ":memory:")
    for statement in OutcomeTable.statements { try connection.execute(statement) }
  }

  private func id(_ number: Int) throws -> OperationID {
    try #require(OperationID(String((String(repeating: "0", count: 32) + "\(number)").suffix(32))))
  }

  /// Notes one end; returns the operations that ended with it.
  @discardableResult
  private func end(
    _ number: Int, _ outcome: AnsweredOperation.Outcome, at now: Int64 = 0,
    of object: Int64? = nil, in root: Int64? = nil
  ) throws -> [OperationID] {
    let place = object.map { object in
      AnsweredOperation.Place(
        object: LocalObject("Item", object), root: LocalObject("Order", root ?? object))
    }
    let ended = AnsweredOperation(id: try id(number), outcome: outcome, place: place)
    return try table.note([ended], now: now).map(\.id)
  }

  @Test("An outcome is known for 30 days, and not much longer")
  func days() throws {
    try end(1, .accepted)
    try end(2, .accepted, at: OutcomeTable.age)
    #expect(try table.outcome(of: id(1)) == .accepted)
    try end(3, .accepted, at: OutcomeTable.age + 1)
    #expect(try table.outcome(of: id(1)) == nil)
    #expect(try table.outcome(of: id(2)) == .accepted)
  }

  @Test("Accepted is the last word; cancelled changes only into accepted")
  func order() throws {
    try end(1, .cancelled)
    try end(1, .notTried)
    #expect(try table.outcome(of: id(1)) == .cancelled)
    try end(1, .accepted)
    try end(1, .unknown)
    #expect(try table.outcome(of: id(1)) == .accepted)
    try end(2, .unknown)
    try end(2, .notTried)
    #expect(try table.outcome(of: id(2)) == .notTried)
  }

  @Test("What was joined with an operation ends as it does, also over several steps")
  func joined() throws {
    #expect(try end(1, .joined(id(2))) == [])
    #expect(try table.outcome(of: id(1)) == nil && table.whole(of: id(1)) == id(2))
    try end(2, .joined(id(3)))
    #expect(try table.whole(of: id(1)) == id(3))
    #expect(try Set(end(3, .notTried)) == [id(1), id(2), id(3)])
    #expect(try table.outcome(of: id(1)) == .notTried && table.whole(of: id(1)) == id(3))
    #expect(try Set(end(3, .accepted)) == [id(1), id(2), id(3)])
    #expect(try table.outcome(of: id(1)) == .accepted && table.whole(of: id(1)) == id(1))
    #expect(try end(3, .accepted) == [id(3)])
  }

  @Test("The last outcome of an object is found by it, and by what owns it")
  func objects() throws {
    try end(1, .accepted, of: 7, in: 4)
    try end(2, .cancelled, of: 8, in: 4)
    try end(3, .joined(id(1)), of: 8, in: 4)
    #expect(try table.last(of: LocalObject("Item", 7)) == .accepted)
    #expect(try table.last(of: LocalObject("Item", 8)) == .cancelled)
    #expect(try table.last(of: LocalObject("Order", 4)) == .cancelled)
    #expect(try table.last(of: LocalObject("Order", 7)) == nil)
  }
}
