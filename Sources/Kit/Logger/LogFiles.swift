import FerryWorld
import Synchronization

/// Keeps the records in two files, so that they exist after the process was killed.
///
/// Each record is written at once. When a file is full, the older of the two files is overwritten,
/// without a pause: the files hold the latest 5,000 to 10,000 records. On a full disk records are
/// lost, and the app's call still succeeds; `lostCount` says how many.
public final class LogFiles: LogHandler {
  /// The most records of one file.
  public static let fileCountLimit = 5_000
  /// The most bytes of one file.
  public static let fileLimitBytes = 8 << 20

  private struct State {
    var writer: (any FileWriter)?
    var current = 0
    var count = 0
    var bytes = 0
    var lost = 0
  }

  private let files: any FileAccess
  private let folder: String
  private let state: Mutex<State>
  /// The records of earlier runs, the oldest first, for `DeviceLog.restore`.
  public let earlier: [LogEntry]

  /// Creates the folder if it is missing and reads the existing files. A line that a crash has cut
  /// is left out. Throws `.store` and `.unknownVersion`.
  public init(folder: String, files: any FileAccess = SystemFiles()) throws(LogError) {
    self.files = files
    self.folder = folder
    var read: [(place: Int, records: [LogEntry])] = []
    do throws(FileError) {
      try files.createFolder(folder)
      for place in 0..<2 {
        let path = LogFiles.path(folder, place)
        if let bytes = try files.read(path, atMost: 4 * Self.fileLimitBytes) {
          read.append((place, try LogFiles.records(bytes, path)))
        }
      }
    } catch {
      throw LogError(.store, error.description)
    }
    read.sort { ($0.records.last?.number ?? 0) < ($1.records.last?.number ?? 0) }
    earlier = read.flatMap(\.records)
    let newest = read.last?.place ?? 1
    state = Mutex(State(current: newest, count: Self.fileCountLimit))
  }

  /// The number of records that were not written, because the disk was full or the folder was
  /// missing.
  public var lostCount: Int { state.withLock { $0.lost } }

  public func handle(_ record: LogEntry) {
    let line = LogFormat.line(record)
    state.withLock { state in
      do throws(FileError) {
        let isFull =
          state.count >= Self.fileCountLimit || state.bytes + line.count > Self.fileLimitBytes
        if state.writer == nil || isFull {
          state.writer = nil
          let next = 1 - state.current
          let writer = try files.create(LogFiles.path(folder, next))
          try writer.write(Array((LogFormat.header + "\n").utf8))
          state.writer = writer
          state.current = next
          state.count = 0
          state.bytes = 0
        }
        try state.writer?.write(line)
        state.count += 1
        state.bytes += line.count
      } catch {
        // The rest of a half-written line must not become part of the next one.
        state.writer = nil
        state.lost += 1
      }
    }
  }

  private static func path(_ folder: String, _ place: Int) -> String { "\(folder)/log.\(place)" }

  private static func records(_ bytes: [UInt8], _ path: String) throws(FileError) -> [LogEntry] {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    guard let first = lines.first, String(decoding: first, as: UTF8.self) == LogFormat.header else {
      return []
    }
    // What stands behind the last line end was cut.
    lines.removeLast()
    return lines.dropFirst().compactMap { LogFormat.record($0) }
  }
}
