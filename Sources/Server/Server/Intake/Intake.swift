import FerryConnector
import FerryModel
import FerryWorld

/// What comes from the business system into the cache: loads, read-backs, hints and looks.
final class Intake: ServiceRoom {
  let core: ServiceCore
  let loads: LoadWork
  /// What loads have come to, by what they read.
  private var loadMachines: [LoadKind: LoadMachine] = [:]
  var load: ActiveLoad?
  /// What a comparison in slices has seen; nil while there is none.
  var compared: (work: LoadWork, since: Int64, connection: Int)?
  /// Objects to be read from the business system, and when each was first met.
  var readAgain: [ObjectName: Int64] = [:]
  var reads: [Int64: ReadBackTask] = [:]
  /// Of each connection.
  var followed: [FollowedConnection]
  /// As the store has them; nil while they were not read.
  var keptCursors: SourceCursors?
  var noticeMarks = NoticeMarks()
  var noticeBrake = NoticeBrake()
  /// Whether the last move of a window failed.
  var hasWindowTrouble = false
  /// What no device gets; on a node that follows, as it was when it was last asked for.
  var rejectedRows = RejectedRows()

  init(core: ServiceCore) {
    self.core = core
    loads = LoadWork(core.store, core.cache)
    followed = core.rules.connections.names.map { _ in FollowedConnection() }
  }

  /// A load that a stop has left is forgotten.
  func begin() throws(ServerError) { try guarded { () throws(StoreError) in try loads.begin() } }

  /// Decides which deletions of a load are believed.
  func loadMachine(of kind: LoadKind) -> LoadMachine {
    loadMachines[kind] ?? LoadMachine(massDeletionRows: limits.massDeletionRows)
  }

  func keep(_ machine: LoadMachine, of kind: LoadKind) { loadMachines[kind] = machine }

  /// What no device gets, as the store has it.
  func readRejectedRows() throws(StoreError) { rejectedRows = try store.rejectedRows() }

  /// Whether the object is read from the business system once more.
  func isListed(_ name: ObjectName) -> Bool { readAgain[name] != nil }
}
