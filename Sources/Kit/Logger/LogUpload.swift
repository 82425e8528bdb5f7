import FerryWorld
import Synchronization

/// Sends records to a server. The app implements it, or the requests of its OData part.
public protocol LogReceiver: Sendable {
  /// Sends one body and returns when the server has it; throws when it may not have it.
  func send(_ body: [UInt8], contentType: String) async throws
}

/// Collects records for a server until the app uploads them.
///
/// At most 10,000 wait; beyond that the oldest are dropped, and the next upload says how many. The
/// handler never uploads by itself: the app calls `upload`.
public final class LogUpload: LogHandler {
  /// The maximum number of records that wait.
  public static let countLimit = 10_000
  /// The maximum number of records of one request.
  public static let bodyCount = 500

  private struct State {
    var ring = RecordRing(pieceSize: 200)
    var dropped = 0
    var isUploading = false
  }

  private let receiver: any LogReceiver
  private let formatter: any LogFormatter
  private let header: LogHeader
  private let state = Mutex(State())

  public init(
    to receiver: any LogReceiver, header: LogHeader = LogHeader(),
    formatter: any LogFormatter = TextLogFormatter()
  ) {
    self.receiver = receiver
    self.header = header
    self.formatter = formatter
  }

  /// The number of records that wait.
  public var count: Int { state.withLock { $0.ring.count } }

  public func handle(_ record: LogEntry) {
    let old = state.withLock { state -> [LogEntry] in
      let old = state.ring.count >= Self.countLimit ? state.ring.removeOldest() : []
      state.dropped += old.count
      state.ring.append(record)
      return old
    }
    // Released here, where nobody waits for the lock.
    _ = old
  }

  /// Sends the waiting records, oldest first, as compressed text in bodies of up to 500 records.
  ///
  /// Records are removed only after the receiver has returned: a record may be sent twice, and is
  /// never lost. Returns the number of sent records; 0 while another upload runs. Throws `.upload`.
  public func upload() async throws(LogError) -> Int {
    let mayUpload = state.withLock { state -> Bool in
      if state.isUploading { return false }
      state.isUploading = true
      return true
    }
    guard mayUpload else { return 0 }
    defer { state.withLock { $0.isUploading = false } }
    var sent = 0
    while true {
      let next = state.withLock { state in
        (Array(state.ring.all { _ in true }.prefix(Self.bodyCount)), state.dropped)
      }
      guard let last = next.0.last else { return sent }
      var export = LogExport(header: header, records: next.0, formatter: formatter).text
      if next.1 > 0 { export += "\(next.1) records were dropped before these\n" }
      let body: [UInt8]
      do {
        body = try LogExport.compressed(export)
        try await receiver.send(body, contentType: "application/gzip")
      } catch {
        throw LogError(.upload, "\(next.0.count) records were not uploaded: \(error)")
      }
      state.withLock { state in
        state.ring.keep { $0.number > last.number }
        state.dropped -= next.1
      }
      sent += next.0.count
    }
  }
}
