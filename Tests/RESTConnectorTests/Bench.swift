import FerryConnector
import FerryHTTPClient
import FerryModel
import FerryRESTConnector
import FerryWorld
import Synchronization
import Testing

/// A clock that a test moves.
final class HandClock: WorldClock {
  private let time = Mutex(Duration.seconds(1_000))
  var now: Timestamp { moment }
  var uptime: Duration { time.withLock { $0 } }
  func move(_ duration: Duration) { time.withLock { $0 += duration } }
}

struct NoChance: Chance {
  func next() -> UInt64 { 4 }
}

/// A connector to a fake service, on a thread that may block.
final class Bench: Sendable {
  let service = FakeService()
  let clock = HandClock()
  private let mapping: String
  private let users: (any CredentialSource)?
  private let checkers: [any ResultChecker]
  /// What the service said of changes that it did.
  private let said = Mutex<[ResultNote]>([])
  var notes: [ResultNote] { said.withLock { $0 } }
  private let thread = ThreadExecutor(name: "connector")
  private let connector: Mutex<RESTConnector>
  private let operations = Mutex(0)

  static let item = entity("Item", "items", .app)
  static let order = entity("Order", "orders", .businessSystem)

  private static func entity(_ name: String, _ table: String, _ origin: KeyOrigin) -> Entity {
    Entity(
      name: name, table: table,
      attributes: [
        Attribute(name: "id", column: "id", type: .long, isNullable: false),
        Attribute(name: "name", column: "name", type: .string, isNullable: true),
        Attribute(name: "amount", column: "amount", type: .int, isNullable: true),
      ], key: [0], keyOrigin: origin, relationships: [], operations: Set(OperationKind.allCases),
      partition: nil, group: "all")
  }

  static let package = Package(
    name: "Shop", version: "1.0", entities: [item, order],
    groups: [SynchronizationGroup(name: "all")])

  /// `more`: members of both entities in the mapping; `top`: beside the entities.
  static func text(
    _ more: String = "", top: String = "", list: String = "", update: String? = nil,
    create: String? = nil
  ) -> String {
    func entity(_ name: String, _ path: String) -> String {
      """
      "\(name)": {
        "list": {"address": "/\(path)", "rows": "/rows"\(list.isEmpty ? "" : ", " + list)},
        "read": "/\(path)/{id}", "create": \(create ?? "\"/\(path)\""),
        "update": \(update ?? "\"/\(path)/{id}\""), "delete": "/\(path)/{id}"
        \(more.isEmpty ? "" : ", " + more)
      }
      """
    }
    return "{\(top.isEmpty ? "" : top + ", ")\"entities\": {\(entity("Item", "items")), "
      + "\(entity("Order", "orders"))}}"
  }

  /// `users`: who gives the credentials of users, as whom changes are sent then.
  init(
    _ rows: [FakeService.Row] = [], _ mapping: String = Bench.text(),
    users: (any CredentialSource)? = nil, checkers: [any ResultChecker] = []
  ) throws {
    self.mapping = mapping
    self.users = users
    self.checkers = checkers
    let made = try Bench.connection(service, clock, mapping, users, checkers)
    connector = Mutex(RESTConnector(made, package: Bench.package))
    service.change { state in for row in rows { state.rows["items"]?[row.id] = row } }
  }

  private static func connection(
    _ service: FakeService, _ clock: HandClock, _ mapping: String,
    _ users: (any CredentialSource)?, _ checkers: [any ResultChecker]
  ) throws -> RESTConnection {
    try RESTConnection(
      FakeService.root, mapping: try RESTMapping(Array(mapping.utf8), for: package), folder: "/",
      world: World(clock: clock, chance: NoChance(), log: SilentLog()),
      credentials: users, sendsAsUser: users != nil, transport: service, checkers: checkers)
  }

  /// Another process, which knows nothing of this one.
  func restart() throws {
    let made = try Bench.connection(service, clock, mapping, users, checkers)
    connector.withLock { $0 = RESTConnector(made, package: Bench.package) }
  }

