import Dispatch
import FerryConnector
import FerryModel
import FerryWorld
import Synchronization
import Testing

/// Chains at a business system that is reached by requests.
@Suite(.timeLimit(.minutes(60)))
struct SideBySideTests {
  private static let order = Entity(
    name: "Order", table: "Orders",
    attributes: [Attribute(name: "id", column: "ID", type: .long, isNullable: false)], key: [0],
    keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases), partition: nil,
    group: "all")
  private static let line = Entity(
    name: "Line", table: "Lines",
    attributes: [
      Attribute(name: "id", column: "ID", type: .long, isNullable: false),
      Attribute(name: "order", column: "OrderID", type: .long, isNullable: true),
    ], key: [0], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "order", target: "Order", attributes: ["order"], targetAttributes: ["id"])
    ], operations: Set(OperationKind.allCases), partition: nil, group: "all")

  private static func chain(
    _ number: Int, _ entity: Entity, _ key: Int64, _ changed: [Int: AttributeValue] = [:]
  ) -> [ConnectorOperation] {
    let digits = String(number)
    let id = OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!
    return [
      ConnectorOperation(
        id: id, entity: entity, kind: .create, key: ObjectKey([.integer(key)]), changed: changed,
        base: [:])
    ]
  }

  @Test func aChainWaitsForWhatItRefersTo() {
    let chains = [
      Self.chain(0, Self.order, 1), Self.chain(1, Self.line, 1, [1: .integer(1)]),
      Self.chain(2, Self.order, 2), Self.chain(3, Self.line, 2, [1: .integer(1)]),
      Self.chain(4, Self.order, 2), Self.chain(5, Self.line, 3, [1: .null]),
    ]
    #expect(ChainOrder(chains).after == [[], [0], [], [1], [2], []])
  }

  private final class Course: Sendable {
    let events = Mutex<[String]>([])
    let thirdBegan = DispatchSemaphore(value: 0)
    func note(_ event: String) { events.withLock { $0.append(event) } }
  }

  /// The last chain has begun, and the second one waits for the first: it is performed all the same.
  @Test func aStopEndsWhatLiesBeforeTheLastChainThatBegan() async {
    let course = Course()
    let chains = [
      Self.chain(0, Self.order, 1), Self.chain(1, Self.order, 1), Self.chain(2, Self.order, 2),
      Self.chain(3, Self.order, 2), Self.chain(4, Self.order, 3),
    ]
    let results = await withCheckedContinuation { continuation in
      ThreadExecutor(name: "connector").perform {
        var asked = 0
        let results = SideBySide(2).perform(
          chains,
          while: {
            asked += 1
            return asked < 2
          }
        ) { chain in
          let number = Int(chain[0].id.text.suffix(1)) ?? 0
          course.note("begin \(number)")
          if number == 2 { course.thirdBegan.signal() }
          // Not before the other one of the two is under way.
          if number == 0 { course.thirdBegan.wait() }
          course.note("end \(number)")
          return .done([.notTried], touched: [])
        }
        continuation.resume(returning: results)
      }
    }
    #expect(results.count == 3)
    let events = course.events.withLock { $0 }
    #expect(Set(events.filter { $0.hasPrefix("begin") }) == ["begin 0", "begin 1", "begin 2"])
    let (end, begin) = (events.firstIndex(of: "end 0") ?? 9, events.firstIndex(of: "begin 1") ?? 0)
    #expect(end < begin)
  }
}
