import FerryConnector
import FerryJSON
import FerryModel
import FerrySQLite
import FerryTestKit
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

final class HandClock: WorldClock {
  private let time = Mutex<Int64>(1_700_000_000_000)

  var now: Timestamp { Timestamp(milliseconds: time.withLock { $0 }) }
  var uptime: Duration { .milliseconds(time.withLock { $0 }) }
  func advance(_ seconds: Int64) { time.withLock { $0 += seconds * 1_000 } }
}

/// SplitMix64: the same numbers for the same seed.
final class SeededChance: Chance {
  private let state: Mutex<UInt64>

  init(_ seed: UInt64) { state = Mutex(seed) }

  func next() -> UInt64 {
    state.withLock { state in
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}

final class KeptLog: Log {
  private let kept = Mutex<[(line: String, hint: String?)]>([])

  var lines: [String] { kept.withLock { $0.map(\.line) } }
  /// What the lines told the operator to do.
  var hints: [String] { kept.withLock { $0.compactMap(\.hint) } }
  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    let hint = fields.first { $0.0 == "hint" }?.1
    kept.withLock { $0.append(("\(level.name) \(message)", hint)) }
  }
}

/// A service on a folder of its own, and the driver's loops by hand.
final class Bench {
  let folder: String
  let clock = HandClock()
  let log = KeptLog()
  let chance: SeededChance
  let package: Package
  let business = Business()
  var limits: ServiceLimits
  private let plant: PlantedBug?
  private let users: SharedUsers
  /// Whose folder it has, with all that is in it.
  private let other: Bench?
  private let vfs: String?
  private let wrap: (any Store) -> any Store
  private var running: Service?

  /// `vfs`: the disk of the store; `wrap`: what is around it; `other`: a bench whose store it uses.
  init(
    _ package: Package = Shop.package, limits: ServiceLimits = .standard, seed: UInt64 = 1,
    plant: PlantedBug? = nil, vfs: String? = nil, on other: Bench? = nil,
    wrap: @escaping (any Store) -> any Store = { $0 }
  ) throws {
    self.plant = plant
    self.other = other
    users = other?.users ?? SharedUsers()
    self.vfs = vfs
    self.wrap = wrap
    self.package = package
    self.limits = limits
    chance = SeededChance(seed)
    folder =
      other?.folder
      ?? FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-server-\(UUID().uuidString)").path
    _ = try start()
  }

  deinit {
    running = nil
    if other == nil { try? FileManager.default.removeItem(atPath: folder) }
  }

  var service: Service { running! }

  /// The store's own connection.
  var database: Connection {
    guard let store = service.store as? SQLiteStore else {
      preconditionFailure("the bench has a SQLite store")
    }
    return store.writer
  }

  func start() throws -> Service {
    let world = World(
      clock: clock, chance: chance, log: log, planted: plant.map { [$0] } ?? [])
    let service = try Service(package: package, world: world, limits: limits, users: users) {
      package throws(ServerError) in
      if let store = other?.running?.store as? SQLiteStore {
        return wrap(try SQLiteStore(store.file, package: package))
      }
      return wrap(
        try SQLiteStore(
          folder: folder, package: package, world: world, synchronous: .normal, vfs: vfs))
    }
    running = service
    return service
  }

  func stop() { running = nil }

  func restart() throws {
    stop()
    _ = try start()
  }

  @discardableResult
  func load() throws -> LoadSummary {
    let ticket = try service.beginLoad()
    for entity in package.entities { try service.stage(ticket, entity, business.images(entity)) }
    return try end(ticket)
  }

  @discardableResult
  func end(_ ticket: LoadTicket) throws -> LoadSummary {
    while true {
      if case .done(let summary) = try service.endLoad(ticket) { return summary }
    }
  }

  func readAgain() throws {
    while let task = try service.nextReadBack() {
      try service.finish(task, try business.read(task.entity, keys: task.keys))
    }
  }

