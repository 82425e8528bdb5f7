import FerryJSON
import FerryWire
import FerryWorld

/// How far a load has come.
struct LoadProgress: Sendable, Equatable {
  let rows: Int
  /// How many there are; nil where the business system cannot say.
  let total: Int?
  let time: Duration

  var rowsPerSecond: Int {
    let seconds = time / .seconds(1)
    return seconds > 0 ? Int(Double(rows) / seconds) : 0
  }

  /// By the rate so far; nil where nobody can say.
  var remainingSeconds: Int? {
    guard let total, rowsPerSecond > 0 else { return nil }
    return (max(0, total - rows) + rowsPerSecond - 1) / rowsPerSecond
  }

  /// For devices, which must not learn how many rows there are: they may see a part of them only.
  /// nil where nobody knows how many there are.
  var standing: LoadStanding? {
    guard let total, total > 0 else { return nil }
    return LoadStanding(
      permille: Int64(min(1_000, rows * 1_000 / total)),
      remainingSeconds: remainingSeconds.map { Int64($0) })
  }

  /// For the log.
  var fields: [(String, String)] {
    [("rows", String(rows)), ("rowsPerSecond", String(rowsPerSecond))]
      + (total.map { [("of", String($0))] } ?? [])
      + (remainingSeconds.map { [("remainingSeconds", String($0))] } ?? [])
  }

  func write(to writer: inout JSONWriter) {
    writer.key("load")
    writer.beginObject()
    for (name, value) in fields {
      writer.key(name)
      writer.raw(value.utf8)
    }
    writer.endObject()
  }
}

/// Tells the operator how a load goes on, in `/health` at once and in the log now and then.
struct LoadReport {
  private(set) var rows = 0
  var total: Int?
  private let pulse: Pulse
  private let world: World
  private let start: Duration
  private var nextLine: Duration
  private static let lineInterval: Duration = .seconds(10)

  init(_ pulse: Pulse, _ world: World, since start: Duration) {
    self.pulse = pulse
    self.world = world
    self.start = start
    nextLine = start + LoadReport.lineInterval
  }

  mutating func add(_ count: Int) {
    rows += count
    let now = world.clock.uptime
    let progress = LoadProgress(rows: rows, total: total, time: now - start)
    pulse.tellLoad(progress)
    guard now >= nextLine else { return }
    nextLine = now + LoadReport.lineInterval
    world.log.write(.info, "the business system is being loaded", progress.fields)
  }
}
