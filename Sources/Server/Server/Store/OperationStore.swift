import FerryModel
import FerryWire
import FerryWorld

/// Operations of devices, from their arrival to the day on which they are forgotten.
package protocol OperationStore: AnyObject {
  /// What is remembered under these ids, in their order.
  func known(_ ids: [OperationID]) throws(StoreError) -> [KnownOperation?]
  /// What has come of chains of this owner; one of which nothing has come is left out.
  func members(
    of chains: [OperationID], _ owner: Owner
  ) throws(StoreError) -> [OperationID: [ChainMember]]
  /// Takes them in; each gets its place in the order of arrival.
  func receive(_ operations: [NewOperation]) throws(StoreError) -> [ReceivedOperation]
  /// The device keeps these answers: payload and answer are emptied; what remains knows the operation
  /// again, from today on for as long as operations are remembered. An answer with `writtenMark` stays
  /// with it: a copy of the device may have changes that wait behind the operation. A refused one stays
  /// whole until `emptyRefused`: an operator may correct it.
  func confirm(_ ids: [OperationID], upTo version: Int64, user: String) throws(StoreError)
  /// What is left of an operation that has ended; nil where it has not.
  func ended(_ id: OperationID) throws(StoreError) -> EndedOperation?
  /// A confirmed answer is to be given once more.
  func answerAgain(_ id: OperationID, _ answer: [UInt8]) throws(StoreError)
  /// Chains of the owner whose operations are all answered, and some not confirmed.
  func finishedChains(of owner: Owner) throws(StoreError) -> [OperationID]

  /// What a stop or a crash left, in the order of arrival. Claims are given back: each may have been
  /// performed.
  func takeUp() throws(StoreError) -> [(ReceivedOperation, wasClaimed: Bool)]
  /// In the order of the ids. Throws where one is missing.
  func operations(_ ids: [OperationID]) throws(StoreError) -> [ReceivedOperation]
  /// nil where this user has no such operation.
  func state(of id: OperationID, user: String) throws(StoreError) -> OperationState?
  /// Those of unknown outcome that may be performed again.
  func unknownOperations() throws(StoreError) -> [OperationID]
  /// Notes what is known of these, in place of what was known before.
  func note(_ outcomes: [UnknownOutcome]) throws(StoreError)
  /// What is known of those of unknown outcome that may be decided.
  func unknownOutcomes() throws(StoreError) -> [UnknownOutcome]
  /// Before anything is performed, and durable. Notes the time of the first claim since it was known
  /// that the operation was not performed.
  func claim(_ claims: [(ids: [OperationID], mark: Mark)]) throws(StoreError)
  func release(_ ids: [OperationID], mayHaveRun: Bool) throws(StoreError)
  func answer(_ answers: [Answer], _ transaction: NumberedTransaction) throws(StoreError)

  /// Those of these operations that this user sent to other packages of the store.
  func elsewhere(_ ids: [OperationID], user: String) throws(StoreError) -> [OperationElsewhere]
  /// They are this package's from now on; the groups are in the order of the ids. `isWaiting`: they are
  /// to be performed, and those that were claimed may have been performed. Otherwise only their
  /// answers are this package's.
  func takeOver(
    _ ids: [OperationID], groups: [String], isWaiting: Bool
  ) throws(StoreError)
}

/// An operation that another package of the same store took in, such as an older version.
package struct OperationElsewhere: Sendable {
  package let id: OperationID
  /// Name and version.
  package let package: String
  package let chain: OperationID
  package let state: OperationState
  /// The object: of a create that was accepted, under its new key.
  package let entity: String
  package let key: ObjectKey?
  /// As it travelled.
  package let payload: [UInt8]?
  package let answer: Answer?
  /// Whether the business system may know it.
  package let mayHaveRun: Bool

  package init(
    id: OperationID, package: String, chain: OperationID, state: OperationState, entity: String,
    key: ObjectKey?, payload: [UInt8]?, answer: Answer?, mayHaveRun: Bool
  ) {
    self.id = id
    self.package = package
    self.chain = chain
    self.state = state
    self.entity = entity
    self.key = key
    self.payload = payload
    self.answer = answer
    self.mayHaveRun = mayHaveRun
  }
}

