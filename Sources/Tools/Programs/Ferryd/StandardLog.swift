import FerryAdmin
import FerryJSON
import FerryWorld
import Glibc

/// One line of JSON on standard error for each thing worth knowing.
struct StandardLog: Log {
  let least: LogLevel
  /// Who gets what is known of traced work; nil where nobody does.
  var spans: (any SpanReceiver)?
  /// Keeps the newest lines for operators; nil where there is no control center.
  var lines: ServerLines?
  private let clock = SystemClock()

  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    guard level >= least else { return }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("time", clock.now.milliseconds)
    writer.field("level", level.name)
    writer.field("message", message)
    for (name, value) in fields { writer.field(name, value) }
    writer.endObject()
    lines?.keep(writer.bytes)
    let line = writer.bytes + [0x0A]
    // One write a line: lines of several threads do not mix.
    _ = line.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
  }
}
