import Ferry
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import Ferry

/// The reference's table of states (facts/1.5), each state met by each call.
///
/// A line shows the object in the app's hand after the call: N new, D dirty, X deleted, C created,
/// U updated, P pending, F failed; its pending change; then replayCounter against what it was
/// before the call (= or >), and replayPending and replayFailure against replayCounter (0, < or =).
@Suite("The states of an object")
struct StateTableTests {
  @Test(
    "Each call in each state gives the flags and counters of the table", .reference("facts/1.5"),
    arguments: StateTable.states)
  func table(_ state: String) throws {
    var lines: [String] = []
    for call in StateTable.calls {
      let shop = try Stocked()
      var order = try StateTable.order(in: state, shop)
      let before = order.replayCounter
      var outcome = ""
      do throws(FerryError) { try StateTable.run(call, &order) } catch {
        outcome = " \(error.code.rawValue)"
      }
      lines.append("\(call): \(StateTable.shown(order, before))\(outcome)")
    }
    #expect(lines == StateTable.expected[state], "\(state)\n\(lines.joined(separator: "\n"))")
  }

  @Test(
    "originalState is what was before the change, downloadState what came since",
    .reference("facts/1.5"))
  func states() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    #expect(try order.originalState == nil && order.downloadState == nil)
    order.city = "Kiel"
    try order.update()
    shop.shore.put(Order.entity, [.integer(1), .text("BONAP"), .text("Ulm"), .text("1.5")])
    try shop.device.exchange(shop.shore)
    #expect(try order.originalState?.city == "Bremen")
    #expect(try order.downloadState?.city == "Ulm" && order.downloadState?.customer == "BONAP")
    shop.shore.remove(Order.entity, ObjectKey([.integer(1)]))
    try shop.device.exchange(shop.shore)
    #expect(try order.originalState?.city == "Bremen" && order.downloadState == nil)
    var created = shop.device.newOrder("Jena")
    try created.create()
    #expect(try created.originalState == nil && created.downloadState == nil)
  }

  @Test("getPendingObjects shows every pending change, deletes too, which can be cancelled")
  func pendingObjects() throws {
    let shop = try Stocked()
    var changed = try #require(try shop.device.order(1))
    changed.city = "Kiel"
    try changed.update()
    var deleted = try #require(try shop.device.order(2))
    try deleted.delete()
    var created = shop.device.newOrder("Jena")
    try created.create()
    let all = try PendingObjects(shop.device.store).all(Order.entity, nil, .all, skip: 0, take: nil)
    #expect(all.map(\.pending) == [.update, .delete, .create])
    #expect(all.map(\.deleted) == [false, true, false])
    #expect(all[1].values == deleted.record.values)
    let store = shop.device.store
    #expect(try PendingObjects(store).all(Order.entity, nil, .all, skip: 1, take: 1).count == 1)
    #expect(try PendingObjects(store).count(Order.entity, .delete, .all) == 1)
    #expect(try PendingObjects(store).count(Order.entity, nil, .replaying) == 0)
    try changed.submitPending()
    let replaying = try PendingObjects(store).all(Order.entity, nil, .replaying, skip: 0, take: nil)
    #expect(replaying.map(\.key) == [changed.record.key])
    var hidden = Order(record: all[1])
    try hidden.cancelPending()
    #expect(try shop.device.order(2) != nil && !hidden.isDeleted && !hidden.isPending)
  }

  @Test("copyAll takes over every attribute but the key")
  func copyAll() throws {
    let shop = try Stocked()
    var draft = shop.device.newOrder("Jena", customer: "BONAP")
    draft.copyAll(from: try #require(try shop.device.order(1)))
    #expect(draft.isNew && draft.city == "Bremen" && draft.customer == "ALFKI")
    #expect(draft.record.values[0].isNull)
  }
}

enum StateTable {
  static let states = [
    "new", "loaded", "dirty", "created", "updated", "deleted", "createSubmitted",
    "updateSubmitted", "deleteSubmitted", "createRefused", "updateRefused", "deleteRefused",
    "accepted", "cancelledInFlight", "editedInFlight", "submittedInFlight", "editedWhileItWaits",
    "unknown", "notTried",
  ]
  static let calls = [
    "nothing", "set", "create", "update", "save", "delete", "refresh", "submitPending",
    "cancelPending",
  ]

  static func run(_ call: String, _ order: inout Order) throws(FerryError) {
    switch call {
    case "set": order.city = "Hof"
    case "create": try order.create()
    case "update": try order.update()
    case "save": try order.save()
    case "delete": try order.delete()
    case "refresh": try order.refresh()
    case "submitPending": try order.submitPending()
    case "cancelPending": try order.cancelPending()
    default: break
    }
  }

