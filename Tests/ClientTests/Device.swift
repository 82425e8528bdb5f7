import Ferry
import FerryModel
import FerryReference
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Synchronization

@testable import Ferry

/// A device of the tests: a store in a temporary folder and a session that is driven by hand.
final class Device {
  let folder: URL
  let clock = GivenClock()
  let handler = Recorder()
  private(set) var store: Store
  private(set) var session: Session
  private let observers = Observers()
  let model: Package
  private let key: DatabaseKey?
  private let vfs: String?
  private let chance: any Chance

  /// `vfs` names where the database is kept; nil is the system's files.
  init(
    _ model: Package = Shop.package, key: DatabaseKey? = nil, vfs: String? = nil,
    chance: any Chance = SystemChance()
  ) throws {
    self.chance = chance
    self.model = model
    self.key = key
    self.vfs = vfs
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ferry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    observers.register(handler)
    (store, session) = try Device.open(folder, model, key, vfs, clock, chance, observers)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var path: String { folder.appendingPathComponent("device.db").path }

  private static func open(
    _ folder: URL, _ model: Package, _ key: DatabaseKey?, _ vfs: String?, _ clock: GivenClock,
    _ chance: any Chance, _ observers: Observers
  ) throws -> (Store, Session) {
    let world = World(clock: clock, chance: chance, log: SilentLog())
    let store = try Store(
      path: folder.appendingPathComponent("device.db").path, model: model, world: world,
      durability: .application, key: key, vfs: vfs)
    let session = Session(store: store, observers: observers, settings: SessionSettings())
    try session.tellOwed()
    return (store, session)
  }

  /// The app ends and starts again.
  func restart() throws {
    (store, session) = try Device.open(folder, model, key, vfs, clock, chance, observers)
  }

  /// A token, without asking anyone.
  func loggedIn() throws -> Device {
    try store.write { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in
        try Settings.set(.accessToken, "token", connection)
        try Settings.set(.accessTokenExpires, String(Int64.max / 4), connection)
        try Settings.set(.subscribed, "yes", connection)
      }
    }
    return self
  }

  /// The request that the session would send now.
  func request() throws -> SessionRequest? {
    session.requestExchange()
    guard case .send(let request) = try session.next() else { return nil }
    return request
  }

  /// One whole exchange with the other shore.
  func exchange(_ shore: Shore) throws {
    guard let request = try request() else { return }
    try take(try shore.respond(to: request.body), on: request.lane)
  }

  func take(_ messages: [Message], on lane: SessionMachine.Lane = .exchange) throws {
    session.received(status: 200, on: lane)
    for message in messages { try session.received(message.frame.encoded(), on: lane) }
    try session.ended(lane, nil)
  }

  func orders() throws -> [Order] {
    try Records(store).all(Order.entity, "ORDER BY id", []).map(Order.init(record:))
  }

  func order(_ id: Int64) throws -> Order? {
    try Records(store).of(Order.entity, key: ObjectKey([.integer(id)])).map(Order.init(record:))
  }

  func newOrder(_ city: String?, customer: String = "ALFKI") -> Order {
    var record = ObjectRecord(Order.entity, store: store)
    record.set(1, customer)
    record.set(2, city)
    return Order(record: record)
  }

  func newLine(of order: Int64, _ number: Int64, _ text: String?) -> Line {
    var record = ObjectRecord(Line.entity, store: store)
    record.set(0, order)
    record.set(1, number)
    record.set(2, text)
    return Line(record: record)
  }

  /// What the app sees, as text: one line per object.
  func dump() throws -> String {
    try orders().map { order in
      "\(order.id) \(order.customer) \(order.city ?? "-") \(order.pendingChange.rawValue)"
        + (order.replayFailed ? "!" : "")
    }.joined(separator: "\n")
  }

  func operations() throws -> [PendingOperation] {
    try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in
        try OperationTable(self.store, connection).select("ORDER BY sequence", [])
      }
    }
  }

  func originals(_ entity: Entity) throws -> Int64 {
    try store.read { connection throws(FerryError) in
      try self.store.sql { () throws(SQLiteError) in
        try connection.value("SELECT count(*) FROM \(Schema.original(entity))")?.integer ?? -1
      }
    }
  }
}

/// Time that stands still until it is moved.
final class GivenClock: WorldClock {
  private let time = Mutex<Int64>(1_700_000_000_000)

  var now: Timestamp { Timestamp(milliseconds: time.withLock { $0 }) }
  var uptime: Duration { .milliseconds(time.withLock { $0 }) }
  func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// Writes down every callback.
final class Recorder: CallbackHandler {
  private let lines = Mutex<[String]>([])
  private let downloads = Mutex<[ImportProgress]>([])
  private let groups = Mutex<[String]>([])
  private let errors = Mutex<[FerryError]>([])
  /// Groups that were downloaded afresh, and messages that could not be worked on.
  var resets: [String] { groups.withLock { $0 } }
  var exceptions: [FerryError] { errors.withLock { $0 } }
  private let sizes = Mutex<[Int]>([])
  /// Sizes of the messages that began, in bytes.
  var messages: [Int] { sizes.withLock { $0 } }
  func onMessageStart(sizeBytes: Int) { sizes.withLock { $0.append(sizeBytes) } }
  func onResetSuccess(group: String) { groups.withLock { $0.append(group) } }
  func onMessageException(_ error: FerryError) { errors.withLock { $0.append(error) } }
  /// Done while a page is told of: what takes long.
  let whenTold = Mutex<(@Sendable () -> Void)?>(nil)