  func ask<Value: Sendable>(
    _ body: @escaping @Sendable (RESTConnector) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      thread.perform { continuation.resume(returning: self.connector.withLock { body($0) }) }
    }
  }

  func perform(_ group: ConnectorOperation...) async -> PerformResult {
    await ask { $0.perform(group) }
  }

  func outcomes(_ group: ConnectorOperation...) async -> [OperationOutcome] {
    let result = await ask { $0.perform(group) }
    guard case .done(let outcomes, _) = result else {
      Issue.record("\(result)")
      return []
    }
    return outcomes
  }

  func refusal(_ operation: ConnectorOperation) async -> Refusal? {
    guard case .refused(let refusal)? = await outcomes(operation).first else { return nil }
    return refusal
  }

  func recall(_ group: ConnectorOperation...) async throws -> [Recall] {
    try await ask { connector in
      Result { () throws(ConnectorError) in try connector.recall(group) }
    }.get()
  }

  func load(
    _ entity: Entity = Bench.item
  ) async throws -> (rows: [RowImage], rejected: [RejectedRow]) {
    let result = await ask { connector -> Result<([RowImage], [RejectedRow]), ConnectorError> in
      var rows: [RowImage] = []
      var rejected: [RejectedRow] = []
      do throws(ConnectorError) {
        _ = try connector.load(
          LoadScope(entities: [entity]), from: nil,
          each: { page throws(ConnectorError) in rows += page.rows },
          rejected: { rejected.append($0) })
        return .success((rows, rejected))
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  func changes(since cursor: String? = nil) async throws -> BusinessChanges {
    try await ask { connector in
      Result { () throws(ConnectorError) in try connector.changes(since: cursor) }
    }.get()
  }

  /// As the server does: performs, recalls what is unknown, waits where it must.
  func replay(_ operation: ConnectorOperation) async throws -> OperationOutcome {
    for _ in 0..<20 {
      let result = await perform(operation)
      guard case .done(let outcomes, _) = result else {
        clock.move(.seconds(5))
        continue
      }
      guard case .unknown = outcomes[0] else { return outcomes[0] }
      recalling: while true {
        switch try await recall(operation)[0] {
        case .performed(let outcome): return outcome
        case .notPerformed, .mayBeRepeated: break recalling
        case .mayStillArrive:
          // What is under way arrives within that time.
          service.deliverLate()
          clock.move(.seconds(121))
        case .cannotTell: return .unknown(reason: "a person decides")
        }
      }
    }
    Issue.record("no end")
    return .notTried
  }

  func operation(
    _ kind: OperationKind, _ entity: Entity, _ key: Int64?, _ changed: [Int: AttributeValue] = [:],
    base: [Int: AttributeValue] = [:], judge: RowJudge? = nil, user: String? = nil
  ) -> ConnectorOperation {
    let number = operations.withLock { number in
      number += 1
      return String(number)
    }
    let id = String(repeating: "0", count: 32 - number.count) + number
    var operation = ConnectorOperation(
      id: OperationID(id)!, entity: entity, kind: kind, key: key.map { ObjectKey([.integer($0)]) },
      changed: changed, base: base, judge: judge, user: user)
    operation.resultNotes = ResultNotes { notes in self.said.withLock { $0 = notes } }
    return operation
  }

  /// Of item 1, from 5 to 6.
  func update(judge: RowJudge? = nil) -> ConnectorOperation {
    operation(.update, Bench.item, 1, [2: .integer(6)], base: [2: .integer(5)], judge: judge)
  }

  /// An order whose key the service makes.
  func order(_ name: String = "A-1") -> ConnectorOperation {
    operation(.create, Bench.order, nil, [1: .text(name), 2: .integer(3)])
  }

  /// Conditions are proved, so that a fault meets the change itself.
  func prove() async {
    _ = await outcomes(
      operation(.update, Bench.item, 1, [1: .text("uno")], base: [1: .text("one")]))
  }
}

extension FakeService.Row {
  static let one = FakeService.Row(id: 1, name: "one", amount: 5)
}