  static func order(in state: String, _ shop: Stocked) throws -> Order {
    var order = try #require(try shop.device.order(1))
    switch state {
    case "new": return shop.device.newOrder("Jena")
    case "loaded": return order
    case "dirty":
      order.city = "Kiel"
      return order
    case "created", "createSubmitted", "createRefused":
      order = shop.device.newOrder("Jena")
      try order.create()
    case "deleted", "deleteSubmitted", "deleteRefused": try order.delete()
    default:
      order.city = "Kiel"
      try order.update()
    }
    guard !["created", "updated", "deleted"].contains(state) else { return order }
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    switch state {
    case "createSubmitted", "updateSubmitted", "deleteSubmitted": return order
    case "cancelledInFlight":
      try order.cancelPending()
      return order
    case "editedInFlight", "submittedInFlight", "editedWhileItWaits":
      shop.device.clock.advance(5)
      order.city = "Ulm"
      try order.update()
      guard state != "editedInFlight" else { return order }
      try order.submitPending()
      guard state == "editedWhileItWaits" else { return order }
      order.city = "Trier"
      try order.update()
      return order
    case "unknown": shop.shore.answer(try shop.device.operations()[0].id, .unknown)
    case "notTried": shop.shore.answer(try shop.device.operations()[0].id, .notTried)
    case "accepted": shop.shore.accept(try shop.device.operations()[0].id)
    default: shop.shore.refuse(try shop.device.operations()[0].id)
    }
    try shop.device.exchange(shop.shore)
    try order.refresh()
    return order
  }

  static func shown(_ order: Order, _ before: Int64) -> String {
    let flags: [(String, Bool)] = [
      ("N", order.isNew), ("D", order.isDirty), ("X", order.isDeleted), ("C", order.isCreated),
      ("U", order.isUpdated), ("P", order.isPending), ("F", order.replayFailed),
    ]
    let letters = flags.filter(\.1).map(\.0).joined()
    let counter = order.replayCounter
    let grown = counter == before ? "=" : counter > before ? ">" : "0"
    func against(_ number: Int64) -> String { number == 0 ? "0" : number == counter ? "=" : "<" }
    return "\(letters.isEmpty ? "-" : letters) \(order.pendingChange.rawValue) "
      + "\(grown)/\(against(order.replayPending))/\(against(order.replayFailure))"
  }

