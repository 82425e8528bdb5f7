import FerryJSON

// How a message's texts and lists are read: none of them without a bound. `Documentation/Wire.md` has
// the table of all, and its test walks every member of every message.

extension JSONScanner {
  /// The text of a member; one of more bytes in UTF-8 is refused.
  mutating func text(of member: String, atMost bytes: Int) throws(JSONError) -> String {
    let text = try string()
    guard text.utf8.count <= bytes else {
      throw failure("\(member) has \(text.utf8.count) bytes; \(bytes) are allowed")
    }
    return text
  }

  /// The same of a text that may be null.
  mutating func optionalText(of member: String, atMost bytes: Int) throws(JSONError) -> String? {
    if try peek() == .null {
      try null()
      return nil
    }
    return try text(of: member, atMost: bytes)
  }

  /// A random name of a server, device, copy, era or version.
  mutating func id(of member: String) throws(JSONError) -> String {
    try text(of: member, atMost: WireLimits.idBytes)
  }

  /// A name of the model or of a package.
  mutating func name(of member: String) throws(JSONError) -> String {
    try text(of: member, atMost: WireLimits.nameBytes)
  }

  /// A text that only people read: a longer one is cut.
  mutating func words(atMost bytes: Int = WireLimits.messageBytes) throws(JSONError) -> String {
    try string().beginning(ofBytes: bytes)
  }

  /// The next name in a member that is a table by name; nil at its end.
  mutating func nextName(
    of member: String, after count: Int, atMost limit: Int
  ) throws(JSONError) -> String? {
    guard let name = try nextKey() else { return nil }
    guard count < limit else { throw failure("\(member) has more than \(limit) names") }
    guard name.utf8.count <= WireLimits.nameBytes else {
      throw failure(
        "a name in \(member) has \(name.utf8.count) bytes; \(WireLimits.nameBytes) are allowed")
    }
    return name
  }

  /// The elements of a member; more of them are refused.
  mutating func list<Element>(
    of member: String, atMost limit: Int,
    _ element: (inout JSONScanner) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    var list: [Element] = []
    try enterArray()
    while try nextElement() {
      guard list.count < limit else { throw failure("\(member) has more than \(limit) elements") }
      list.append(try element(&self))
    }
    return list
  }
}

extension String {
  /// At most so many bytes in UTF-8, cut between two characters of Unicode.
  func beginning(ofBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(unicodeScalars[..<end])
  }
}
