/// Values of `GET /metrics` that have the label `package` and no other.
struct MetricsReading {
  /// In their order there.
  let packages: [String]
  private let values: [String: [String: Double]]

  init(_ text: String) {
    var packages: [String] = []
    var values: [String: [String: Double]] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let open = line.firstIndex(of: "{"), let close = line.lastIndex(of: "}"),
        let value = Double(line[line.index(after: close)...].drop { $0 == " " }),
        let package = MetricsReading.package(line[line.index(after: open)..<close])
      else { continue }
      if !packages.contains(package) { packages.append(package) }
      values[String(line[..<open]), default: [:]][package] = value
    }
    self.packages = packages
    self.values = values
  }

  func value(_ name: String, _ package: String) -> Double? { values[name]?[package] }

  /// The text of the label, where it is the only one.
  private static func package(_ labels: Substring) -> String? {
    let start = "package=\""
    guard labels.hasPrefix(start) else { return nil }
    var text = ""
    var rest = labels.dropFirst(start.count)
    while let letter = rest.popFirst() {
      switch letter {
      case "\"": return rest.isEmpty ? text : nil
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        text.append(escaped == "n" ? "\n" : escaped)
      default: text.append(letter)
      }
    }
    return nil
  }
}
