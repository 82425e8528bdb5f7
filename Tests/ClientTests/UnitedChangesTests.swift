import FerryModel
import FerryWire
import Testing

@testable import Ferry

/// An object that was on the device twice has the changes of both rows (Decision 0108).
@Suite("Changes of two rows that turn out to be one object")
struct UnitedChangesTests {
  private let shop: Stocked

  init() throws { shop = try Stocked() }

  /// Order 3 is deleted by others while a change of it is open. The business system gives its key to
  /// a new order of this device, of which another change is submitted and waits.
  ///
  /// Gives the submission of that change.
  private func reuseKey(
    open: (inout Order) -> Void, submitted: (inout Order) -> Void
  ) throws -> Submission<Order> {
    var old = try #require(try shop.device.order(3))
    open(&old)
    try old.update()
    shop.shore.remove(Order.entity, ObjectKey([.integer(3)]))
    try shop.device.exchange(shop.shore)
    var new = shop.device.newOrder("Jena")
    try new.create()
    try new.submitPending()
    try shop.device.exchange(shop.shore)
    let create = try #require(try shop.device.operations().first { $0.kind == .create })
    submitted(&new)
    try new.update()
    let submission = try new.submitPending()
    shop.shore.accept(create.id, newKey: ObjectKey([.integer(3)]))
    try shop.device.exchange(shop.shore)
    return submission
  }

  private func sent() throws -> Operation {
    try shop.device.exchange(shop.shore)
    return try Operation(#require(shop.shore.received.last), in: shop.shore.model)
  }

  @Test("What was submitted of one row does not wait for what is open of the other")
  func submittedFirst() throws {
    _ = try reuseKey(open: { $0.freight = 7 }, submitted: { $0.city = "Kiel" })
    let change = try sent()
    #expect(change.key == ObjectKey([.integer(3)]))
    #expect(change.changed == [2: .text("Kiel")] && change.base == [2: .text("Jena")])
    let states = try shop.device.operations().map(\.state)
    #expect(states == [.submitted, .waiting])
    shop.shore.accept(change.id)
    try shop.device.exchange(shop.shore)
    let order = try #require(try shop.device.order(3))
    #expect(order.city == "Kiel" && order.freight == 7, "and what is open is still the app's")
    #expect(try shop.device.operations().map(\.isOpen) == [true])
  }

  @Test("What was changed later on the other row, and submitted, replaces what is open")
  func laterWins() throws {
    _ = try reuseKey(
      open: { ($0.city, $0.freight) = ("Hof", 7) }, submitted: { $0.city = "Kiel" })
    #expect(try shop.device.order(3)?.city == "Kiel")
    let open = try #require(try shop.device.operations().last)
    #expect(open.isOpen && Set(open.changed.keys) == [3])
    #expect(try sent().changed == [2: .text("Kiel")])
  }

  @Test(
    "An open change of which nothing is left is no more, and the order is free for the next one")
  func nothingLeft() throws {
    _ = try reuseKey(open: { $0.city = "Hof" }, submitted: { $0.city = "Kiel" })
    let change = try sent()
    #expect(try shop.device.operations().map(\.id) == [change.id])
    shop.shore.accept(change.id)
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().isEmpty)
    #expect(try shop.device.order(3)?.isPending == false)
  }

  @Test(
    "A refusal of what was submitted joins what is open with it, and is told to who submitted it")
  func refused() async throws {
    let submission = try reuseKey(open: { $0.freight = 7 }, submitted: { $0.city = "Kiel" })
    let change = try sent()
    shop.shore.refuse(change.id)
    try shop.device.exchange(shop.shore)
    let left = try #require(try shop.device.operations().first)
    #expect(try shop.device.operations().count == 1 && left.state == .replayFailed)
    #expect(left.changed.count == 2 && left.base[2] == .text("Jena"))
    guard case .refused(_, let records) = try await submission.outcome() else {
      Issue.record("the submission was not refused")
      return
    }
    #expect(records.map(\.message) == ["no"])
  }

  @Test(
    "A change of the other row is refused when the new object gets that key: it is not on its way")
  func refusedOfTheOther() throws {
    var old = try #require(try shop.device.order(3))
    old.freight = 7
    try old.update()
    try old.submitPending()
    try shop.device.exchange(shop.shore)
    let update = try #require(try shop.device.operations().first)
    shop.shore.remove(Order.entity, ObjectKey([.integer(3)]))
    try shop.device.exchange(shop.shore)
    var new = shop.device.newOrder("Jena")
    try new.create()
    try new.submitPending()
    try shop.device.exchange(shop.shore)
    let create = try #require(try shop.device.operations().first { $0.kind == .create })
    shop.shore.refuse(update.id)
    shop.shore.accept(create.id, newKey: ObjectKey([.integer(3)]))
    try shop.device.exchange(shop.shore)
    #expect(try shop.device.operations().map(\.state) == [.replayFailed])
    #expect(try shop.device.order(3)?.replayFailed == true)
  }

  // The decision alone.

  private func operation(
    _ sequence: Int64, _ kind: OperationKind = .update, _ state: PendingOperation.State = .waiting,
    wanted: PendingOperation.Wanted = .no, _ changed: [Int: AttributeValue] = [2: .text("x")],
    counter: Int64
  ) throws -> PendingOperation {
    let id = try #require(OperationID(String(repeating: "0", count: 31) + String(sequence)))
    return PendingOperation(
      sequence: sequence, id: id, entity: "Order", object: 1, kind: kind,
      key: ObjectKey([.integer(3)]), isTemporary: false, changed: changed,
      base: changed.mapValues { _ in .null }, chain: id, state: state, wanted: wanted,
      counter: counter, root: LocalObject("Order", 1))
  }

  @Test(
    "An open change before a submitted one, and a waiting one before one on its way, are disorder")
  func disorder() throws {
    let open = try operation(1, counter: 1)
    let wanted = try operation(2, wanted: .yes, counter: 2)
    let sent = try operation(3, .update, .submitted, counter: 3)
    #expect(PendingMachine.disorder([open, wanted])?.first == open)
    #expect(PendingMachine.disorder([wanted, sent])?.second == sent)
    #expect(PendingMachine.disorder([open, try operation(4, counter: 4)]) != nil, "two are open")
    #expect(PendingMachine.disorder([sent, wanted, open]) == nil)
  }

  @Test("What waits goes behind what is on its way, and what is open behind all")
  func order() throws {
    let open = try operation(1, .update, .waiting, [3: .text("a")], counter: 1)
    let wanted = try operation(2, wanted: .yes, counter: 2)
    let sent = try operation(3, .update, .submitted, counter: 3)
    #expect(PendingMachine.united([open, wanted, sent]).moved == [wanted, open])
    #expect(PendingMachine.united([sent]).moved.isEmpty)
    #expect(
      PendingMachine.united([try operation(0, wanted: .yes, counter: 1), open]).moved.isEmpty)
  }

  @Test("An edit made later replaces an open delete; a refused change and an older one stay whole")
  func left() throws {
    let wanted = try operation(5, wanted: .yes, counter: 5)
    let delete = try operation(1, .delete, .waiting, [:], counter: 1)
    #expect(PendingMachine.united([delete, wanted]).gone == delete)
    let refused = try operation(1, .update, .replayFailed, counter: 1)
    #expect(PendingMachine.united([refused, wanted]).moved == [refused])
    let newer = try operation(1, counter: 9)
    #expect(PendingMachine.united([newer, wanted]).moved == [newer])
  }
}