  /// One step of a task against the business system.
  func answer(_ step: ReplayStep) -> ReplayReport? {
    do throws(ConnectorError) {
      switch step {
      case .recall(let operations): return .recalled(try business.recall(operations))
      case .perform(let operations):
        let spoiled = FlawedConnector.spoiled(operations, plant.map { [$0] } ?? [])
        return .performed(business.perform(spoiled))
      case .read(let entity, let keys): return .read(try business.read(entity, keys: keys))
      case .done, .retry: return nil
      }
    } catch {
      return .failed(error)
    }
  }

  func replay() throws {
    while let task = try service.nextReplay() {
      var step = task.step
      while let report = answer(step) { step = try service.report(task, report) }
    }
  }

  func identity(
    _ user: String = "anna", employees: [Int64] = [1], device: String? = nil
  ) -> Identity {
    Identity(
      user: user, device: device, claims: ["employee": employees.map(String.init)],
      expires: clock.now.advanced(by: .seconds(900)))
  }

  func operation(
    _ entity: Entity, _ kind: OperationKind, _ key: ObjectKey?,
    changed: [Int: AttributeValue] = [:],
    base: [Int: AttributeValue] = [:], chain: OperationID? = nil, position: Int = 0, count: Int = 1
  ) -> (OperationID, [UInt8]) {
    let id = OperationID(newID())!
    let operation = FerryWire.Operation(
      id: id, chain: chain ?? id, position: position, count: count, entity: entity.name, kind: kind,
      key: key, changed: changed, base: base)
    return (id, operation.encoded(for: entity))
  }

  func newID() -> String {
    let number = chance.next()
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }
}

extension UserFile {
  /// One user, for whom each password is right.
  static func anna() throws -> UserFile {
    try UserFile(
      Array(#"{"users": [{"name": "anna", "passwordHash": "$a"}]}"#.utf8), name: "users.json"
    ) { _, _ in true }
  }
}

/// A device as small as the server's tests need it.
final class Device {
  struct Row: Equatable {
    var values: [AttributeValue]
    var hash: Int64
    var partition: Int64
  }

  let bench: Bench
  let name: String
  var identity: Identity
  var parameters = SubscriptionParameters()
  /// Called with each row that comes.
  var onRow: ((Entity, [AttributeValue]) -> Void)?
  var server: String?
  var era: String?
  var version: Int64 = 0
  var at: Int64 = 0
  var cursors: [Int64: Cursor] = [:]
  var rows: [ObjectName: Row] = [:]
  var resetting: Set<Int64> = []
  var open: [OperationID] = []
  var answers: [OperationID: Answer] = [:]
  var unconfirmed: [OperationID] = []
  private(set) var messages: [Message] = []
  private(set) var welcome: Welcome?
  private(set) var checkpoint: Checkpoint?
  private(set) var stored: Stored?
  private(set) var failure: WireFailure?
  private(set) var stirs: [Stir] = []
  private(set) var thrownAway = 0
  var pulls = true

  init(_ bench: Bench, _ name: String = "phone", _ identity: Identity? = nil) {
    self.bench = bench
    self.name = name
    self.identity = identity ?? bench.identity()
  }

  func body(_ operations: [[UInt8]] = [], mayHaveRun: [OperationID] = []) -> [UInt8] {
    let positions = cursors.sorted { $0.key < $1.key }
      .map { PartitionCursor(partition: $0.key, cursor: $0.value) }
    var hello = Hello(
      server: server, package: bench.package.id, device: name, incarnation: "1",
      groups: bench.package.groups.map {
        GroupPosition(name: $0.name, era: era, version: max(version, at))
      },
      partitions: positions, open: open)
    hello.parameters = parameters
    var bytes = Message.hello(hello).frame.encoded()
    for group in bench.package.groups where !unconfirmed.isEmpty {
      let confirm = Confirm(group: group.name, version: version, answers: unconfirmed)
      bytes += Message.confirm(confirm).frame.encoded()
    }
    if !operations.isEmpty {
      bytes += Message.replay(Replay(operations: operations, mayHaveRun: mayHaveRun)).frame
        .encoded()
    }
    for group in bench.package.groups where pulls {
      bytes += Message.pull(Pull(group: group.name, staged: positions, at: at)).frame.encoded()
    }
    return bytes
  }

