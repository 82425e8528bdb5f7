import FerryLogger
import FerryWorld
import Foundation
import Synchronization

final class SetClock: WorldClock {
  private let milliseconds = Mutex<Int64>(0)
  var now: Timestamp {
    get { Timestamp(milliseconds: milliseconds.withLock { $0 }) }
    set { milliseconds.withLock { $0 = newValue.milliseconds } }
  }
  var uptime: Duration { .zero }
}

final class Kept: LogHandler {
  private let entries = Mutex<[LogEntry]>([])
  var all: [LogEntry] { entries.withLock { $0 } }
  func handle(_ record: LogEntry) { entries.withLock { $0.append(record) } }
}

struct NoNoise: LogFilter {
  func allows(_ record: LogEntry) -> Bool { !record.message.contains("noise") }
}

struct Upper: LogFormatter {
  func line(_ record: LogEntry) -> String { record.message.uppercased() }
}

func makeLog(
  _ level: LogSeverity? = .performance, clock: SetClock = SetClock(),
  handlers: [any LogHandler] = []
) -> DeviceLog {
  let log = DeviceLog(
    world: World(clock: clock, chance: SystemChance(), log: SilentLog()), handlers: handlers)
  if let level { log.level = level }
  return log
}

/// A folder of its own that is removed behind the body.
func withFolder(_ body: (String) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder.path)
}
