/// The options of a program in a file, one on each line: `name = value`, or only `name`.
///
/// Names are those of the command line without the two dashes. A value is all behind the
/// first `=`, without spaces around it; two double quotes around it are left out. An option without a
/// value may be written `name = yes` or `name = no`. A line that begins with `#` is a comment. Nothing
/// behind a value is a comment, because addresses and passwords may have `#` in them.
package struct ConfigurationFile: Sendable {
  struct Entry: Sendable {
    let name: String
    /// Nil where the line has no `=`.
    let value: String?
    let line: Int
  }

  /// As messages name it.
  let path: String
  let entries: [Entry]

  /// `text`: what the file holds.
  package init(_ text: String, path: String) throws(UsageError) {
    self.path = path
    var entries: [Entry] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (place, content) in lines.enumerated() {
      let content = ConfigurationFile.trimmed(content)
      guard let first = content.first, first != "#" else { continue }
      let parts = content.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = ConfigurationFile.trimmed(parts[0])
      guard !name.isEmpty, !name.contains(where: \.isWhitespace) else {
        throw UsageError(
          "\(path):\(place + 1): \"\(content.prefix(80))\" is not a setting",
          hint: "Write NAME = VALUE, and # before a comment.")
      }
      guard !name.hasPrefix("-") else {
        throw UsageError(
          "\(path):\(place + 1): \(name.prefix(80)) begins with a dash",
          hint: "Write the name of the option without dashes.")
      }
      var value = parts.count > 1 ? ConfigurationFile.trimmed(parts[1]) : nil
      if let text = value, text.count >= 2, text.utf8.first == UInt8(ascii: "\""),
        text.utf8.last == UInt8(ascii: "\"")
      {
        value = text.dropFirst().dropLast()
      }
      entries.append(Entry(name: String(name), value: value.map(String.init), line: place + 1))
    }
    self.entries = entries
  }

  /// The last value of a setting; nil where the file has none. The names are not checked.
  package func value(_ name: String) -> String? { values(name).last }

  /// All values of a setting, in the order of the file. The names are not checked.
  package func values(_ name: String) -> [String] {
    entries.filter { $0.name == name }.map { $0.value ?? "" }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
