import CLibXML2
import FerryJSON

/// Pushes bytes through libxml2's SAX2 parser: no DOCTYPE, no entity, no file, no socket.
///
/// What the parser tells is written into `tree` by callbacks that do nothing else; whoever pushes
/// looks at the tree between two pieces, and releases what it has seen.
final class XMLPush {
  private(set) var tree: XMLTree
  let limits: ODataLimits
  private let sink: UnsafeMutablePointer<XMLSink>
  private var context: OpaquePointer?
  private var decoding = TextDecoding()
  private var pushed = 0
  /// Where the next byte to be parsed stands.
  private var next = TextPlace()
  private var isBlank = true
  private var failure: ODataError?
  private var isFinished = false

  /// The longest piece that is parsed at once.
  static let pieceBytes = 32 << 10

  init(limits: ODataLimits) {
    self.limits = limits
    tree = XMLTree(names: XMLNames())
    sink = .allocate(capacity: 1)
    sink.initialize(to: XMLSink(tree.memory, tree.names, limits))
  }

  deinit {
    if let context { xmlFreeParserCtxt(context) }
    sink.deinitialize(count: 1)
    sink.deallocate()
  }

  /// Elements that are open.
  var depth: Int { sink.pointee.depth }

  /// Faults that need not end the reading, such as a prefix that is not declared.
  var diagnostics: [ODataDiagnostic] { sink.pointee.diagnostics }

  /// Says that the children of the root are handled one by one: white space between them is not
  /// kept, and the limits are those of one child.
  func splitRoot() { sink.pointee.isSplit = true }

  /// Forgets the complete children of the root. Whoever still holds the tree keeps what was there.
  func release() {
    if isKnownUniquelyReferenced(&tree) {
      tree.memory.pointee.release()
      tree.forgetNumbers()
    } else {
      var memory = tree.memory.pointee.copy()
      memory.release()
      let origin = tree.origin
      tree = XMLTree(names: tree.names, memory: memory)
      tree.origin = origin
      sink.pointee.memory = tree.memory
    }
    sink.pointee.rebase()
  }

  /// Forgets all but the path of open elements.
  func forget() {
    tree.memory.pointee.forget()
    tree.forgetNumbers()
  }

  /// Parses all the bytes.
  func push(_ bytes: [UInt8]) throws(ODataError) { try push(bytes) {} }

  /// Parses the bytes by pieces of 32 KB, and calls `between` after each.
  func push(_ bytes: [UInt8], between: () -> Void) throws(ODataError) {
    try feed(bytes, isLast: false, between)
  }

  func finish() throws(ODataError) {
    guard !isFinished else { return }
    isFinished = true
    try feed([], isLast: true) {}
  }

  /// An error where the parser stands.
  private func error(_ code: ODataError.Code, _ message: String) -> ODataError {
    let place = sink.pointee.place
    return ODataError(code, message, at: ODataPlace(line: place.line, column: place.column))
  }

  private func feed(
    _ bytes: [UInt8], isLast: Bool, _ between: () -> Void
  ) throws(ODataError) {
    if let failure { throw failure }
    do throws(ODataError) {
      let text: [UInt8]
      do throws(ODataError) {
        text = try decoding.decode(bytes, isLast: isLast)
      } catch {
        let place = sink.pointee.place
        throw ODataError(
          error.code, error.message,
          at: error.place ?? ODataPlace(line: max(1, place.line), column: max(1, place.column)),
          hint: error.hint)
      }
      var start = 0
      while start < text.count {
        let end = min(start + Self.pieceBytes, text.count)
        defer { between() }
        try parse(text, start..<end)
        start = end
      }
      if isLast { try close() }
    } catch {
      failure = error
      throw error
    }
  }

