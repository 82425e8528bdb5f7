/// A JSON value as a tree that remembers where each part stood, for texts written by people.
public struct JSONNode: Sendable {
  /// One of the six shapes that JSON has.
  public enum Content: Sendable {
    case null
    case boolean(Bool)
    /// The number as it was written.
    case number(String)
    case string(String)
    case array([JSONNode])
    /// The members in the order of the text; a key may be there twice.
    case object([Member])
  }

  /// One name with its value, in the order of the text.
  public struct Member: Sendable {
    public let key: String
    public let keyOffset: Int
    public let value: JSONNode
  }

  public let content: Content
  /// Offset in bytes of the first character of the value.
  public let offset: Int

  /// Reads a whole text. At most `depthLimit` levels may be nested.
  public static func parse(_ text: [UInt8], depthLimit: Int = 64) throws(JSONError) -> JSONNode {
    let result: Result<JSONNode, JSONError> = text.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, depthLimit: depthLimit)
      do throws(JSONError) {
        let node = try JSONNode(&scanner)
        try scanner.finish()
        return .success(node)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    let kind = try scanner.peek()
    offset = scanner.position
    switch kind {
    case .null:
      try scanner.null()
      content = .null
    case .boolean: content = .boolean(try scanner.boolean())
    case .number: content = .number(try scanner.numberText())
    case .string: content = .string(try scanner.string())
    case .array:
      var elements: [JSONNode] = []
      try scanner.enterArray()
      while try scanner.nextElement() { elements.append(try JSONNode(&scanner)) }
      content = .array(elements)
    case .object:
      var members: [Member] = []
      try scanner.enterObject()
      while true {
        let keyOffset = scanner.position
        guard let key = try scanner.nextKey() else { break }
        members.append(Member(key: key, keyOffset: keyOffset, value: try JSONNode(&scanner)))
      }
      content = .object(members)
    case .end: throw scanner.failure("the text ends where a value was expected")
    }
  }

  /// The value of the last member with this name; nil when this is no object.
  public subscript(key: String) -> JSONNode? {
    guard case .object(let members) = content else { return nil }
    return members.last { $0.key == key }?.value
  }

  public var string: String? {
    if case .string(let value) = content { value } else { nil }
  }

  public var boolean: Bool? {
    if case .boolean(let value) = content { value } else { nil }
  }

  public var integer: Int64? {
    if case .number(let value) = content { Int64(value) } else { nil }
  }

  public var array: [JSONNode]? {
    if case .array(let value) = content { value } else { nil }
  }

  public var object: [Member]? {
    if case .object(let value) = content { value } else { nil }
  }

  public var isNull: Bool {
    if case .null = content { true } else { false }
  }
}

/// Line and column, counted from 1, of an offset in a text.
public struct TextPlace: Sendable, Equatable, CustomStringConvertible {
  public let line: Int
  /// Counted in characters of UTF-8 that begin a code point.
  public let column: Int

  public init(offset: Int, in text: [UInt8]) {
    var line = 1
    var column = 1
    for byte in text.prefix(offset) {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    self.line = line
    self.column = column
  }

  public var description: String { "\(line):\(column)" }
}