  var progress: [ImportProgress] { downloads.withLock { $0 } }
  var heard: [String] { lines.withLock { $0 } }
  func forget() { lines.withLock { $0 = [] } }
  private func hear(_ line: String) { lines.withLock { $0.append(line) } }

  func onConnect() { hear("connect") }
  func onDisconnect(_ error: FerryError) { hear("disconnect") }
  func onLoginSuccess() { hear("loginSuccess") }
  func onLoginFailure(_ error: FerryError) { hear("loginFailure \(error.code.rawValue)") }
  func onSessionEnd(at moment: Date) { hear("sessionEnd") }
  func onLeaseEnd(at moment: Date, isOver: Bool) { hear("leaseEnd \(isOver)") }
  func onSubscribeSuccess() { hear("subscribeSuccess") }
  func onSubscribeFailure(_ error: FerryError) { hear("subscribeFailure") }
  func onUnsubscribeSuccess() { hear("unsubscribeSuccess") }
  func onUnsubscribeFailure(_ error: FerryError) {
    hear("unsubscribeFailure \(error.code.rawValue)")
  }
  func onSuspendSubscriptionSuccess() { hear("suspendSuccess") }
  func onSuspendSubscriptionFailure(_ error: FerryError) { hear("suspendFailure") }
  func onResumeSubscriptionSuccess() { hear("resumeSuccess") }
  func onResumeSubscriptionFailure(_ error: FerryError) { hear("resumeFailure") }
  func onRecoverSuccess() { hear("recoverSuccess") }
  func onRecoverFailure(_ error: FerryError) { hear("recoverFailure") }
  func onSubscriptionEnd() { hear("subscriptionEnd") }
  func onStorageSpaceLow() { hear("spaceLow") }
  func onStorageSpaceRecovered() { hear("spaceRecovered") }
  func onImportProgress(_ progress: ImportProgress) {
    downloads.withLock { $0.append(progress) }
    whenTold.withLock { $0 }?()
  }
  func onImport(_ changes: EntityChanges) {
    hear("import \(changes.entity) +\(changes.inserted) ~\(changes.updated) -\(changes.deleted)")
  }
  func onImportSuccess(group: String) { hear("importSuccess \(group)") }
  func onReplaySuccess(_ object: ReplayedObject) {
    hear(
      "replaySuccess \(object.entity) \(object.key) pending \(object.record?.pending.rawValue ?? "-")"
    )
  }
  func onReplayFailure(_ object: ReplayedObject) {
    hear("replayFailure \(object.entity) \(object.key) failed \(object.record?.failed ?? false)")
  }
  func onReplayUnknown(_ object: ReplayedObject) {
    hear("replayUnknown \(object.entity) \(object.key)")
  }
}

/// A small package, written by hand in the form that the generator writes.
enum Shop {
  static let package = Package(
    name: "Shop", version: "1.0", entities: [Order.entity, Line.entity],
    groups: [SynchronizationGroup(name: "default")])
}

struct Order: BusinessObject {
  static let entity = Entity(
    name: "Order", table: "orders",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(
        name: "customer", column: "customer", type: .string, isNullable: false, maxLength: 5),
      Attribute(name: "city", column: "city", type: .string, isNullable: true),
      Attribute(name: "freight", column: "freight", type: .decimal, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord

  var id: Int64 { record.get(0) }
  var customer: String {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
  var city: String? {
    get { record.get(2) }
    set { record.set(2, newValue) }
  }
  var freight: Decimal? {
    get { record.get(3) }
    set { record.set(3, newValue) }
  }
  func lines() throws(FerryError) -> [Line] { try record.referring(by: "order") }
}

struct Line: BusinessObject {
  static let entity = Entity(
    name: "Line", table: "lines",
    attributes: [
      Attribute(name: "orderID", column: "order_id", type: .long, isNullable: false),
      Attribute(name: "number", column: "number", type: .long, isNullable: false),
      Attribute(name: "text", column: "text", type: .string, isNullable: true),
    ], key: [0, 1], keyOrigin: .app,
    relationships: [
      Relationship(
        name: "order", target: "Order", attributes: ["orderID"], targetAttributes: ["id"])
    ], operations: [.create, .update, .delete], partition: nil, group: "default")
  var record: ObjectRecord

  var orderID: Int64 { record.get(0) }
  var number: Int64 { record.get(1) }
  var text: String? {
    get { record.get(2) }
    set { record.set(2, newValue) }
  }
  func order() throws(FerryError) -> Order? { try record.related("order") }
}
