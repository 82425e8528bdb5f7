/// The text that a store keeps: a header, then a line `name TAB type TAB value` for each preference.
///
/// Tabs, line ends and backslashes of names and values are written as `\t`, `\n`, `\r` and `\\`.
enum PreferencesFormat {
  static let header = "FerryPreferences 1"
  private static let start = "FerryPreferences "

  static func bytes(_ values: [String: StoredPreference]) -> [UInt8] {
    var text = header + "\n"
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      text += "\(escaped(name))\t\(value.typeName)\t\(escaped(value.text))\n"
    }
    return Array(text.utf8)
  }

  /// Lines that are no preference are left out and counted.
  static func values(
    _ bytes: [UInt8]
  ) throws(PreferencesError) -> (values: [String: StoredPreference], dropped: Int) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw PreferencesError(.damaged, "the store is not UTF-8 text")
    }
    // By scalars: a Character may hold a line end with a mark behind it.
    let lines = text.unicodeScalars.split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { String($0) }
    guard let first = lines.first, first.hasPrefix(start) else {
      throw PreferencesError(.damaged, "the store does not begin with \(start)")
    }
    guard first == header else {
      throw PreferencesError(
        .unknownVersion, "the store begins with the unknown version \"\(first.prefix(40))\"")
    }
    var values: [String: StoredPreference] = [:]
    var dropped = 0
    for line in lines.dropFirst() where !line.isEmpty {
      let cells = line.unicodeScalars.split(separator: "\t", omittingEmptySubsequences: false)
        .map { String($0) }
      guard cells.count == 3, let name = unescaped(cells[0]), let text = unescaped(cells[2]),
        let value = StoredPreference(typeName: cells[1], text: text), values[name] == nil
      else {
        dropped += 1
        continue
      }
      values[name] = value
    }
    return (values, dropped)
  }

  private static func escaped(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case "\t": escaped.append(contentsOf: "\\t".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      case "\r": escaped.append(contentsOf: "\\r".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }

  private static func unescaped(_ text: String) -> String? {
    var unescaped = String.UnicodeScalarView()
    var isEscape = false
    for scalar in text.unicodeScalars {
      if isEscape {
        switch scalar {
        case "\\": unescaped.append("\\")
        case "t": unescaped.append("\t")
        case "n": unescaped.append("\n")
        case "r": unescaped.append("\r")
        default: return nil
        }
        isEscape = false
      } else if scalar == "\\" {
        isEscape = true
      } else {
        unescaped.append(scalar)
      }
    }
    return isEscape ? nil : String(unescaped)
  }
}
