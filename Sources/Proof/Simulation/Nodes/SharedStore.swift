import FerryModel
import FerrySQLite
import FerrySQLiteStore
import FerryServer
import FerryWire
import FerryWorld

/// The store of several nodes: one file in the place of PostgreSQL, with the lease and the term of
/// the node that leads (Decision 0050). Everything in it happens at one moment, as in a database that
/// locks the package's row.
final class SharedStore {
  let file: SQLiteFile
  let package: Package
  let planted: Set<PlantedBug>
  private let time: SimulatedTime
  /// As the last term has opened it, with an era of its own.
  private(set) var rows: SQLiteStore
  /// Raised by each node that begins to lead.
  private(set) var term = 1
  private(set) var holder = 0
  /// When another node may take the lease, in milliseconds.
  private var leaseEnds: Int64 = SharedStore.lease
  /// Operations that were taken in, or named by their devices, in this order.
  private(set) var touched: [OperationID] = []
  /// In which term a device last named an operation to a node that follows.
  private var named: [OperationID: Int] = [:]
  /// The answer to the next commit of a numbered transaction is lost.
  var losesAnswer = false
  /// Grows with each write that may end a session.
  var sessionChanges: Int64 = 0

  /// How long a lease lasts that nobody renews.
  static let lease: Int64 = 3_000

  /// The first node leads.
  init(
    _ file: SQLiteFile, _ package: Package, planted: Set<PlantedBug>, _ time: SimulatedTime
  ) throws(ServerError) {
    self.file = file
    self.package = package
    self.planted = planted
    self.time = time
    rows = try SQLiteStore(file, package: package)
  }

  /// A new term for this node; nil while another one has the lease.
  func takeLease(for node: Int) throws(ServerError) -> Int? {
    guard time.milliseconds >= leaseEnds else { return nil }
    term += 1
    holder = node
    leaseEnds = time.milliseconds + SharedStore.lease
    rows = try SQLiteStore(file, package: package)
    return term
  }

  /// False where another term has begun.
  func renew(_ term: Int) -> Bool {
    guard term == self.term else { return false }
    leaseEnds = time.milliseconds + SharedStore.lease
    return true
  }

  func touch(_ ids: [OperationID]) { touched += ids }

  /// A device has named these to a node that follows: once in a term, unless there is news.
  func name(_ ids: [OperationID], hasNews: Bool) {
    for id in ids where hasNews || named[id] != term {
      named[id] = term
      touched.append(id)
    }
  }

  func takeLostAnswer() -> Bool {
    defer { losesAnswer = false }
    return losesAnswer
  }
}
