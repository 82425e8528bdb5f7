import FerryModel
import FerryWire
import FerryWorld

/// How far an exchange has come.
struct ExchangeState {
  enum Phase { case downloading, waiting, ended }

  let identity: Identity
  var hello: Hello
  /// Groups that are asked for, in the order of the pulls.
  let pulls: [Pull]
  let isChannel: Bool
  let until: Timestamp
  var phase: Phase
  /// Whole frames that wait to be sent before anything else.
  var ready: [UInt8] = []
  var downloads: [Download] = []
  /// Positions in `downloads` that have something new.
  var dirty: [Int] = []
  /// A round that a reader reads, or has read. Its download is not dirty unless something came since.
  var reading: PendingRead?
  var rightsVersion: String = ""
  /// What its user had when it was last welcomed.
  var grants = Grants()
  /// Whether the partitions may change while the claims stay.
  var isOpen: Bool = false
  /// The store failed before anything was answered.
  var trouble: ServerError?
  /// The user's personalization keys changed: the rights are looked at again.
  var isStale: Bool = false
  /// Said at the end, after everything else.
  var lastWord: WireFailure?
  /// Chains that ended and were not reported, for a channel that streams no rows.
  var finished: [OperationID] = []
  /// Something changed since the device was last notified, for a channel that streams no rows.
  var hasNews: Bool = false
  /// Of which groups a channel without rows has notices, and when.
  var notices = NoticeMachine(wanted: nil)
  /// The group of each partition of a channel that its device named groups for.
  var groups: [Int64: String] = [:]
  /// The templates changed: an open channel looks whether its device has older settings.
  var isSettingsStale: Bool = false
  /// An operator has corrected something: an open channel tells its device.
  var hasCorrections: Bool = false
  /// Of a channel with news that have not left: the business system may have had them since then.
  var newsSince: Timestamp?
  /// Until when the pages of the answer wait for the replay of `heldFor`; nil where it does not.
  var holdUntil: Timestamp?
  /// The look for changes of others that a device waits for which asks whether it is current.
  var looksNeeded: NeededLooks?
  /// What the cache groups have answered, and until when the pages wait for one of their loads.
  var groupsNeeded: NeededGroups?
  var groupsUntil: Timestamp?
  /// Whether pages are held back for rows that are read just now.
  var isHeldForRows: Bool { groupsUntil != nil || looksNeeded != nil && holdUntil != nil }

  /// Whether the pages still wait for a load of a cache group. What ends the wait is noted.
  mutating func waits(_ groups: CacheGroups, at now: Timestamp) -> Bool {
    if let until = groupsUntil, now < until, let groupsNeeded, !groups.areDone(groupsNeeded) {
      return true
    }
    groupsUntil = nil
    return false
  }
  /// Operations of the device that were not answered when the request came.
  var heldFor: [OperationID] = []
  /// Whether a channel has to end: its token is not good any more, or its time is over.
  func isOver(at now: Timestamp) -> Bool { now >= until || !identity.isGood(at: now) }
  var owner: Owner { Owner(device: hello.device, user: identity.user) }
}
