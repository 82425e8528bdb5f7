import FerryModel

/// What nodes that share a store learn from each other. A store with one server has nothing to tell.
package protocol NodeStore: AnyObject {
  /// Whether several nodes may use it.
  var isShared: Bool { get }
  /// What was committed since the last look, in one state of the store, for a node that follows.
  func news() throws(StoreError) -> StoreNews?
  /// For the leader: operations that wait and that a node has taken in, or noted, since the last
  /// look. One that is known may be among them.
  func arrivals() throws(StoreError) -> [ReceivedOperation]
  /// What waits of a device and its user, whichever node took it in; nil where the one server knows.
  func waiting(of owner: Owner) throws(StoreError) -> WaitingOperations?
  /// How many operations wait, whichever node took them in; nil where the one server knows.
  func waitingOperations() throws(StoreError) -> Int?
  /// For the leader's `arrivals`: the device has these open, or a content of theirs has come.
  func tell(_ open: [OperationID], of owner: Owner, hasNews: Bool) throws(StoreError)
  /// Grows with each commit that may have ended a session, at whichever node.
  func sessionChanges() throws(StoreError) -> Int64
}

extension NodeStore {
  package var isShared: Bool { false }
  package func news() throws(StoreError) -> StoreNews? { nil }
  package func arrivals() throws(StoreError) -> [ReceivedOperation] { [] }
  package func waiting(of owner: Owner) throws(StoreError) -> WaitingOperations? { nil }
  package func waitingOperations() throws(StoreError) -> Int? { nil }
  package func tell(_ open: [OperationID], of owner: Owner, hasNews: Bool) throws(StoreError) {}
  package func sessionChanges() throws(StoreError) -> Int64 { 0 }
}

/// What a node that follows must know of what the leader has done.
package struct StoreNews: Sendable {
  package let clock: Int64
  /// Partitions that have changed.
  package var partitions: Set<Int64> = []
  package var answered: [AnsweredOperation] = []
  /// Another leader has begun, or the store went back in time: nothing that is remembered holds.
  package var isNewEra: Bool = false
  /// Partitions were removed, or their floors raised.
  package var haveBeenRemoved: Bool = false
  /// The first load has ended, or a day has.
  package var isNewDay: Bool = false

  package init(clock: Int64) { self.clock = clock }
}

/// How much waits for its answer.
package struct WaitingOperations: Sendable, Equatable {
  package let ofDevice: Int
  package let ofUser: Int
  package let bytesOfUser: Int

  package init(ofDevice: Int, ofUser: Int, bytesOfUser: Int) {
    self.ofDevice = ofDevice
    self.ofUser = ofUser
    self.bytesOfUser = bytesOfUser
  }
}
