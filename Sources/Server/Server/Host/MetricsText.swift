/// The answer to `GET /metrics`, in the text format of Prometheus.
struct MetricsText {
  static let contentType: String = "text/plain; version=0.0.4; charset=utf-8"

  private(set) var text: String = ""

  init(_ families: [MetricFamily]) {
    for family in families {
      text +=
        "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
      for point in family.points { write(point, of: family.name) }
    }
  }

  private mutating func write(_ point: MetricFamily.Point, of name: String) {
    switch point.value {
    case .count(let count): line(name, point.labels, "\(count)")
    case .seconds(let seconds): line(name, point.labels, "\(seconds)")
    case .histogram(let bounds, let counts, let count, let sum):
      for (bound, count) in zip(bounds, counts) {
        line("\(name)_bucket", point.labels + [("le", "\(bound)")], "\(count)")
      }
      line("\(name)_bucket", point.labels + [("le", "+Inf")], "\(count)")
      line("\(name)_sum", point.labels, "\(sum)")
      line("\(name)_count", point.labels, "\(count)")
    }
  }

  private mutating func line(
    _ name: String, _ labels: [(name: String, value: String)], _ value: String
  ) {
    let shown = labels.map { "\($0.name)=\"\(MetricsText.escaped($0.value))\"" }
    text += "\(name){\(shown.joined(separator: ","))} \(value)\n"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
