import Ferry
import FerryModel
import FerryReference
import FerryTestKit
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// A package of two synchronization groups: customers, and their orders.
enum Trade {
  static let package = Package(
    name: "Trade", version: "1.0", entities: [Customer.entity, Order.entity, Note.entity],
    groups: [SynchronizationGroup(name: "master"), SynchronizationGroup(name: "orders")])

  private static func attribute(
    _ name: String, _ type: AttributeType = .string, _ isNullable: Bool = false
  ) -> Attribute {
    Attribute(name: name, column: name, type: type, isNullable: isNullable)
  }

  struct Customer: BusinessObject {
    static let entity = Entity(
      name: "Customer", table: "customers",
      attributes: [attribute("id", .long), attribute("name")], key: [0],
      keyOrigin: .businessSystem, relationships: [], operations: [.create, .update, .delete],
      partition: nil, group: "master")
    var record: ObjectRecord
    var id: Int64 { record.get(0) }
    var name: String {
      get { record.get(1) }
      set { record.set(1, newValue) }
    }
  }

  struct Order: BusinessObject {
    static let entity = Entity(
      name: "Order", table: "orders",
      attributes: [
        attribute("id", .long), attribute("customer", .long), attribute("city", .string, true),
      ], key: [0], keyOrigin: .businessSystem,
      relationships: [
        Relationship(
          name: "buyer", target: "Customer", attributes: ["customer"], targetAttributes: ["id"])
      ], operations: [.create, .update, .delete], partition: nil, group: "orders")
    var record: ObjectRecord
    var id: Int64 { record.get(0) }
    var city: String? {
      get { record.get(2) }
      set { record.set(2, newValue) }
    }
  }

  /// Of customers, in the group of orders.
  struct Note: BusinessObject {
    static let entity = Entity(
      name: "Note", table: "notes",
      attributes: [attribute("id", .long), attribute("text")], key: [0], keyOrigin: .app,
      relationships: [], operations: [.create, .update, .delete], partition: nil, group: "orders")
    var record: ObjectRecord
    var text: String { record.get(1) }
  }

  /// One customer and one order.
  static func server() async throws -> TestServer {
    let server = try await TestServer(package)
    try await server.insert(Customer.self, ["id": 1, "name": "Ada"])
    try await server.insert(Order.self, ["id": 10, "customer": 1, "city": "Bonn"])
    return server
  }

  static var replication: SessionSettings {
    var settings = SessionSettings()
    settings.synchronization = .replicationBased
    return settings
  }

  static func order(of customer: Int64, _ city: String, in database: FerryDatabase) -> Order {
    var record = ObjectRecord(Order.entity, in: database)
    record.set(1, customer)
    record.set(2, city)
    return Order(record: record)
  }

  static func customer(_ name: String, in database: FerryDatabase) -> Customer {
    var record = ObjectRecord(Customer.entity, in: database)
    record.set(1, name)
    return Customer(record: record)
  }
}

/// What the suites of this package do again and again.
protocol TradeSuite {}

extension TradeSuite {
  typealias Status = SynchronizationContext.Status

  /// A device with everything imported, that heard nothing yet.
  func device(
    _ server: TestServer, _ handler: StatusWitness, settings: SessionSettings = Trade.replication
  ) async throws -> FerryDatabase {
    let database = try await server.database(
      user: "nancy", handler: handler, settings: settings)
    handler.forget()
    return database
  }

  /// A database whose application is not registered, with what it registers by.
  func unregistered(_ server: TestServer, _ handler: any StepHandler) throws -> FerryDatabase {
    let database = try server.newDatabase(user: "nancy", handler: handler)
    try database.updateSynchronizationProfile { profile in
      profile.user = "nancy"
      profile.password = "secret"
    }
    return database
  }

  /// Returns when another device has signed in and has everything. On a machine however slow, what was
  /// about to happen has happened by then.
  func otherDevice(_ server: TestServer) async throws {
    _ = try await server.database(user: "nancy")
  }

  /// Changes the order's city, submitted.
  func move(_ city: String, in database: FerryDatabase) throws {
    var order = try #require(try Trade.Order.find(key: ObjectKey([.integer(10)]), in: database))
    order.city = city
    try order.update()
    try order.submitPending()
  }

  func city(_ database: FerryDatabase) throws -> String? {
    try Trade.Order.find(key: ObjectKey([.integer(10)]), in: database)?.city
  }

  func isPending(_ database: FerryDatabase) throws -> Bool {
    try Trade.Order.find(key: ObjectKey([.integer(10)]), in: database)?.isPending ?? false
  }

  var automatic: [Status] { [.asyncReplayCompleted, .starting, .downloading, .finishing] }
}

/// Writes down every status that a handler hears, repeated ones once, and answers as a test wants.
final class StatusWitness: CallbackHandler {
  typealias Status = SynchronizationContext.Status

  private struct State {
    var statuses: [Status] = []
    var contexts: [SynchronizationContext] = []
    var groups: [[String]] = []
    var others: [String] = []
  }

  private let state = Mutex(State())
  private let cancels: @Sendable ([Status]) -> Bool
  private let onStatus = Mutex<(@Sendable (Status) -> Void)?>(nil)

  /// `cancels` is asked with the statuses so far.
  init(cancels: @escaping @Sendable ([Status]) -> Bool = { _ in false }) { self.cancels = cancels }

  var statuses: [Status] { state.withLock { $0.statuses } }
  var contexts: [SynchronizationContext] { state.withLock { $0.contexts } }
  var groups: [[String]] { state.withLock { $0.groups } }
  /// Callbacks of imports and replays.
  var others: [String] { state.withLock { $0.others } }

  func forget() { state.withLock { $0 = State() } }

  func when(_ act: @escaping @Sendable (Status) -> Void) { onStatus.withLock { $0 = act } }

  /// Waits until a status has come so many times since `forget`.
  func hears(_ wanted: Status, times: Int = 1) async {
    let patience = Patience()
    while statuses.count(where: { $0 == wanted }) < times, await patience.lasts() {}
  }

  func onSynchronize(
    groups: [String], context: SynchronizationContext
  ) -> SynchronizationAction {
    let statuses = state.withLock { state in
      if state.statuses.last != context.status { state.statuses.append(context.status) }
      state.contexts.append(context)
      state.groups.append(groups)
      return state.statuses
    }
    onStatus.withLock { $0 }?(context.status)
    return cancels(statuses) ? .cancel : .proceed
  }

  func onImportSuccess(group: String) { state.withLock { $0.others.append("import \(group)") } }
  func onReplaySuccess(_ object: ReplayedObject) {
    state.withLock { $0.others.append("accepted \(object.entity)") }
  }
  func onReplayFailure(_ object: ReplayedObject) {
    state.withLock { $0.others.append("refused \(object.entity)") }
  }
}
