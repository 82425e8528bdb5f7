import FerryJSON

/// Bytes of a document that were not read yet, and the tape of the value that is being read.
struct JSONPiece: ~Copyable {
  var bytes = FlatArray<UInt8>(reserving: 4_096)
  var tape: JSONTape
  /// Of the first byte.
  var start = TextPlace()
  /// Whether the bytes were put together from several places, so that all stand at the first.
  var isGathered = false
  /// Where a row looks first for the property that it is asked for next.
  var nextMember = 0

  /// Whether a text stands at a range.
  @inline(__always)
  func holds(_ text: String, at range: Range<Int>) -> Bool {
    UnsafeBufferPointer(rebasing: bytes.elements[range]).holds(text)
  }

  /// Line and column of an offset.
  func place(_ offset: Int) -> TextPlace {
    if isGathered { return start }
    return start.behind(UnsafeBufferPointer(rebasing: bytes.elements[..<min(offset, bytes.count)]))
  }
}

/// The owner of a piece.
final class JSONMemory {
  let at: UnsafeMutablePointer<JSONPiece>
  /// What makes whole entries of the rows that stand here.
  var origin: JSONOrigin?

  init(memberLimit: Int) {
    at = .allocate(capacity: 1)
    at.initialize(to: JSONPiece(tape: JSONTape(memberLimit: memberLimit)))
  }

  deinit {
    at.deinitialize(count: 1)
    at.deallocate()
  }
}

/// One JSON value on a tape, with the bytes it stands in.
struct JSONRecord {
  let memory: JSONMemory
  let keys: JSONKeys
  /// The node of the value.
  let root: Int
  /// The number of the value in its feed; 0 outside one.
  var number = 0
  /// The path of what holds the value: of its list, or of the object that it is a member of.
  var path = ""

  var bytes: UnsafeBufferPointer<UInt8> { memory.at.pointee.bytes.elements }

  /// The place of an offset.
  func place(_ offset: Int) -> ODataPlace {
    let place = memory.at.pointee.place(offset)
    return ODataPlace(
      line: place.line, column: place.column, path: number > 0 ? "\(path)[\(number)]" : path)
  }

  /// The place of a node, with the whole way to it.
  func place(of node: Int) -> ODataPlace {
    let place = place(offset(node))
    var path = place.path
    var outer = root
    while outer < node, let (number, inner) = step(from: outer, towards: node) {
      path += kind(outer) == .object ? "/" + ((try? key(inner)) ?? "") : "[\(number)]"
      outer = inner
    }
    return ODataPlace(line: place.line, column: place.column, path: path)
  }

  /// The child of a node that is another or holds it, with its number.
  private func step(from outer: Int, towards node: Int) -> (number: Int, child: Int)? {
    for (index, child) in children(outer).enumerated() where node < self.node(child).end {
      return (index + 1, child)
    }
    return nil
  }

  @inline(__always)
  func node(_ index: Int) -> JSONTape.Node { memory.at.pointee.tape.nodes[index] }
  func kind(_ node: Int) -> JSONScanner.Kind { self.node(node).kind }

  func key(_ node: Int) throws(ODataError) -> String { try name(node).text }

  /// The key of a member, known from the entries before where it can be.
  func name(_ node: Int) throws(ODataError) -> JSONKeys.Key {
    let found = self.node(node)
    let text = UnsafeBufferPointer(rebasing: bytes[found.key])
    if !found.keyHasEscapes, let known = keys.find(text) { return known }
    let made = try string(found.key, found.keyHasEscapes)
    return keys.add(made, found.keyHasEscapes ? nil : text)
  }

  func string(_ node: Int) throws(ODataError) -> String {
    let found = self.node(node)
    return try string(found.value, found.hasEscapes)
  }

  private func string(_ range: Range<Int>, _ hasEscapes: Bool) throws(ODataError) -> String {
    do throws(JSONError) {
      return try JSONTape.string(range, hasEscapes: hasEscapes, in: bytes)
    } catch {
      let code: ODataError.Code = error.problem.contains("UTF-8") ? .encoding : .malformed
      throw ODataError(code, error.problem, at: place(error.offset))
    }
  }

  /// The text of a value as it stands there; of a string what is between its quotes.
  func text(_ node: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[self.node(node).value])
  }

  func spelled(_ node: Int) -> String { String(decoding: text(node), as: UTF8.self) }
  func offset(_ node: Int) -> Int { self.node(node).value.lowerBound }

  /// The members or elements directly inside a node.
  func children(_ node: Int) -> Children {
    Children(memory: memory, position: node + 1, end: self.node(node).end)
  }

  struct Children: Sequence, IteratorProtocol {
    let memory: JSONMemory
    var position: Int
    let end: Int

    mutating func next() -> Int? {
      guard position < end else { return nil }
      defer { position = memory.at.pointee.tape.nodes[position].end }
      return position
    }
  }

  /// The last member of a name.
  func member(_ node: Int, _ name: String) throws(ODataError) -> Int? {
    guard kind(node) == .object else { return nil }
    var found: Int?
    for child in children(node) where try key(child) == name { found = child }
    return found
  }

  /// The string of a member; numbers as they are written.
  func text(_ node: Int, _ name: String) throws(ODataError) -> String? {
    guard let child = try member(node, name) else { return nil }
    return try scalar(child)
  }

  func scalar(_ node: Int) throws(ODataError) -> String? {
    switch kind(node) {
    case .string: try string(node)
    case .number, .boolean: spelled(node)
    default: nil
    }
  }

  /// The text of an error's message: a string, or an object with a `value`.
  func message(of error: Int) throws(ODataError) -> String? {
    guard let node = try member(error, "message") else { return nil }
    if let text = try scalar(node) { return text }
    return try text(node, "value")
  }

  func errorDocument(_ error: Int) throws(ODataError) -> ODataErrorDocument {
    let code = try text(error, "code")
    let message = try message(of: error)
    return ODataErrorDocument(code: code ?? "", message: message ?? "")
  }
}

/// What makes whole entries of rows.
final class JSONOrigin {
  let context: ODataReadContext
  let keys: JSONKeys
  let type: String?
  let base: ODataGround?
  let selection: JSONSelection?
  let path: String

  init(_ reader: JSONEntryReader, type: String?) {
    context = reader.context
    keys = reader.record.keys
    self.type = type
    base = reader.base
    selection = reader.selection
    path = reader.record.path
  }
}