  static let expected: [String: [String]] = [
    "new": [
      "nothing: N N =/0/0", "set: N N =/0/0", "create: CP C >/0/0",
      "update: N N =/0/0 objectNotFound", "save: CP C >/0/0", "delete: N N =/0/0 objectNotFound",
      "refresh: N N =/0/0 objectNotFound", "submitPending: N N =/0/0 objectNotSaved",
      "cancelPending: N N =/0/0",
    ],
    "loaded": [
      "nothing: - N =/0/0", "set: D N =/0/0", "create: - N =/0/0 wrongState",
      "update: - N =/0/0", "save: - N =/0/0", "delete: XP D >/0/0", "refresh: - N =/0/0",
      "submitPending: - N =/0/0", "cancelPending: - N =/0/0",
    ],
    "dirty": [
      "nothing: D N =/0/0", "set: D N =/0/0", "create: D N =/0/0 wrongState",
      "update: UP U >/0/0", "save: UP U >/0/0", "delete: XP D >/0/0", "refresh: - N =/0/0",
      "submitPending: D N =/0/0", "cancelPending: - N =/0/0",
    ],
    "created": [
      "nothing: CP C =/0/0", "set: DCP C =/0/0", "create: CP C =/0/0 wrongState",
      "update: CP C =/0/0", "save: CP C =/0/0", "delete: X N 0/0/0", "refresh: CP C =/0/0",
      "submitPending: CP C >/=/0", "cancelPending: X N 0/0/0",
    ],
    "updated": [
      "nothing: UP U =/0/0", "set: DUP U =/0/0", "create: UP U =/0/0 wrongState",
      "update: UP U =/0/0", "save: UP U =/0/0", "delete: XP D >/0/0", "refresh: UP U =/0/0",
      "submitPending: UP U >/=/0", "cancelPending: - N 0/0/0",
    ],
    "deleted": [
      "nothing: XP D =/0/0", "set: DXP D =/0/0", "create: XP D =/0/0 wrongState",
      "update: XP D =/0/0 objectNotFound", "save: XP D =/0/0 objectNotFound",
      "delete: XP D =/0/0 objectNotFound", "refresh: XP D =/0/0 objectNotFound",
      "submitPending: XP D >/=/0", "cancelPending: - N 0/0/0",
    ],
    "createSubmitted": [
      "nothing: CP C =/=/0", "set: DCP C =/=/0", "create: CP C =/=/0 wrongState",
      "update: CP C =/=/0", "save: CP C =/=/0", "delete: XP D >/</0", "refresh: CP C =/=/0",
      "submitPending: CP C =/=/0", "cancelPending: X N 0/0/0",
    ],
    "updateSubmitted": [
      "nothing: UP U =/=/0", "set: DUP U =/=/0", "create: UP U =/=/0 wrongState",
      "update: UP U =/=/0", "save: UP U =/=/0", "delete: XP D >/</0", "refresh: UP U =/=/0",
      "submitPending: UP U =/=/0", "cancelPending: - N 0/0/0",
    ],
    "deleteSubmitted": [
      "nothing: XP D =/=/0", "set: DXP D =/=/0", "create: XP D =/=/0 wrongState",
      "update: XP D =/=/0 objectNotFound", "save: XP D =/=/0 objectNotFound",
      "delete: XP D =/=/0 objectNotFound", "refresh: XP D =/=/0 objectNotFound",
      "submitPending: XP D =/=/0", "cancelPending: - N 0/0/0",
    ],
    "createRefused": [
      "nothing: CPF C =/0/=", "set: DCPF C =/0/=", "create: CPF C =/0/= wrongState",
      "update: CPF C =/0/=", "save: CPF C =/0/=", "delete: X N 0/0/0", "refresh: CPF C =/0/=",
      "submitPending: CP C >/=/0", "cancelPending: X N 0/0/0",
    ],
    "updateRefused": [
      "nothing: UPF U =/0/=", "set: DUPF U =/0/=", "create: UPF U =/0/= wrongState",
      "update: UPF U >/0/<", "save: UPF U >/0/<", "delete: XPF D >/0/<", "refresh: UPF U =/0/=",
      "submitPending: UP U >/=/0", "cancelPending: - N 0/0/0",
    ],
    "deleteRefused": [
      "nothing: PF D =/0/=", "set: DPF D =/0/=", "create: PF D =/0/= wrongState",
      "update: PF D =/0/=", "save: PF D =/0/=", "delete: XPF D >/0/<", "refresh: PF D =/0/=",
      "submitPending: XP D >/=/0", "cancelPending: - N 0/0/0",
    ],
    "accepted": [
      "nothing: - N =/0/0", "set: D N =/0/0", "create: - N =/0/0 wrongState",
      "update: - N =/0/0", "save: - N =/0/0", "delete: XP D >/0/0", "refresh: - N =/0/0",
      "submitPending: - N =/0/0", "cancelPending: - N =/0/0",
    ],
    "cancelledInFlight": [
      "nothing: - N =/0/0", "set: D N =/0/0", "create: - N =/0/0 wrongState",
      "update: - N =/0/0", "save: - N =/0/0", "delete: XP D >/0/0", "refresh: - N =/0/0",
      "submitPending: - N =/0/0", "cancelPending: - N =/0/0",
    ],
    "editedInFlight": [
      "nothing: UP U =/</0", "set: DUP U =/</0", "create: UP U =/</0 wrongState",
      "update: UP U =/</0", "save: UP U =/</0", "delete: XP D >/</0", "refresh: UP U =/</0",
      "submitPending: UP U >/=/0", "cancelPending: - N 0/0/0",
    ],
    // Submitted while an answer was awaited: fixed, as what was sent is.
    "submittedInFlight": [
      "nothing: UP U =/=/0", "set: DUP U =/=/0", "create: UP U =/=/0 wrongState",
      "update: UP U =/=/0", "save: UP U =/=/0", "delete: XP D >/</0", "refresh: UP U =/=/0",
      "submitPending: UP U =/=/0", "cancelPending: - N 0/0/0",
    ],
    "editedWhileItWaits": [
      "nothing: UP U =/</0", "set: DUP U =/</0", "create: UP U =/</0 wrongState",
      "update: UP U =/</0", "save: UP U =/</0", "delete: XP D >/</0", "refresh: UP U =/</0",
      "submitPending: UP U >/=/0", "cancelPending: - N 0/0/0",
    ],
    "unknown": [
      "nothing: UP U =/=/0", "set: DUP U =/=/0", "create: UP U =/=/0 wrongState",
      "update: UP U =/=/0", "save: UP U =/=/0", "delete: XP D >/</0", "refresh: UP U =/=/0",
      "submitPending: UP U =/=/0", "cancelPending: - N 0/0/0",
    ],
    "notTried": [
      "nothing: UP U =/0/0", "set: DUP U =/0/0", "create: UP U =/0/0 wrongState",
      "update: UP U =/0/0", "save: UP U =/0/0", "delete: XP D >/0/0", "refresh: UP U =/0/0",
      "submitPending: UP U >/=/0", "cancelPending: - N 0/0/0",
    ],
  ]
}
