import FerryWorld
import Foundation
import Synchronization

/// The log of an app: the latest records in memory, and each of them given to handlers.
///
/// The level is `.error` until the app sets another. A call below the level costs one comparison; its
/// message is not even made. All calls may come from any thread. The log does not judge what it is
/// given: whoever logs keeps secrets out of it.
///
/// ```swift
/// let log = DeviceLog(world: .system())
/// log.level = .info
/// log.info("flights loaded", tag: "Flights")
/// let bad = log.records(LogQuery(IOSLogLevel.error, .lessEqual))
/// ```
public final class DeviceLog: Sendable {
  /// The maximum number of records in memory; at this number the oldest are dropped.
  public static let countLimit = 10_000
  /// How many records are dropped at once.
  public static let droppedCount = 200
  /// The maximum size of a message, and of an error's text, in bytes of UTF-8; longer ones are cut.
  public static let textLimitBytes = 16_384

  private struct State {
    var ring = RecordRing(pieceSize: DeviceLog.droppedCount)
    var next: Int64 = 1
    var header = LogHeader()
    var filter: (any LogFilter)?
    var handlers: [any LogHandler] = []
  }

  private let clock: any WorldClock
  private let process: Int32
  private let least = Atomic<Int>(LogSeverity.error.rawValue)
  private let locates = Atomic<Bool>(true)
  private let state = Mutex(State())

  public init(world: World, handlers: [any LogHandler] = []) {
    clock = world.clock
    process = ProcessInfo.processInfo.processIdentifier
    state.withLock { $0.handlers = handlers }
  }

  /// The minimum severity of records that are kept; `.error` at first.
  public var level: LogSeverity {
    get { LogSeverity(rawValue: least.load(ordering: .relaxed)) ?? .error }
    set { least.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// Whether records below `.error` are kept. True keeps all from `.debug` on. False, the default,
  /// keeps only errors and worse.
  public var isEnabled: Bool {
    get { level < .error }
    set { level = newValue ? .debug : .error }
  }

  /// Whether records say where they were written; true at first.
  public var logsLocation: Bool {
    get { locates.load(ordering: .relaxed) }
    set { locates.store(newValue, ordering: .relaxed) }
  }

  /// The fields that an export has before the records. The part that connects sets user, language
  /// and URL.
  public var header: LogHeader {
    get { state.withLock { $0.header } }
    set { state.withLock { $0.header = newValue } }
  }

  /// A further condition besides the level; nil keeps all records.
  public var filter: (any LogFilter)? {
    get { state.withLock { $0.filter } }
    set { state.withLock { $0.filter = newValue } }
  }

  /// The handlers that get each kept record, in this order.
  public var handlers: [any LogHandler] {
    get { state.withLock { $0.handlers } }
    set { state.withLock { $0.handlers = newValue } }
  }

  /// Whether a record of this severity would be kept. Check it before work that only a record
  /// needs.
  @inline(__always)
  public func canLog(_ severity: LogSeverity) -> Bool {
    severity.rawValue >= least.load(ordering: .relaxed)
  }

  /// Keeps a record if the level allows it, and passes it to the handlers before it returns.
  ///
  /// `error` is kept as its description. The location is the caller's unless `file` is given.
  @inline(__always)
  public func log(
    _ severity: LogSeverity, _ message: @autoclosure () -> String, tag: String = "",
    component: String = "", error: (any Error)? = nil, correlationID: String? = nil,
    file: String = #fileID, function: String = #function, line: Int = #line
  ) {
    guard canLog(severity) else { return }
    keep(
      severity, message(), tag, component, error, correlationID,
      LogPlace(file: file, function: function, line: line))
  }

  /// How many records are kept.
  public var count: Int { state.withLock { $0.ring.count } }

  /// The kept records that match the query, oldest first.
  public func records(_ query: LogQuery = LogQuery()) -> [LogEntry] {
    state.withLock { $0.ring.all { query.matches($0) } }
  }

  /// Removes records that are less severe than the threshold.
  public func cleanUp(_ threshold: LogSeverity) {
    state.withLock { $0.ring.keep { $0.severity >= threshold } }
  }

  /// Removes all records.
  public func removeAll() { state.withLock { $0.ring.keep { _ in false } } }

  /// Adds records of an earlier run before the present ones; they keep their numbers.
  public func restore(_ records: [LogEntry]) {
    state.withLock { state in
      let own = state.ring.all { _ in true }
      let first = records.map(\.number).max() ?? 0
      state.ring = RecordRing(pieceSize: Self.droppedCount)
      let room = Self.countLimit - min(own.count, Self.countLimit)
      for record in records.suffix(room) { state.ring.append(record) }
      for (place, record) in own.enumerated() {
        var record = record
        record.number = first + Int64(place) + 1
        state.ring.append(record)
      }
      state.next = max(state.next, first + Int64(own.count) + 1)
    }
  }

  @inline(never)
  func keep(
    _ severity: LogSeverity, _ message: String, _ tag: String, _ component: String,
    _ error: (any Error)?, _ correlationID: String?, _ place: LogPlace?
  ) {
    var record = LogEntry(
      number: 0, time: clock.now, severity: severity, tag: tag, component: component,
      message: cut(message), error: error.map { cut(String(describing: $0)) }, process: process,
      correlationID: correlationID)
    if let place, logsLocation { record.location = place.text }
    let kept = state.withLock {
      state -> (handlers: [any LogHandler], number: Int64, old: [LogEntry])? in
      if let filter = state.filter, !filter.allows(record) { return nil }
      // Whole pieces go; they are released behind the lock, so that nobody waits for it.
      let old = state.ring.count >= Self.countLimit ? state.ring.removeOldest() : []
      record.number = state.next
      state.next += 1
      state.ring.append(record)
      return (state.handlers, record.number, old)
    }
    guard let kept else { return }
    for handler in kept.handlers { handler.handle(record) }
  }

  private func cut(_ text: String) -> String {
    let count = text.utf8.count
    guard count > Self.textLimitBytes else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: Self.textLimitBytes)
    while String.Index(end, within: text.unicodeScalars) == nil {
      end = text.utf8.index(before: end)
    }
    return text[..<end] + "… (\(count) bytes)"
  }
}

/// Where a record was written.
struct LogPlace {
  let file: String
  let function: String
  let line: Int

  var text: String { function.isEmpty && line == 0 ? file : "\(file):\(line) \(function)" }
}
