/// From a comment of a database to the documentation of a model, and from there to Swift.
enum DocumentationText {
  /// Without blank lines around it; nil where nothing is left to read.
  static func of(comment: String?) -> String? {
    guard let comment else { return nil }
    let text = lines(comment).joined(separator: "\n")
    return text.isEmpty ? nil : text
  }

  /// As Swift has it in front of a declaration: every line a comment, whatever the text holds.
  static func comment(_ text: String) -> String {
    lines(text).map { $0.isEmpty ? "///" : "/// \($0)" }.joined(separator: "\n")
  }

  private static func lines(_ text: String) -> [String] {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(shown)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return Array(lines.drop(while: \.isEmpty))
  }

  /// Without what nobody sees: control characters, and those that turn the direction of reading, by
  /// which a comment looks like code. A tab is a blank.
  private static func shown(_ line: Substring) -> String {
    var text = String.UnicodeScalarView()
    for scalar in line.unicodeScalars {
      let isBidirectional =
        (0x202A...0x202E).contains(scalar.value)
        || (0x2066...0x2069).contains(scalar.value)
      if scalar == "\t" {
        text.append(" ")
      } else if scalar.properties.generalCategory != .control, !isBidirectional {
        text.append(scalar)
      }
    }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
