import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Users take turns in replay", .timeLimit(.minutes(60)))
struct TurnTests {
  private var queue = ReplayQueue()
  private var sequence: Int64 = 0
  private let now = Timestamp(milliseconds: 0)

  private mutating func add(
    _ user: String, _ object: Int64? = nil, device: String = "phone", chain: OperationID? = nil,
    position: Int = 0, count: Int = 1
  ) -> OperationID {
    sequence += 1
    let id = OperationID(String(repeating: "0", count: 24) + String(10_000_000 + sequence))!
    let operation = FerryWire.Operation(
      id: id, chain: chain ?? id, position: position, count: count, entity: "Order", kind: .create,
      key: object.map { ObjectKey([.integer($0)]) }, changed: [:], base: [:])
    queue.add(
      ReceivedOperation(
        sequence: sequence, device: device, user: user, roles: [], claims: [:],
        operation: operation, mayHaveRun: false, bytes: 100), now: now)
    return id
  }

  private mutating func next(_ limit: Int) -> [OperationID] {
    queue.next(limit: limit, now: now, isLoaded: true).map(\.name.chain)
  }

  private mutating func end(_ user: String, _ id: OperationID, device: String = "phone") {
    queue.remove(ReplayQueue.Name(owner: Owner(device: device, user: user), chain: id))
  }

  @Test("One change of one user goes beside the first of another's thousand")
  mutating func turns() {
    let greedy = (0..<1_000).map { _ in add("greedy") }
    let one = add("bob")
    #expect(next(2) == [greedy[0], one])
    #expect(next(2) == [greedy[1], greedy[2]])
  }

  @Test("Who was served last is the last to be served again")
  mutating func rounds() {
    let a = (0..<4).map { _ in add("a") }
    let b = (0..<4).map { _ in add("b") }
    let c = (0..<4).map { _ in add("c") }
    #expect(next(2) == [a[0], b[0]])
    #expect(next(2) == [c[0], a[1]])
    #expect(next(5) == [b[1], c[1], a[2], b[2], c[2]])
  }

  @Test("The devices of a user have one turn together, in the order of arrival")
  mutating func devices() {
    let phone = add("a", device: "phone")
    let tablet = add("a", device: "tablet")
    let other = add("b")
    #expect(next(1) == [phone])
    #expect(next(1) == [other])
    #expect(next(1) == [tablet])
  }

  @Test("Turns do not bring one object's later change before its earlier one")
  mutating func objects() {
    let first = add("a", 1)
    _ = add("a", 2)
    let later = add("b", 1)
    let free = add("b", 3)
    #expect(next(1) == [first])
    #expect(next(1) == [free])
    end("b", free)
    _ = next(9)
    #expect(next(9).isEmpty)
    end("a", first)
    #expect(next(9) == [later])
  }

  @Test("A group that came first goes first on its objects, also by its late members")
  mutating func lateMember() {
    let chain = OperationID(String(repeating: "a", count: 32))!
    _ = add("a", 7, chain: chain, position: 0, count: 2)
    let other = add("b", 8)
    // Until it is whole it holds nobody up; then it stands where it began.
    _ = add("a", 8, chain: chain, position: 1, count: 2)
    #expect(next(9) == [chain])
    end("a", chain)
    #expect(next(9) == [other])
  }

  @Test("What is open is counted by device and user, a group as a whole, and is gone with its end")
  mutating func loads() {
    let chain = OperationID(String(repeating: "a", count: 32))!
    _ = add("a", chain: chain, position: 0, count: 5)
    let other = add("a", device: "tablet")
    let phone = Owner(device: "phone", user: "a")
    #expect(queue.load(of: phone) == ReplayQueue.Load(operations: 5, bytes: 100))
    #expect(queue.load(of: phone.user) == ReplayQueue.Load(operations: 6, bytes: 200))
    end("a", chain)
    end("a", other, device: "tablet")
    #expect(queue.load(of: phone.user) == ReplayQueue.Load())
  }
}
