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

  /// Reads a whole text. At most `depthLimit` levels may be nested, one object may have
  /// `memberLimit` members, and all of it `nodeLimit` values.
  public static func parse(
    _ text: [UInt8], depthLimit: Int = 64, memberLimit: Int = .max, nodeLimit: Int = .max
  ) throws(JSONError) -> JSONNode {
    let result: Result<JSONNode, JSONError> = text.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, depthLimit: depthLimit)
      var limits = Limits(members: memberLimit, nodes: nodeLimit)
      do throws(JSONError) {
        let node = try JSONNode(&scanner, &limits)
        try scanner.finish()
        return .success(node)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private struct Limits {
    let members: Int
    /// Values that may still come.
    var nodes: Int
  }

  private init(_ scanner: inout JSONScanner, _ limits: inout Limits) throws(JSONError) {
    limits.nodes -= 1
    guard limits.nodes >= 0 else {
      throw scanner.failure("more than the values that one text may hold")
    }
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
      while try scanner.nextElement() { elements.append(try JSONNode(&scanner, &limits)) }
      content = .array(elements)
    case .object:
      var members: [Member] = []
      try scanner.enterObject()
      while true {
        let keyOffset = scanner.position
        guard let key = try scanner.nextKey() else { break }
        let value = try JSONNode(&scanner, &limits)
        members.append(Member(key: key, keyOffset: keyOffset, value: value))
        guard members.count <= limits.members else {
          throw scanner.failure("more than \(limits.members) members")
        }
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
