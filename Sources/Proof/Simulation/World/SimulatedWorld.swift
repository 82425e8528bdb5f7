import FerryWorld
import Synchronization

/// Chance from a seed: the same seed gives the same numbers on every machine.
final class SeededChance: Chance {
  private let state: Mutex<UInt64>

  init(_ seed: UInt64) { state = Mutex(seed) }

  func next() -> UInt64 {
    state.withLock { state in
      // SplitMix64: every state is visited once.
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return word ^ (word >> 31)
    }
  }

  func number(below limit: Int) -> Int { Int(number(in: 0..<Int64(limit))) }

  /// True in so many of a thousand cases.
  func happens(_ perMille: Int) -> Bool { number(below: 1_000) < perMille }

  func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }
}

/// Time that moves only when the simulation moves it, the same for all.
final class SimulatedTime: Sendable {
  private let passed = Mutex<Int64>(0)

  var milliseconds: Int64 { passed.withLock { $0 } }
  func advance(milliseconds: Int64) { passed.withLock { $0 += milliseconds } }
}

/// What somebody's clock shows: the time, more or less wrong.
final class SimulatedClock: WorldClock {
  private let time: SimulatedTime
  private let wrongBy = Mutex<Int64>(0)

  init(_ time: SimulatedTime) { self.time = time }

  var now: Timestamp {
    Timestamp(milliseconds: 1_750_000_000_000 + time.milliseconds + wrongBy.withLock { $0 })
  }

  var uptime: Duration { .milliseconds(time.milliseconds) }

  /// Sets the clock wrong, or right again with 0.
  func set(wrongByMilliseconds milliseconds: Int64) { wrongBy.withLock { $0 = milliseconds } }
}

/// Keeps the last lines that a run has said.
final class TraceLog: Log {
  private struct State {
    var lines: [String] = []
    /// FNV-1a of all that is said whether it is printed or not.
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
  }

  private let state = Mutex(State())
  private let trace: SimulationTrace
  private static let slash = UInt8(ascii: "/")
  /// Where this run has its files: no other run of the seed has the same place.
  private let folder: String

  init(_ trace: SimulationTrace, folder: String) {
    self.trace = trace
    self.folder = folder
  }

  var last: [String] { state.withLock { $0.lines.suffix(30) } }
  var digest: UInt64 { state.withLock { $0.digest } }

  func say(_ line: String) { say(line, isCounted: true) }

  private func say(_ line: String, isCounted: Bool) {
    let line =
      line.utf8.contains(TraceLog.slash) && line.contains(folder)
      ? line.replacing(folder, with: "") : line
    state.withLock { state in
      state.lines.append(line)
      if state.lines.count > 2_000 { state.lines.removeFirst(1_000) }
      guard isCounted else { return }
      for byte in line.utf8 { state.digest = (state.digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
      state.digest = (state.digest ^ 10) &* 0x100_0000_01B3
    }
    trace.show(line)
  }

  /// Warnings are counted in the digest; the rest is for who reads the trace.
  private func isCounted(_ level: LogLevel) -> Bool { level >= .warn }

  func takes(_ level: LogLevel) -> Bool { isCounted(level) || trace != .kept }

  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    guard takes(level) else { return }
    say(
      "  \(level.name): \(message) \(fields.map { "\($0.0)=\($0.1)" }.joined(separator: " "))",
      isCounted: isCounted(level))
  }
}

/// Says of every line which device it is about, and keeps what must not happen.
final class DeviceLog: Log {
  private let number: Int
  let trace: TraceLog
  private let wrong = Mutex<String?>(nil)

  init(number: Int, trace: TraceLog) {
    self.number = number
    self.trace = trace
  }

  /// Where an import did not come to the server's sum: the sums of a run are never wrong by
  /// themselves, so something was lost.
  var wrongSum: String? { wrong.withLock { $0 } }

  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    if level == .error, message == "a partition does not come to the server's sum" {
      wrong.withLock { $0 = fields.map { "\($0.0) \($0.1)" }.joined(separator: ", ") }
    }
    guard trace.takes(level) else { return }
    trace.write(level, message, [("device", String(number))] + fields)
  }
}
