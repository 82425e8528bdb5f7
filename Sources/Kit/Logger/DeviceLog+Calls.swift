import FerryWorld

/// Calls in the manner of the reference's libraries.
extension DeviceLog {
  /// Logs that a function begins, with its arguments, as a `.trace`.
  public func entering(
    _ type: String, _ method: String, _ parameters: Any..., correlationID: String? = nil
  ) {
    guard canLog(.trace) else { return }
    keep(
      .trace, "entering\(list(parameters))", type, "", nil, correlationID,
      LogPlace(file: "\(type).\(method)", function: "", line: 0))
  }

  /// Logs that a function ends, with its result, as a `.trace`.
  public func exiting(
    _ type: String, _ method: String, result: Any? = nil, correlationID: String? = nil
  ) {
    guard canLog(.trace) else { return }
    let text = result.map { "exiting: \($0)" } ?? "exiting"
    keep(
      .trace, text, type, "", nil, correlationID,
      LogPlace(file: "\(type).\(method)", function: "", line: 0))
  }

  /// Logs a message with nested values, each with its path: `flight.price = 3`.
  public func logNestedObjects(
    _ severity: LogSeverity, _ message: @autoclosure () -> String, _ values: [String: Any],
    tag: String = "", file: String = #fileID, function: String = #function, line: Int = #line
  ) {
    guard canLog(severity) else { return }
    var lines: [String] = []
    var left = Self.nestedLimit
    nested(values, "", 0, &lines, &left)
    if left == 0 { lines.append("…") }
    keep(
      severity, message() + lines.map { " " + $0 }.joined(), tag, "", nil, nil,
      LogPlace(file: file, function: function, line: line))
  }

  /// Logs how long something took, as a `.performance`.
  public func performance(
    _ message: @autoclosure () -> String, _ duration: Duration, tag: String = "",
    correlationID: String? = nil, file: String = #fileID, function: String = #function,
    line: Int = #line
  ) {
    guard canLog(.performance) else { return }
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    keep(
      .performance, "\(message()) \(milliseconds) ms", tag, "", nil, correlationID,
      LogPlace(file: file, function: function, line: line))
  }

  /// Logs that a call is deprecated, as a `.warning`.
  public func deprecated(
    _ name: String, use replacement: String, file: String = #fileID,
    function: String = #function, line: Int = #line
  ) {
    guard canLog(.warning) else { return }
    keep(
      .warning, "\(name) is deprecated; use \(replacement)", "deprecated", "", nil, nil,
      LogPlace(file: file, function: function, line: line))
  }

  /// The most values of one nested record.
  static let nestedLimit = 200
  private static let depthLimit = 8

  private func list(_ parameters: [Any]) -> String {
    parameters.isEmpty
      ? "" : ": " + parameters.prefix(Self.nestedLimit).map { "\($0)" }.joined(separator: ", ")
  }

  private func nested(
    _ value: Any, _ place: String, _ depth: Int, _ lines: inout [String], _ left: inout Int
  ) {
    guard left > 0 else { return }
    let start = place.isEmpty ? "" : place + "."
    if depth < Self.depthLimit, let values = value as? [String: Any] {
      for (name, inner) in values.sorted(by: { $0.key < $1.key }) {
        nested(inner, start + name, depth + 1, &lines, &left)
      }
    } else if depth < Self.depthLimit, let values = value as? [Any] {
      for (number, inner) in values.enumerated() {
        nested(inner, start + String(number), depth + 1, &lines, &left)
      }
    } else {
      left -= 1
      lines.append("\(place) = \(value)")
    }
  }
}

extension DeviceLog {
  /// A log for the kit's own code that writes into this log: the bridge to `World.log`.
  public func worldLog(component: String) -> any Log {
    WorldLogBridge(log: self, component: component)
  }
}

private struct WorldLogBridge: Log {
  let log: DeviceLog
  let component: String

  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    guard log.canLog(level.severity) else { return }
    let id = fields.first { $0.0 == "correlation" }?.1
    let text = message + fields.filter { $0.0 != "correlation" }.map { " \($0.0)=\($0.1)" }.joined()
    log.keep(level.severity, text, component, component, nil, id, nil)
  }
}
