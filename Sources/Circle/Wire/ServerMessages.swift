import FerryJSON
import FerryModel

/// The server's word on a hello: what of the device's state still holds.
public struct Welcome: Sendable, Equatable {
  public var server: String
  /// The era in which this checkpoint chain goes on.
  public var era: String
  public var clock: Int64
  /// Changes when the device's rights or subscriptions change.
  public var rightsVersion: String
  /// Partitions whose cursors hold.
  public var keep: [Int64]
  /// New partitions, downloaded from the start.
  public var start: [PartitionPlace]
  /// Partitions that are no longer the device's.
  public var drop: [Int64]
  /// Partitions that are downloaded from the start again; what is pending stays.
  public var reset: [Int64]
  public var operations: [OperationStatus]
  /// Rows that the new and reset partitions hold now, so that a first import can show its progress.
  public var expectedRows: Int64
  /// Personalization keys of kind server, as they are kept for the user.
  public var keys: [String: String] = [:]
  /// Messages of later additions that this server takes. A device sends no others: a server that
  /// does not know one can read nothing of the request.
  public var takes: [String] = [Welcome.report]
  /// The application settings, where those of the device are older; nil: they are the newest.
  public var settings: ApplicationSettings?
  /// What operators want done with refused changes of the device, at most `WireLimits.corrections`.
  public var corrections: [Correction] = []

  /// The device's own log records.
  public static let report: String = "report"

  public init(
    server: String, era: String, clock: Int64, rightsVersion: String, keep: [Int64],
    start: [PartitionPlace], drop: [Int64], reset: [Int64], operations: [OperationStatus],
    expectedRows: Int64 = 0
  ) {
    self.expectedRows = expectedRows
    self.server = server
    self.era = era
    self.clock = clock
    self.rightsVersion = rightsVersion
    self.keep = keep
    self.start = start
    self.drop = drop
    self.reset = reset
    self.operations = operations
  }
}

/// A partition and the synchronization group it is in.
public struct PartitionPlace: Sendable, Hashable {
  public let partition: Int64
  public let group: String

  public init(partition: Int64, group: String) {
    self.partition = partition
    self.group = group
  }
}

/// What the server knows of an operation that the device has sent.
public struct OperationStatus: Sendable, Hashable {
  /// What the server knows of an operation that the device asks for.
  public enum State: String, Sendable { case neverSeen, inWork, answered }

  public let id: OperationID
  public let state: State

  public init(id: OperationID, state: State) {
    self.id = id
    self.state = state
  }
}

/// A complete state of a group, once all pages before it are there: what the app may see.
public struct Checkpoint: Sendable, Equatable {
  public var group: String
  public var era: String
  public var version: Int64
  public var partitions: [PartitionSum]
  /// Every answer up to `version` on entities of the group that the device has not confirmed.
  public var answers: [Answer]
  public var rightsVersion: String
  /// Partitions that the server could not load yet.
  public var unavailable: [Int64]
  /// The answer to a device that asks whether this is current; nil to others.
  public var currency: Currency?
  /// How old the rows are that are not current, in milliseconds; `Checkpoint.unknownAge` where the
  /// server cannot say. Nil where it knows of no older rows, or nobody asked.
  public var age: Int64?
  /// How far the load is that `unavailable` waits for; nil where the server cannot say.
  public var load: LoadStanding?
  /// The device's operations on entities of the group that wait for what others must bring.
  public var waiting: [WaitingOperation] = []

  public init(
    group: String, era: String, version: Int64, partitions: [PartitionSum], answers: [Answer],
    rightsVersion: String, unavailable: [Int64]
  ) {
    self.group = group
    self.era = era
    self.version = version
    self.partitions = partitions
    self.answers = answers
    self.rightsVersion = rightsVersion
    self.unavailable = unavailable
  }

  /// Of rows of which nobody knows how old they are.
  public static let unknownAge: Int64 = .max
}

/// An operation of which nothing was done and nothing is refused.
public struct WaitingOperation: Sendable, Equatable {
  public let id: OperationID
  /// What it waits for, a word such as `credential`; a device need not know it.
  public let reason: String

  public init(id: OperationID, reason: String) {
    self.id = id
    self.reason = reason
  }
}

