import FerryArguments

/// `sqlite:<file>`, the one kind of business database so far.
enum DatabaseAddress {
  static func path(_ text: String) throws(UsageError) -> String {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == "sqlite", !parts[1].isEmpty else {
      throw UsageError("\"\(text)\" names no database", hint: "Write sqlite:<file>.")
    }
    return String(parts[1])
  }
}
