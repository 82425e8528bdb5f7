import FerryConnector
import FerryHTTPClient
import FerryModel
import FerryOData
import FerryODataConnector
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
  private let thread = ThreadExecutor(name: "connector")
  private let connection: Mutex<ODataConnection>
  private let connector: Mutex<ODataConnector>
  private let operations = Mutex(0)

  static let item = entity("Item", "Items", "Name", .app)
  static let order = entity("Order", "Orders", "Number", .businessSystem, unique: [[1]])
  /// Without an attribute that tells an order from others.
  static let bare = entity("Order", "Orders", "Number", .businessSystem)

  private static func entity(
    _ name: String, _ set: String, _ text: String, _ origin: KeyOrigin, unique: [[Int]] = []
  ) -> Entity {
    Entity(
      name: name, table: set,
      attributes: [
        Attribute(name: "id", column: "ID", type: .long, isNullable: false),
        Attribute(name: text.lowercased(), column: text, type: .string, isNullable: true),
        Attribute(name: "amount", column: "Amount", type: .int, isNullable: true),
      ], key: [0], keyOrigin: origin, relationships: [], operations: Set(OperationKind.allCases),
      partition: nil, group: "all", unique: unique)
  }

  static let package = Package(
    name: "Shop", version: "1.0", entities: [item, order],
    groups: [SynchronizationGroup(name: "all")])

  let log = NotedLog()

  init(
    _ rows: [FakeService.Row] = [], credentials: (any CredentialSource)? = nil,
    changeSets: Bool? = nil
  ) {
    let made = Bench.connection(service, clock, log, credentials, changeSets)
    connection = Mutex(made)
    connector = Mutex(ODataConnector(made, package: Bench.package))
    service.change { state in for row in rows { state.items[row.id] = row } }
  }

  private static func connection(
    _ service: FakeService, _ clock: HandClock, _ log: NotedLog,
    _ credentials: (any CredentialSource)?, _ changeSets: Bool?
  ) -> ODataConnection {
    ODataConnection(
      FakeService.root, world: World(clock: clock, chance: NoChance(), log: log),
      credentials: credentials, transport: service, changeSets: changeSets)
  }

  /// Another process, which knows nothing of this one.
  func restart() {
    let made = Bench.connection(service, clock, log, nil, nil)
    connection.withLock { $0 = made }
    connector.withLock { $0 = ODataConnector(made, package: Bench.package) }
  }

  func ask<Value: Sendable>(
    _ body: @escaping @Sendable (ODataConnector) -> Value
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

  func recall(_ group: ConnectorOperation...) async throws -> [Recall] {
    try await ask { connector in
      Result { () throws(ConnectorError) in try connector.recall(group) }
    }.get()
  }

  func replay(_ operation: ConnectorOperation) async throws -> OperationOutcome {
    try await replay([operation])[0]
  }

  /// As the server does: performs, recalls what is unknown, waits where it must.
  func replay(_ chain: [ConnectorOperation]) async throws -> [OperationOutcome] {
    var ends = [OperationOutcome?](repeating: nil, count: chain.count)
    for _ in 0..<20 {
      var open = chain.indices.filter { ends[$0] == nil }
      let tried = open.map { chain[$0] }
      let result = await ask { $0.perform(tried) }
      guard case .done(let outcomes, _) = result else { continue }
      let isOver = outcomes.contains { if case .refused = $0 { true } else { false } }
      var unknown: [Int] = []
      for (place, outcome) in zip(open, outcomes) {
        switch outcome {
        case .unknown: unknown.append(place)
        case .notTried where !isOver: continue
        default: ends[place] = outcome
        }
      }
      recalling: while !unknown.isEmpty {
        let asked = unknown.map { chain[$0] }
        let recalls = try await ask { connector in
          Result { () throws(ConnectorError) in try connector.recall(asked) }
        }.get()
        for (place, recall) in zip(unknown, recalls) {
          switch recall {
          case .performed(let outcome): ends[place] = outcome
          case .notPerformed, .mayBeRepeated: continue
          case .mayStillArrive:
            clock.move(.seconds(121))
            continue recalling
          case .cannotTell: ends[place] = .unknown(reason: "a person decides")
          }
        }
        break
      }
      open = chain.indices.filter { ends[$0] == nil }
      if open.isEmpty { return ends.compactMap { $0 } }
    }
    Issue.record("no end")
    return ends.map { $0 ?? .notTried }
  }

  func operation(
    _ kind: OperationKind, _ entity: Entity, _ key: Int64?, _ changed: [Int: AttributeValue] = [:],
    base: [Int: AttributeValue] = [:], judge: RowJudge? = nil, user: String? = nil,
    temporaryKey: Int64? = nil
  ) -> ConnectorOperation {
    let number = operations.withLock { number in
      number += 1
      return String(number)
    }
    let id = String(repeating: "0", count: 32 - number.count) + number
    return ConnectorOperation(
      id: OperationID(id)!, entity: entity, kind: kind, key: key.map { ObjectKey([.integer($0)]) },
      changed: changed, base: base,
      temporaryKey: temporaryKey.map { ObjectKey([.integer($0)]) }, judge: judge, user: user)
  }

  /// Of item 1, from 5 to 6.
  func update(judge: RowJudge? = nil, user: String? = nil) -> ConnectorOperation {
    operation(
      .update, Bench.item, 1, [2: .integer(6)], base: [2: .integer(5)], judge: judge, user: user)
  }
}

extension FakeService.Row {
  static let one = FakeService.Row(id: 1, name: "one", amount: 5)
}

enum EdmMetadataText {
  static func read(_ text: String) throws -> EdmMetadata { try EdmMetadata.read(Array(text.utf8)) }
}

/// A connector to a service whose answers the test has written.
final class CannedBench: Sendable {
  let service = CannedService()
  let clock = HandClock()
  let log = NotedLog()
  private let thread = ThreadExecutor(name: "connector")
  private let connector: Mutex<ODataConnector>

  init(_ package: Package, language: String? = nil) {
    let connection = ODataConnection(
      CannedService.root, world: World(clock: clock, chance: NoChance(), log: log),
      transport: service, language: language)
    connector = Mutex(ODataConnector(connection, package: package))
  }

  func ask<Value: Sendable>(
    _ body: @escaping @Sendable (ODataConnector) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      thread.perform { continuation.resume(returning: self.connector.withLock { body($0) }) }
    }
  }
}

/// Keeps what is logged.
final class NotedLog: Log {
  private let kept = Mutex<[String]>([])
  var lines: [String] { kept.withLock { $0 } }

  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    let values = fields.map { " \($0.0)=\($0.1)" }.joined()
    kept.withLock { $0.append("\(level.name): \(message)\(values)") }
  }
}
