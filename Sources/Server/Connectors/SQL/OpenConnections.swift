import FerryConnector
import FerrySQLite
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The connections of one connector to its file.
///
/// Somebody may overwrite the file in place and remove its write-ahead log. SQLite then goes on with
/// the log of before, which nobody else sees, and copies it over what was put there. All connections
/// of a process share one index of the log. So the file is opened again only when the last of them is
/// closed, whichever connector has it.
final class OpenConnections: Sendable {
  /// Which file the index of the write-ahead log is.
  struct LogIndex: Equatable {
    let device: UInt64
    let file: UInt64

    /// Nil where there is none.
    init?(of path: String) {
      var facts = stat()
      guard stat(path, &facts) == 0 else { return nil }
      device = UInt64(facts.st_dev)
      file = UInt64(facts.st_ino)
    }
  }

  private struct Weak {
    weak var connections: OpenConnections?
  }

  private static let all = Mutex<[Weak]>([])

  private let path: String
  private let pair = SharedObject(Pair())
  /// The index that the open connections use; nil where there are none, or no log.
  private let index = Mutex<LogIndex?>(nil)

  private final class Pair {
    var writer: Writer?
    var reader: Connection?
  }

  /// Both only inside of `use`.
  var writer: Writer? {
    get { pair.withObject { $0.writer } }
    set { pair.withObject { $0.writer = newValue } }
  }
  var reader: Connection? {
    get { pair.withObject { $0.reader } }
    set { pair.withObject { $0.reader = newValue } }
  }

  init(_ path: String) {
    self.path = path
    OpenConnections.all.withLock { all in
      all.removeAll { $0.connections == nil }
      all.append(Weak(connections: self))
    }
  }

  /// Nobody closes the connections while `body` runs.
  func use<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try pair.withObject { (_) throws(Failure) in try body() }
  }

  /// Closes what is open on a file that was overwritten, here and in other connectors. To be called
  /// before each use of a connection. Throws while another connector is still at work with it.
  func closeOverwritten() throws(ConnectorError) {
    let place = indexPath
    let now = LogIndex(of: place)
    let isOverwritten = self.isOverwritten(now)
    guard isOverwritten || writer == nil || reader == nil else { return }
    if isOverwritten { close() }
    let others = OpenConnections.all.withLock { $0.compactMap(\.connections) }
    for other in others where other !== self && other.indexPath == place {
      guard !other.isOverwritten(now) || other.closeIfIdle() else {
        throw ConnectorError(
          "The business database \(path) was overwritten while it was open",
          hint: "It is opened again when what is being read has ended.", isTransient: true)
      }
    }
  }

  /// To be called after each opening.
  func noteIndex() { index.withLock { $0 = $0 ?? LogIndex(of: indexPath) } }

  /// SQLite keeps the index beside the file that a link leads to.
  private var indexPath: String {
    guard let real = realpath(path, nil) else { return "\(path)-shm" }
    defer { free(real) }
    return "\(String(cString: real))-shm"
  }

  private func isOverwritten(_ now: LogIndex?) -> Bool {
    index.withLock { $0 != nil && $0 != now }
  }

  private func closeIfIdle() -> Bool { pair.withObjectIfFree { _ in close() } }

  /// What is left in the log of before belongs to what was overwritten.
  private func close() {
    writer?.connection.leavesLog()
    reader?.leavesLog()
    writer = nil
    reader = nil
    index.withLock { $0 = nil }
  }
}