  /// A whole session.
  @discardableResult
  func exchange(_ operations: [[UInt8]] = [], mayHaveRun: [OperationID] = []) throws -> Device {
    let exchange = bench.service.exchange(
      body(operations, mayHaveRun: mayHaveRun), by: identity)
    unconfirmed = []
    try drain(exchange)
    return self
  }

  /// Takes what an exchange has to say; true when it ended.
  @discardableResult
  func drain(_ exchange: Exchange, atMost pieces: Int = .max) throws -> Bool {
    for _ in 0..<min(pieces, 100_000) {
      switch exchange.next() {
      case .bytes(let bytes):
        for frame in try FrameReader.frames(of: bytes) { try take(Message(frame)) }
      case .waiting: return false
      case .end: return true
      }
    }
    return false
  }

  private func take(_ message: Message) throws {
    messages.append(message)
    switch message {
    case .welcome(let welcome): take(welcome)
    case .stored(let stored): self.stored = stored
    case .rows(let page): try take(page)
    case .checkpoint(let checkpoint): take(checkpoint)
    case .stir(let stir): stirs.append(stir)
    case .failure(let failure): self.failure = failure
    default: Issue.record("the server sent \(message)")
    }
  }

  private func take(_ welcome: Welcome) {
    self.welcome = welcome
    server = welcome.server
    era = welcome.era
    for place in welcome.start { cursors[place.partition] = .start }
    for partition in welcome.reset {
      cursors[partition] = .start
      rows = rows.filter { $0.value.partition != partition }
    }
    for partition in welcome.drop {
      cursors[partition] = nil
      rows = rows.filter { $0.value.partition != partition }
    }
    if !welcome.reset.isEmpty {
      at = 0
      version = 0
    }
  }

  private func take(_ page: RowsPage) throws {
    guard cursors[page.partition] == page.from else {
      thrownAway += 1
      return
    }
    try page.read(
      of: bench.package, wrap: { (error: JSONError) -> any Error in error },
      row: { entity, values, hash in
        onRow?(entity, values)
        rows[ObjectName(entity: entity.name, key: entity.key(of: values))] = Row(
          values: values, hash: hash, partition: page.partition)
      },
      left: { entity, key in
        let name = ObjectName(entity: entity.name, key: key)
        if rows[name]?.partition == page.partition { rows[name] = nil }
      })
    cursors[page.partition] = page.to
    at = max(at, page.at)
  }

  private func take(_ checkpoint: Checkpoint) {
    self.checkpoint = checkpoint
    version = checkpoint.version
    at = max(at, version)
    for partition in checkpoint.partitions {
      #expect(cursors[partition.partition] == partition.cursor)
      let own = rows.values.filter { $0.partition == partition.partition }
      #expect(own.count == Int(partition.count))
      #expect(own.reduce(UInt64(0)) { $0 &+ UInt64(bitPattern: $1.hash) } == partition.sum)
    }
    // The import sets all its cursors to the checkpoint.
    for partition in checkpoint.partitions where checkpoint.unavailable.isEmpty {
      cursors[partition.partition] = .end(of: checkpoint.version)
    }
    for answer in checkpoint.answers {
      answers[answer.id] = answer
      open.removeAll { $0 == answer.id }
      unconfirmed.append(answer.id)
    }
  }

  /// Entity, key and values of all rows, sorted.
  var shown: [String] {
    rows.map { "\($0.key) \(String(decoding: RowCoder.encode($0.value.values), as: UTF8.self))" }
      .sorted()
  }
}

/// What the body is refused with; nil where it is not.
func serverError(_ body: () throws(ServerError) -> Void) -> ServerError? {
  do throws(ServerError) {
    try body()
    return nil
  } catch {
    return error
  }
}

func serverErrorCode(_ body: () throws(ServerError) -> Void) -> ServerError.Code? {
  serverError(body)?.code
}

extension ReplayStep {
  /// The operations that the business system is asked about; nil where it is asked something else.
  var recalled: [OperationID]? {
    if case .recall(let operations) = self { operations.map(\.id) } else { nil }
  }
}
