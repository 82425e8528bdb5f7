/// One JSON value as a flat array of nodes over the bytes it came from: no string is made until it
/// is asked for, and the array can be filled again and again.
///
/// It reads by pieces: `read` answers `.more` when the value does not end within the bytes; append
/// the next piece and try again. The tape must be read while its bytes are there.
public struct JSONTape {
  /// One value of the tape, with its key where it is a member.
  public struct Node {
    public let kind: JSONScanner.Kind
    /// The text of the value; of a string what stands between its quotes.
    public let value: Range<Int>
    public let hasEscapes: Bool
    /// The text of the key between its quotes; empty in arrays.
    public let key: Range<Int>
    public let keyHasEscapes: Bool
    /// The node after this one and all it holds.
    public internal(set) var end: Int = 0
  }

  /// How far a value was read.
  public enum Progress: Sendable, Equatable {
    /// The value is complete and ends before this offset.
    case complete(Int)
    /// The bytes end inside the value.
    case more
  }

  public private(set) var nodes: [Node] = []
  /// Members or elements that one container may have.
  public let memberLimit: Int

  public init(memberLimit: Int = .max) { self.memberLimit = memberLimit }

  /// Reads the value that begins at or after `start`. Pass `isLast` when no more bytes will come.
  public mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, isLast: Bool, depthLimit: Int = 64
  ) throws(JSONError) -> Progress {
    nodes.removeAll(keepingCapacity: true)
    var scanner = JSONScanner(bytes, from: start, depthLimit: depthLimit)
    do throws(JSONError) {
      try value(&scanner, key: (0..<0, false))
    } catch {
      if scanner.reachedEnd, !isLast { return .more }
      throw error
    }
    if scanner.reachedEnd, !isLast { return .more }
    return .complete(scanner.position)
  }

  private mutating func value(
    _ scanner: inout JSONScanner, key: (text: Range<Int>, hasEscapes: Bool)
  ) throws(JSONError) {
    let kind = try scanner.peek()
    let start = scanner.position
    let index = nodes.count
    var text = start..<start
    var hasEscapes = false
    switch kind {
    case .string: (text, hasEscapes) = try scanner.stringRange()
    case .number: text = try scanner.numberTextRange()
    case .boolean:
      _ = try scanner.boolean()
      text = start..<scanner.position
    case .null:
      try scanner.null()
      text = start..<scanner.position
    case .end: throw scanner.failure("the text ends where a value was expected")
    case .object, .array: break
    }
    nodes.append(
      Node(
        kind: kind, value: text, hasEscapes: hasEscapes, key: key.text,
        keyHasEscapes: key.hasEscapes))
    var count = 0
    if kind == .object {
      try scanner.enterObject()
      while try scanner.nextMember() {
        let key = try scanner.stringRange()
        try scanner.colon()
        try value(&scanner, key: key)
        count += 1
        guard count <= memberLimit else {
          throw scanner.failure("more than \(memberLimit) members")
        }
      }
    } else if kind == .array {
      try scanner.enterArray()
      while try scanner.nextElement() {
        try value(&scanner, key: (0..<0, false))
        count += 1
      }
    }
    nodes[index].end = nodes.count
  }

  /// The string of a range of the text, escapes read. Throws when it is not valid UTF-8.
  public static func string(
    _ range: Range<Int>, hasEscapes: Bool, in bytes: UnsafeBufferPointer<UInt8>
  ) throws(JSONError) -> String {
    if !hasEscapes {
      guard
        let text = String(validating: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
      else { throw JSONError(offset: range.lowerBound, problem: "the string is not valid UTF-8") }
      return text
    }
    var scanner = JSONScanner(bytes, from: range.lowerBound - 1)
    return try scanner.string()
  }
}