/// Whether a checkpoint holds everything that was committed in the business system before the request.
public enum Currency: String, Sendable {
  case current
  /// The server reads its business system for the first time.
  case loading
  /// The business system cannot be asked.
  case businessAway
  /// Not everything that was changed is read yet.
  case behind
  /// The server shows what it read earlier: its policies do not let it ask the business system again.
  case cached
}

/// How far the load is that a device waits for: a share and a time, no number of rows.
public struct LoadStanding: Sendable, Hashable {
  /// From 0 to 1000.
  public let permille: Int64
  /// By the rate so far; nil where the server cannot say yet.
  public let remainingSeconds: Int64?

  public init(permille: Int64, remainingSeconds: Int64?) {
    self.permille = permille
    self.remainingSeconds = remainingSeconds
  }
}

/// The sum and the number of rows that a partition must have on the device.
public struct PartitionSum: Sendable, Hashable {
  public let partition: Int64
  /// The cursor at which the last page left the device; the checkpoint holds only for one that
  /// stands there.
  public let cursor: Cursor
  /// Sum of the rows' hashes, modulo 2^64.
  public let sum: UInt64
  public let count: Int64

  public init(partition: Int64, cursor: Cursor, sum: UInt64, count: Int64) {
    self.partition = partition
    self.cursor = cursor
    self.sum = sum
    self.count = count
  }
}

/// How an operation ended; the reference's `replayResult` and `replayFailed`, and the two that
/// honesty needs besides.
public struct Answer: Sendable, Equatable {
  /// How an operation ended.
  public enum Outcome: String, Sendable, CaseIterable {
    case replayResult, replayFailed, notTried, unknown
  }

  public let id: OperationID
  /// The numbered transaction that wrote the answer and its effects.
  public let version: Int64
  public let outcome: Outcome
  /// The object's business key after an accepted create.
  public let newKey: ObjectKey?
  public let logRecords: [LogRecord]
  /// With `notTried`: its chain did not come whole in time, so nobody refused it. The device sends
  /// all of the chain again, under new ids.
  public let isToBeSentAgain: Bool
  /// What the operation wrote, by the name of the attribute, where the business system did not take
  /// the value as it was sent: a text without its blanks, a rounded price. Other users' changes since
  /// are never in it.
  public var written: [String: AttributeValue] = [:]

  public init(
    id: OperationID, version: Int64, outcome: Outcome, newKey: ObjectKey?, logRecords: [LogRecord],
    isToBeSentAgain: Bool = false
  ) {
    self.id = id
    self.version = version
    self.outcome = outcome
    self.newKey = newKey
    self.logRecords = logRecords
    self.isToBeSentAgain = isToBeSentAgain
  }
}

/// What the server has taken in, after its commit.
public struct Stored: Sendable, Equatable {
  public let ids: [OperationID]
  /// Operations that it will never perform, with the reason; they carry no version.
  public let refused: [Answer]

  public init(ids: [OperationID], refused: [Answer]) {
    self.ids = ids
    self.refused = refused
  }
}

/// Something new is there; ask for it.
public struct Stir: Sendable, Equatable {
  /// Chains whose operations are all answered.
  public let finished: [OperationID]
  /// The version of newer application settings, which the next welcome brings.
  public let settings: String?
  /// Groups that have something new, to a device that named those it wants to hear of; nil: any.
  public let groups: [String]?
  /// The next welcome brings corrections of an operator.
  public var hasCorrections: Bool = false

  public init(
    finished: [OperationID], settings: String? = nil, groups: [String]? = nil
  ) {
    self.finished = finished
    self.settings = settings
    self.groups = groups
  }
}

/// The server will not go on with this exchange.
public struct WireFailure: Error, Sendable, Equatable {
  /// Closed today; more may come, and an unknown one reads as `internal`.
  public enum Code: String, Sendable, CaseIterable {
    /// This is not the server the device belongs to.
    case otherServer
    /// The server has no package of this name and version.
    case unknownPackage
    /// The server does not speak this version of the protocol.
    case protocolVersion
    /// A message came that makes no sense here.
    case badMessage
    case tooManyOperations
    /// The user's claims make a subscription of more partitions than a device can have.
    case tooManyPartitions
    /// A newer channel took the place of this one.
    case replaced
    case `internal`
  }

  public let code: Code
  public let message: String
  public let hint: String

  public init(_ code: Code, _ message: String, hint: String) {
    self.code = code
    self.message = message
    self.hint = hint
  }
}
