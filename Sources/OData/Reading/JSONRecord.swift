import FerryJSON

/// One JSON value on a tape, with the bytes it stands in.
struct JSONRecord {
  let tape: JSONTape
  let bytes: UnsafeBufferPointer<UInt8>
  /// Makes a place of an offset.
  let place: (Int) -> ODataPlace

  func kind(_ node: Int) -> JSONScanner.Kind { tape.nodes[node].kind }

  func key(_ node: Int) throws(ODataError) -> String {
    let found = tape.nodes[node]
    return try string(found.key, found.keyHasEscapes)
  }

  func string(_ node: Int) throws(ODataError) -> String {
    let found = tape.nodes[node]
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

  /// The text of a number, boolean or null.
  func text(_ node: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[tape.nodes[node].value])
  }

  func spelled(_ node: Int) -> String { String(decoding: text(node), as: UTF8.self) }
  func offset(_ node: Int) -> Int { tape.nodes[node].value.lowerBound }

  /// The members or elements directly inside a node.
  func children(_ node: Int) -> Children {
    Children(tape: tape, position: node + 1, end: tape.nodes[node].end)
  }

  struct Children: Sequence, IteratorProtocol {
    let tape: JSONTape
    var position: Int
    let end: Int

    mutating func next() -> Int? {
      guard position < end else { return nil }
      defer { position = tape.nodes[position].end }
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
