import FerryConnector
import FerryModel
import FerryWire

/// Operations as an operator looks for them, and what the operator wants done with refused ones.
package protocol DeskStore: AnyObject {
  /// Operations of the package that the filter takes, the newest first, that came before `sequence`.
  func deskOperations(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(StoreError) -> [DeskOperation]
  /// How many wait, were refused and are kept whole, and have an unknown outcome. It looks at no others,
  /// of which there are many.
  func deskCounts() throws(StoreError) -> DeskCounts
  /// How many devices the register has, how many of them were here since a moment, and how many are
  /// locked or wiped.
  func deviceCounts(since moment: Int64) throws(StoreError) -> DeviceCounts
  /// False: another correction of the operation is open.
  func add(_ correction: StoredCorrection) throws(StoreError) -> Bool
  /// All of these operations, the oldest first.
  func corrections(of operations: [OperationID]) throws(StoreError) -> [StoredCorrection]
  /// Those that the device has not done yet, the oldest first, at most `count`.
  func openCorrections(of owner: Owner, count: Int) throws(StoreError) -> [StoredCorrection]
  /// Gives the correction as it is now; nil: the owner has no open one of this id.
  func end(
    _ id: OperationID, of owner: Owner, as state: StoredCorrection.State, detail: String,
    became operation: OperationID?, at moment: Int64
  ) throws(StoreError) -> StoredCorrection?
  /// Log records that devices of the package have sent, the newest first, that came before `number`.
  func reports(
    _ question: DeviceReport.Question, before number: Int64?
  ) throws(StoreError) -> [DeviceReport]
  /// Rows of the business system that no device gets, by entity and key, at most `count`.
  func leftOutRows(count: Int) throws(StoreError) -> [RejectedRow]
  /// Payload and answer of refused operations that their devices confirmed so long ago are emptied, and
  /// corrections that ended so long ago are forgotten. What was discarded since `moment` stays whole.
  func emptyRefused(afterDays days: Int64, before moment: Int64) throws(StoreError)
}

/// How many operations somebody may have to look at.
package struct DeskCounts: Sendable, Equatable {
  package var waiting: Int64 = 0
  package var refused: Int64 = 0
  package var unknown: Int64 = 0

  package init(waiting: Int64 = 0, refused: Int64 = 0, unknown: Int64 = 0) {
    self.waiting = waiting
    self.refused = refused
    self.unknown = unknown
  }
}

/// How many devices there are.
package struct DeviceCounts: Sendable, Equatable {
  package var all: Int64 = 0
  package var recent: Int64 = 0
  package var ended: Int64 = 0

  package init(all: Int64 = 0, recent: Int64 = 0, ended: Int64 = 0) {
    self.all = all
    self.recent = recent
    self.ended = ended
  }
}

/// What an operator sees of an operation's life.
package enum DeskState: String, Sendable, CaseIterable {
  case waiting
  case accepted
  case refused
  /// Refused as one of a chain, or sent again by its device.
  case notTried
  case unknown

  package init(_ state: OperationState, _ outcome: Answer.Outcome?) {
    switch outcome {
    case .replayResult?: self = .accepted
    case .replayFailed?: self = .refused
    case .notTried?: self = .notTried
    case .unknown?: self = .unknown
    case nil: self = .waiting
    }
  }
}

/// What an operator looks for; every condition that is set must be true.
package struct DeskFilter: Sendable, Equatable {
  package var id: OperationID?
  package var user: String?
  package var device: String?
  package var entity: String?
  /// The key as text.
  package var key: String?
  package var chain: OperationID?
  package var state: DeskState?
  /// Refused, kept whole, not done with by an operator, and not followed by a newer change of the same
  /// object from the same device.
  package var isOpen: Bool = false
  /// Refused, kept whole, cancelled on its device by an operator, and not restored since.
  package var isDiscarded: Bool = false

  package init() {}
}

/// An operation as the store has it.
package struct DeskOperation: Sendable {
  package let sequence: Int64
  package let id: OperationID
  package let owner: Owner
  package let chain: OperationID
  package let position: Int
  package let count: Int
  package let entity: String
  package let kind: OperationKind
  /// As text; nil where the business system gives the key.
  package let key: String?
  package let newKey: String?
  package let state: DeskState
  package let isClaimed: Bool
  package let mayHaveRun: Bool
  /// As it travelled; nil where it is kept no more.
  package let payload: [UInt8]?
  package let answer: [UInt8]?

  package init(
    sequence: Int64, id: OperationID, owner: Owner, chain: OperationID, position: Int, count: Int,
    entity: String, kind: OperationKind, key: String?, newKey: String?, state: DeskState,
    isClaimed: Bool, mayHaveRun: Bool, payload: [UInt8]?, answer: [UInt8]?
  ) {
    self.sequence = sequence
    self.id = id
    self.owner = owner
    self.chain = chain
    self.position = position
    self.count = count
    self.entity = entity
    self.kind = kind
    self.key = key
    self.newKey = newKey
    self.state = state
    self.isClaimed = isClaimed
    self.mayHaveRun = mayHaveRun
    self.payload = payload
    self.answer = answer
  }

  /// The server's words about it.
  package var records: [LogRecord] {
    answer.flatMap { try? Answer(json: $0) }?.logRecords ?? []
  }
}

/// A correction as it is kept.
package struct StoredCorrection: Sendable, Equatable {
  /// The name is kept in the store.
  package enum State: String, Sendable {
    /// Its device has not done it yet.
    case open
    /// What the device said.
    case taken, kept, absent, invalid
    /// The operator took it back before the device had done it.
    case withdrawn
  }

  package let id: OperationID
  /// The refused operation and whose it is.
  package let operation: OperationID
  package let owner: Owner
  package let verb: Correction.Verb
  /// Values under the names of attributes, as JSON.
  package var changed: String = "{}"
  package var seen: String = "{}"
  /// For the user of the device.
  package var message: String = ""
  /// Who made it, and why.
  package var madeBy: String = ""
  package var reason: String = ""
  /// In milliseconds since 1970.
  package var made: Int64 = 0
  package var state: State = .open
  /// What the device said beside its state.
  package var detail: String = ""
  /// The operation under which the device sent the new form.
  package var became: OperationID?
  package var ended: Int64?

  package init(id: OperationID, operation: OperationID, owner: Owner, verb: Correction.Verb) {
    self.id = id
    self.operation = operation
    self.owner = owner
    self.verb = verb
  }

  /// As it travels to the device.
  package var wire: Correction {
    var correction = Correction(id: id, operation: operation, verb: verb)
    correction.changed = changed
    correction.seen = seen
    correction.message = message
    return correction
  }
}