  private func open() throws(ODataError) -> OpaquePointer {
    if let context { return context }
    var handler = xmlSAXHandler()
    handler.initialized = 0xDEED_BEAF
    handler.internalSubset = { pointer, _, _, _ in XMLSink.at(pointer)?.pointee.doctype() }
    handler.startElementNs = { pointer, local, prefix, address, _, _, count, _, attributes in
      guard let sink = XMLSink.at(pointer), let local else { return }
      sink.pointee.start(local, prefix, address, Int(count), attributes)
    }
    handler.endElementNs = { pointer, _, _, _ in XMLSink.at(pointer)?.pointee.end() }
    let characters:
      @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, Int32) -> Void =
        { pointer, text, count in
          guard let sink = XMLSink.at(pointer), let text else { return }
          sink.pointee.characters(UnsafeBufferPointer(start: text, count: Int(count)))
        }
    handler.characters = characters
    handler.ignorableWhitespace = characters
    handler.cdataBlock = characters
    handler.serror = { pointer, detail in
      guard let detail else { return }
      XMLSink.at(pointer)?.pointee.complain(detail.pointee)
    }
    xmlInitParser()
    guard let made = xmlCreatePushParserCtxt(&handler, sink, nil, 0, nil) else {
      throw ODataError(.malformed, "there is no memory for an XML parser")
    }
    context = made
    sink.pointee.context = made
    // NONET, HUGE (the limits are ours), IGNORE_ENC (the bytes are UTF-8 by now), and NOENT, without
    // which `&amp;` in an attribute arrives as `&#38;`; there is no DOCTYPE that could declare more.
    _ = xmlCtxtUseOptions(made, 1 << 11 | 1 << 19 | 1 << 21 | 1 << 1)
    return made
  }

  private func parse(_ text: [UInt8], _ range: Range<Int>) throws(ODataError) {
    let context = try open()
    if isBlank, let first = text[range].firstIndex(where: { !Self.isSpace($0) }) {
      isBlank = false
      if text[first] != UInt8(ascii: "<") {
        throw ODataError(
          .malformed, "the document is neither XML nor JSON",
          at: place(of: first, in: text, range),
          hint: "check the address: an OData service answers with XML, JSON or a batch")
      }
    }
    let hasNull = text.withUnsafeBufferPointer { buffer in
      let piece = UnsafeBufferPointer(rebasing: buffer[range])
      if Self.holdsNull(piece) { return true }
      piece.withMemoryRebound(to: CChar.self) { chars in
        _ = xmlParseChunk(context, chars.baseAddress, Int32(chars.count), 0)
      }
      return false
    }
    if let failure = sink.pointee.failure { throw failure }
    if hasNull, let null = text[range].firstIndex(of: 0) {
      throw ODataError(
        .malformed, "the document has a NUL character", at: place(of: null, in: text, range))
    }
    next = behind(text, range)
    pushed += range.count
    if pushed - xmlByteConsumed(context) > limits.tagBytes {
      throw error(.limit, "a tag or comment is longer than \(limits.tagBytes) bytes")
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// The place behind bytes that begin where the next one is to be parsed.
  private func behind(_ text: [UInt8], _ range: Range<Int>) -> TextPlace {
    text.withUnsafeBufferPointer { next.behind(UnsafeBufferPointer(rebasing: $0[range])) }
  }

  private func place(of byte: Int, in text: [UInt8], _ range: Range<Int>) -> ODataPlace {
    let place = behind(text, range.lowerBound..<byte)
    return ODataPlace(line: place.line, column: place.column)
  }

  /// Looks at eight bytes at a time.
  private static func holdsNull(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(piece)
    let ones: UInt64 = 0x0101_0101_0101_0101
    var found: UInt64 = 0
    var place = 0
    while place + 8 <= raw.count {
      let word = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      found |= (word &- ones) & ~word
      place += 8
    }
    if found & (ones &* 0x80) != 0 { return true }
    while place < raw.count {
      if raw[place] == 0 { return true }
      place += 1
    }
    return false
  }

  private func close() throws(ODataError) {
    let sawElement = sink.pointee.sawElement
    guard let context, !isBlank else {
      throw ODataError(.truncated, "the document is empty", at: ODataPlace(line: 1, column: 1))
    }
    _ = xmlParseChunk(context, nil, 0, 1)
    if let failure = sink.pointee.failure {
      // What is missing at the end was cut off, whatever the parser calls it.
      if failure.code == .malformed, depth > 0 || !sawElement {
        throw ODataError(.truncated, failure.message, at: failure.place)
      }
      throw failure
    }
    if depth > 0 || !sawElement {
      throw error(.truncated, "the document ends before its root does")
    }
  }
}
