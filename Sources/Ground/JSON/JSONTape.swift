/// One JSON value as a flat array of nodes over the bytes it came from: no string is made until it
/// is asked for, and the array can be filled again and again.
///
/// It reads by pieces: `read` answers `.more` when the value does not end within the bytes; append
/// the next piece and try again. The tape must be read while its bytes are there.
public struct JSONTape: ~Copyable {
  /// One value of the tape, with its key where it is a member.
  @frozen public struct Node: BitwiseCopyable, Sendable {
    public let kind: JSONScanner.Kind
    public let hasEscapes: Bool
    public let keyHasEscapes: Bool
    @usableFromInline var valueStart: UInt32
    @usableFromInline var valueEnd: UInt32
    @usableFromInline var keyStart: UInt32
    @usableFromInline var keyEnd: UInt32
    @usableFromInline var endIndex: UInt32 = 0

    init(
      _ kind: JSONScanner.Kind, _ value: Range<Int>, hasEscapes: Bool, key: Range<Int>,
      keyHasEscapes: Bool
    ) {
      self.kind = kind
      self.hasEscapes = hasEscapes
      self.keyHasEscapes = keyHasEscapes
      valueStart = UInt32(truncatingIfNeeded: value.lowerBound)
      valueEnd = UInt32(truncatingIfNeeded: value.upperBound)
      keyStart = UInt32(truncatingIfNeeded: key.lowerBound)
      keyEnd = UInt32(truncatingIfNeeded: key.upperBound)
    }

    /// The text of the value; of a string what stands between its quotes.
    @inlinable public var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
    /// The text of the key between its quotes; empty in arrays.
    @inlinable public var key: Range<Int> { Int(keyStart)..<Int(keyEnd) }
    /// The node after this one and all it holds.
    @inlinable public var end: Int { Int(endIndex) }
  }

  /// How far a value was read.
  public enum Progress: Sendable, Equatable {
    /// The value is complete and ends before this offset.
    case complete(Int)
    /// The bytes end inside the value.
    case more
  }

  public private(set) var nodes = FlatArray<Node>(reserving: 64)
  /// Members or elements that one container may have.
  public let memberLimit: Int
  private var open = FlatArray<Open>(reserving: 16)

  struct Open: BitwiseCopyable {
    let node: Int
    let isObject: Bool
    var count = 0
  }

  public init(memberLimit: Int = .max) { self.memberLimit = memberLimit }

  /// Reads the value that begins at or after `start`. Pass `isLast` when no more bytes will come.
  ///
  /// The first `kept` nodes stay, so that the values before can still be looked at; the new one
  /// begins at node `kept`. Texts of 4 GB and more are refused.
  public mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, isLast: Bool, depthLimit: Int = 64,
    keeping kept: Int = 0
  ) throws(JSONError) -> Progress {
    guard bytes.count < UInt32.max else {
      throw JSONError(offset: 0, problem: "more than 4 GB in one text")
    }
    // What is sound is read in one go; anything else is read again, slowly, to be told exactly.
    nodes.cut(to: kept)
    if let end = run(bytes, from: start, depthLimit: depthLimit) { return .complete(end) }
    nodes.cut(to: kept)
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

  /// The same for what is sound and followed by another byte; nil for everything else.
  private mutating func run(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, depthLimit: Int
  ) -> Int? {
    open.cut(to: 0)
    let text = JSONBytes(bytes)
    var position = text.skipSpace(start)
    var key = JSONBytes.Text(start: 0, end: 0, hasEscapes: false)
    while true {
      guard position < text.count else { return nil }
      let first = text[position]
      var kind = JSONScanner.Kind.number
      var value = JSONBytes.Text(start: position, end: position, hasEscapes: false)
      switch first {
      case UInt8(ascii: "\""):
        guard let found = text.string(position + 1) else { return nil }
        (kind, value, position) = (.string, found, found.end + 1)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let isObject = first == UInt8(ascii: "{")
        guard open.count < depthLimit else { return nil }
        let index = nodes.count
        nodes.append(Node(isObject ? .object : .array, value, key, end: 0))
        position = text.skipSpace(position + 1)
        guard position < text.count else { return nil }
        if text[position] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          nodes[index].endIndex = UInt32(truncatingIfNeeded: nodes.count)
          position += 1
          guard let next = proceed(text, position, &key) else { return nil }
          if open.count == 0 { return next }
          position = next
          continue
        }
        open.append(Open(node: index, isObject: isObject))
        if isObject {
          guard let next = text.key(position, &key) else { return nil }
          position = next
        } else {
          key = JSONBytes.Text(start: 0, end: 0, hasEscapes: false)
        }
        continue
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        guard let end = text.number(position) else { return nil }
        (value.end, position) = (end, end)
      default:
        guard let (word, end) = text.word(position) else { return nil }
        (kind, value.end, position) = (word, end, end)
      }
      nodes.append(Node(kind, value, key, end: nodes.count + 1))
      if open.count == 0 { return position < text.count ? position : nil }
      guard let next = proceed(text, position, &key) else { return nil }
      if open.count == 0 { return next }
      position = next
    }
  }

  /// After a value: the place of the next one, closing what ends here; when nothing is open any
  /// more, the place after it all.
  private mutating func proceed(
    _ text: JSONBytes, _ from: Int, _ key: inout JSONBytes.Text
  ) -> Int? {
    var position = from
    while open.count > 0 {
      let top = open.count - 1
      open[top].count += 1
      position = text.skipSpace(position)
      guard position < text.count else { return nil }
      let byte = text[position]
      if byte == UInt8(ascii: ",") {
        position = text.skipSpace(position + 1)
        guard position < text.count else { return nil }
        if open[top].isObject {
          guard open[top].count < memberLimit else { return nil }
          return text.key(position, &key)
        }
        key = JSONBytes.Text(start: 0, end: 0, hasEscapes: false)
        return position
      }
      guard byte == (open[top].isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return nil }
      position += 1
      nodes[open[top].node].endIndex = UInt32(truncatingIfNeeded: nodes.count)
      open.cut(to: top)
    }
    return position
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
        kind, text, hasEscapes: hasEscapes, key: key.text, keyHasEscapes: key.hasEscapes))
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
    nodes[index].endIndex = UInt32(truncatingIfNeeded: nodes.count)
  }

  /// The string of a range of the text, escapes read. Throws when it is not valid UTF-8.
  public static func string(
    _ range: Range<Int>, hasEscapes: Bool, in bytes: UnsafeBufferPointer<UInt8>
  ) throws(JSONError) -> String {
    if !hasEscapes {
      guard let text = String(checking: UnsafeBufferPointer(rebasing: bytes[range])) else {
        throw JSONError(offset: range.lowerBound, problem: "the string is not valid UTF-8")
      }
      return text
    }
    var scanner = JSONScanner(bytes, from: range.lowerBound - 1)
    return try scanner.string()
  }
}

extension JSONTape.Node {
  @inline(__always)
  fileprivate init(
    _ kind: JSONScanner.Kind, _ value: JSONBytes.Text, _ key: JSONBytes.Text, end: Int
  ) {
    self.kind = kind
    hasEscapes = value.hasEscapes
    keyHasEscapes = key.hasEscapes
    valueStart = UInt32(truncatingIfNeeded: value.start)
    valueEnd = UInt32(truncatingIfNeeded: value.end)
    keyStart = UInt32(truncatingIfNeeded: key.start)
    keyEnd = UInt32(truncatingIfNeeded: key.end)
    endIndex = UInt32(truncatingIfNeeded: end)
  }
}
