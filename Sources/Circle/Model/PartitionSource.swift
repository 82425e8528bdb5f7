/// Where the value that a subscription may ask for comes from.
public enum PartitionSource: Sendable, Hashable {
  /// A claim of the user, from the server's user file; `user` is the user's name.
  case claim(String)
  /// A parameter of the package, whose value the device chooses: any, or, where a claim is named,
  /// one of those that the user's claim lists.
  case parameter(String, within: String?)
  /// Everyone gets the rows of this value, and of no other: a canonical text of the attribute's type.
  case constant(String)
  /// Everyone gets the rows of every value; `ferry check` lists these.
  case open

  /// `claim:employee`, `parameter:region`, `parameter:region within claim:regions`, `constant:CH` or
  /// `open`. A constant has no comma.
  public init?(_ text: String) {
    if text == "open" {
      self = .open
      return
    }
    if text.hasPrefix("constant:") {
      let value = String(text.dropFirst("constant:".count))
      guard !value.isEmpty, !value.contains(",") else { return nil }
      self = .constant(value)
      return
    }
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard let first = words.first, let name = PartitionSource.name("claim:", first) else {
      guard let first = words.first, let name = PartitionSource.name("parameter:", first) else {
        return nil
      }
      if words.count == 1 {
        self = .parameter(name, within: nil)
      } else if words.count == 3, words[1] == "within",
        let claim = PartitionSource.name("claim:", words[2])
      {
        self = .parameter(name, within: claim)
      } else {
        return nil
      }
      return
    }
    self = .claim(name + words.dropFirst().map { " \($0)" }.joined())
  }

  private static func name(_ prefix: String, _ word: Substring) -> String? {
    word.hasPrefix(prefix) && word.count > prefix.count
      ? String(word.dropFirst(prefix.count)) : nil
  }

  public var text: String {
    switch self {
    case .claim(let name): "claim:\(name)"
    case .parameter(let name, nil): "parameter:\(name)"
    case .parameter(let name, let claim?): "parameter:\(name) within claim:\(claim)"
    case .constant(let value): "constant:\(value)"
    case .open: "open"
    }
  }
}
