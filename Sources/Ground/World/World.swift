/// All that the outside gives: time, chance and a place for what the program has to say.
///
/// A simulation gives its own; nothing else in the house asks the system for any of them.
public struct World: Sendable {
  public let clock: any WorldClock
  public let chance: any Chance
  public let log: any Log
  /// By the name of a time zone, how far its clocks are ahead of UTC at a moment, in seconds; nil where
  /// there is no such zone. Without a word UTC alone is known.
  package var zone: @Sendable (_ name: String) -> (@Sendable (Timestamp) -> Int64)?
  private let planted: Set<PlantedBug>

  public init(clock: any WorldClock, chance: any Chance, log: any Log) {
    self.init(clock: clock, chance: chance, log: log, planted: [])
  }

  package init(
    clock: any WorldClock, chance: any Chance, log: any Log, planted: Set<PlantedBug>
  ) {
    self.clock = clock
    self.chance = chance
    self.log = log
    self.planted = planted
    zone = World.utcAlone
  }

  @Sendable private static func utcAlone(
    _ name: String
  ) -> (@Sendable (Timestamp) -> Int64)? {
    guard name == "UTC" else { return nil }
    return { _ in 0 }
  }

  /// Whether there is any but those of what is remembered.
  package var isPlanted: Bool { !planted.isEmpty && planted != [.nodeBehind] }

  /// Whether a simulation has switched this bug on; never outside one.
  package func has(_ bug: PlantedBug) -> Bool { !planted.isEmpty && planted.contains(bug) }
}

/// Where time comes from.
public protocol WorldClock: Sendable {
  /// The time of day. It may jump; it decides only tokens, back-off, display and retention.
  var now: Timestamp { get }
  /// Time since some fixed moment; never goes back.
  var uptime: Duration { get }
}

extension WorldClock {
  /// Now, on a scale of its own that never jumps: what waits and back-offs count by, so that a clock
  /// that is set a year back makes nobody wait for a year.
  public var moment: Timestamp {
    let (seconds, attoseconds) = uptime.components
    return Timestamp(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
  }
}

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable {
  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// A later moment, or an earlier one for a negative duration. Times come from outside too: what
  /// 64 bits do not hold becomes the last moment that they hold, or the first.
  public func advanced(by duration: Duration) -> Timestamp {
    let (seconds, attoseconds) = duration.components
    let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000)
    let (near, isBeyond) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    let (sum, isOver) = milliseconds.addingReportingOverflow(near)
    guard isFar || isBeyond || isOver else { return Timestamp(milliseconds: sum) }
    return Timestamp(milliseconds: duration < .zero ? .min : .max)
  }

  /// Whole days since 1970.
  public var day: Int64 {
    milliseconds / 86_400_000 - (milliseconds % 86_400_000 < 0 ? 1 : 0)
  }
}

/// Where random numbers come from.
public protocol Chance: Sendable {
  /// Unpredictable outside a simulation.
  func next() -> UInt64
}

extension Chance {
  /// That many random bytes.
  public func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      withUnsafeBytes(of: next()) {
        bytes.append(contentsOf: $0.prefix(max(0, count - bytes.count)))
      }
    }
    return bytes
  }

  /// A number in the range, each equally likely.
  public func number(in range: Range<Int64>) -> Int64 {
    precondition(!range.isEmpty, "an empty range: \(range)")
    let count = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    let limit = UInt64.max - UInt64.max % count
    var drawn = next()
    while drawn >= limit { drawn = next() }
    return range.lowerBound &+ Int64(bitPattern: drawn % count)
  }
}

/// Takes what the program has to say to its operator.
public protocol Log: Sendable {
  /// `message` is one sentence that never holds a value; the values are in `fields`.
  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)])

  /// Who wants to know of traced work; nil where nobody does.
  var spans: (any SpanReceiver)? { get }
}

extension Log {
  public var spans: (any SpanReceiver)? { nil }
}

/// The reference's levels (facts/1.3).
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  case trace = 1
  case debug, info, warn, error, fatal

  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

  public var name: String { String(describing: self) }
}

extension Log {
  /// What helps to understand a fault.
  public func debug(_ message: String, _ fields: (String, String)...) {
    write(.debug, message, fields)
  }
  /// What an operator wants to read when all is well.
  public func info(_ message: String, _ fields: (String, String)...) {
    write(.info, message, fields)
  }
  /// What will need somebody if it goes on.
  public func warn(_ message: String, _ fields: (String, String)...) {
    write(.warn, message, fields)
  }
  /// What needs somebody now.
  public func error(_ message: String, _ fields: (String, String)...) {
    write(.error, message, fields)
  }
}

/// Drops everything.
public struct SilentLog: Log {
  public init() {}
  public func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {}
}