extension OperationStore {
  package func operation(_ id: OperationID) throws(StoreError) -> ReceivedOperation {
    try operations([id])[0]
  }
}

/// The life of an operation on the server.
package enum OperationState: String, Sendable {
  /// Taken in, to be performed.
  case stored
  /// Being performed.
  case claimed
  /// Ended; the device has not confirmed that it keeps the answer.
  case answered
  /// Ended; payload and answer were emptied, but for what the business system wrote otherwise, and
  /// of what was refused not long ago.
  case confirmed
}

/// An operation that the server has taken in.
package struct ReceivedOperation: Sendable {
  package let sequence: Int64
  package let device: String
  package let user: String
  package let roles: [String]
  package let claims: [String: [String]]
  package let operation: Operation
  package let mayHaveRun: Bool
  /// As it travelled.
  package let bytes: Int
  /// When it was first handed to the business system, by the time of day; nil where it was not, or
  /// where nobody noted it.
  package let sentAt: Timestamp?

  package init(
    sequence: Int64, device: String, user: String, roles: [String], claims: [String: [String]],
    operation: Operation, mayHaveRun: Bool, bytes: Int, sentAt: Timestamp? = nil
  ) {
    self.sequence = sequence
    self.device = device
    self.user = user
    self.roles = roles
    self.claims = claims
    self.operation = operation
    self.mayHaveRun = mayHaveRun
    self.bytes = bytes
    self.sentAt = sentAt
  }

  var owner: Owner { Owner(device: device, user: user) }
}

/// An operation as it arrives.
package struct NewOperation: Sendable {
  package let operation: Operation
  package let bytes: [UInt8]
  package let hash: [UInt8]
  package let owner: Owner
  package let roles: [String]
  package let claims: [String: [String]]
  package let mayHaveRun: Bool

  package init(
    operation: Operation, bytes: [UInt8], hash: [UInt8], owner: Owner, roles: [String],
    claims: [String: [String]], mayHaveRun: Bool
  ) {
    self.operation = operation
    self.bytes = bytes
    self.hash = hash
    self.owner = owner
    self.roles = roles
    self.claims = claims
    self.mayHaveRun = mayHaveRun
  }
}

/// What the store remembers under an operation's id.
package struct KnownOperation: Sendable, Equatable {
  package let user: ExactText
  package let hash: [UInt8]
  package let state: OperationState
  package let outcome: Answer.Outcome?
  /// Whether it can still be performed.
  package var hasPayload: Bool = false
  /// Another package of the store took it in.
  package var isElsewhere: Bool = false

  package init(
    user: ExactText, hash: [UInt8], state: OperationState, outcome: Answer.Outcome?,
    hasPayload: Bool = false, isElsewhere: Bool = false
  ) {
    self.user = user
    self.hash = hash
    self.state = state
    self.outcome = outcome
    self.hasPayload = hasPayload
    self.isElsewhere = isElsewhere
  }
}

/// One operation of a chain.
package struct ChainMember: Sendable {
  package let position: Int
  package let count: Int
  package let outcome: Answer.Outcome?

  package init(position: Int, count: Int, outcome: Answer.Outcome?) {
    self.position = position
    self.count = count
    self.outcome = outcome
  }
}

/// What is left of an operation that has ended.
package struct EndedOperation: Sendable {
  package let outcome: Answer.Outcome
  package let version: Int64
  package let newKey: ObjectKey?
  /// nil where it was confirmed, and nothing was written otherwise than sent.
  package let answer: [UInt8]?
  package let entity: String
  package let kind: OperationKind
  package let objectKey: String
  /// In the bytes of each answer that says what the business system wrote otherwise than sent, and of no
  /// other: in a text the quotes are escaped.
  package static let writtenMark: [UInt8] = Array(#""written":{"#.utf8)

  package init(
    outcome: Answer.Outcome, version: Int64, newKey: ObjectKey?, answer: [UInt8]?, entity: String,
    kind: OperationKind, objectKey: String
  ) {
    self.outcome = outcome
    self.version = version
    self.newKey = newKey
    self.answer = answer
    self.entity = entity
    self.kind = kind
    self.objectKey = objectKey
  }
}
