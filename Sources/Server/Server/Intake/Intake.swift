import FerryConnector
import FerryModel
import FerryWorld

/// What comes from the business system into the cache: loads, read-backs, hints and looks.
final class Intake: ServiceRoom {
  let core: ServiceCore
  let loads: LoadWork
  var loadMachine: LoadMachine
  var load: ActiveLoad?
  /// What a comparison in slices has seen; nil while there is none.
  var compared: (work: LoadWork, since: Int64)?
  /// Objects to be read from the business system, and when each was first met.
  var readAgain: [ObjectName: Int64] = [:]
  var reads: [Int64: ReadBackTask] = [:]
  var cursors = CursorMachine()
  var freshness = Freshness()
  /// When looks began whose findings are not all read.
  var lookMoments: [Int64: Timestamp] = [:]
  /// Noted before the business system was asked, of looks whose answer may hold rows.
  var lookMarks: [Int64: Mark] = [:]
  /// What no device gets; on a node that follows, as it was when it was last asked for.
  var rejectedRows = RejectedRows()

  init(core: ServiceCore) {
    self.core = core
    loads = LoadWork(core.store, core.cache)
    loadMachine = LoadMachine(massDeletionRows: core.limits.massDeletionRows)
  }

  /// A load that a stop has left is forgotten.
  func begin() throws(ServerError) { try guarded { () throws(StoreError) in try loads.begin() } }

  /// What no device gets, as the store has it.
  func readRejectedRows() throws(StoreError) { rejectedRows = try store.rejectedRows() }

  /// Whether the object is read from the business system once more.
  func isListed(_ name: ObjectName) -> Bool { readAgain[name] != nil }
}
