import FerryPostgreSQL
import Foundation
import Glibc
import Synchronization

/// A line to PostgreSQL that breaks at a word: the statement with that word never arrives, or its
/// answer never comes back.
final class Cutter: Sendable {
  struct Cut: Sendable {
    /// Part of the statement.
    let word: String
    /// Whether the server gets the statement.
    let isDone: Bool
    /// So many bytes of the answer still arrive.
    var answerBytes: Int = 0
  }

  private let folder: String
  private let upstream: String
  private let listener: Int32
  private let armed = Mutex<Cut?>(nil)
  private let cuts = Atomic<Int>(0)

  init(before cluster: Cluster) throws {
    var template = Array("/tmp/ferry-cutter.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Cluster.ClusterFailure() }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    upstream = "\(cluster.socket)/.s.PGSQL.5432"
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let path = "\(folder)/.s.PGSQL.5432"
    guard Cutter.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0
    else {
      throw Cluster.ClusterFailure()
    }
    Thread.detachNewThread { [listener, weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { return }
        self.serve(client)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The address of a database of the cluster behind the line.
  func address(_ database: String) throws -> PostgreSQLAddress {
    try PostgreSQLAddress("postgres:host=\(folder) user=ferry dbname=\(database)")
  }

  /// The next statement with the word breaks its line; later ones pass.
  func arm(_ cut: Cut) { armed.withLock { $0 = cut } }

  /// How many lines were broken.
  var count: Int { cuts.load(ordering: .sequentiallyConsistent) }

  private func takeCut(_ bytes: ArraySlice<UInt8>) -> Cut? {
    armed.withLock { armed in
      guard let cut = armed, Cutter.contains(bytes, Array(cut.word.utf8)) else { return nil }
      armed = nil
      return cut
    }
  }

  private static func contains(_ bytes: ArraySlice<UInt8>, _ word: [UInt8]) -> Bool {
    Data(bytes).range(of: Data(word)) != nil
  }

  private func serve(_ client: Int32) {
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard Cutter.withAddress(upstream, { connect(server, $0, $1) }) == 0 else {
      close(client)
      close(server)
      return
    }
    /// Bytes of answers that may still pass; nil where all may.
    let rest = Shared()
    let ends = DispatchGroup()
    ends.enter()
    ends.enter()
    Thread.detachNewThread { [self] in
      Cutter.pump(from: client, to: server) { bytes in
        guard let cut = takeCut(bytes) else { return true }
        cuts.add(1, ordering: .sequentiallyConsistent)
        guard cut.isDone else { return false }
        rest.bytes.withLock { $0 = cut.answerBytes }
        return true
      }
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
      ends.leave()
    }
    Thread.detachNewThread {
      var left: Int?
      Cutter.pump(from: server, to: client) { bytes in
        if left == nil { left = rest.bytes.withLock { $0 } }
        guard let now = left else { return true }
        left = now - bytes.count
        return now >= bytes.count
      }
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
      ends.leave()
    }
    ends.notify(queue: .global()) {
      close(client)
      close(server)
    }
  }

  private final class Shared: Sendable {
    let bytes = Mutex<Int?>(nil)
  }

  private static func pump(
    from source: Int32, to target: Int32, passes: (ArraySlice<UInt8>) -> Bool
  ) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      guard count > 0, passes(buffer[..<count]) else { return }
      var sent = 0
      while sent < count {
        let more = buffer[sent..<count].withUnsafeBytes {
          send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard more > 0 else { return }
        sent += more
      }
    }
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
