import CLibXML2

/// Takes what stands in an XML document, in the order of the text.
protocol XMLReceiver: AnyObject {
  func start(
    _ name: Int32, attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int,
    from parser: XMLPush) throws(ODataError)
  func end(from parser: XMLPush) throws(ODataError)
  func characters(_ text: UnsafeBufferPointer<UInt8>, from parser: XMLPush) throws(ODataError)
  /// A fault that need not end the reading, such as a prefix that is not declared.
  func complain(_ message: String, from parser: XMLPush)
}

/// Pushes bytes through libxml2's SAX2 parser: no DOCTYPE, no entity, no file, no socket.
final class XMLPush {
  let names = XMLNames()
  let limits: ODataLimits
  private(set) var depth = 0
  /// The place where the parser stands.
  var place: (line: Int, column: Int) {
    guard let context else { return (0, 0) }
    let pointer = UnsafeMutableRawPointer(context)
    return (Int(xmlSAX2GetLineNumber(pointer)), Int(xmlSAX2GetColumnNumber(pointer)))
  }

  private unowned let receiver: any XMLReceiver
  private var context: OpaquePointer?
  private var decoding = TextDecoding()
  private var pushed = 0
  private var failure: ODataError?
  private var isFinished = false
  private var sawElement = false

  init(limits: ODataLimits, receiver: any XMLReceiver) {
    self.limits = limits
    self.receiver = receiver
  }

  deinit { if let context { xmlFreeParserCtxt(context) } }

  func push(_ bytes: [UInt8]) throws(ODataError) { try feed(bytes, isLast: false) }

  func finish() throws(ODataError) {
    guard !isFinished else { return }
    isFinished = true
    try feed([], isLast: true)
  }

  /// An error where the parser stands.
  func error(_ code: ODataError.Code, _ message: String, path: String = "") -> ODataError {
    let place = place
    return ODataError(
      code, message, at: ODataPlace(line: place.line, column: place.column, path: path))
  }

  private func feed(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    if let failure { throw failure }
    do throws(ODataError) {
      let text: [UInt8]
      do throws(ODataError) {
        text = try decoding.decode(bytes, isLast: isLast)
      } catch {
        throw ODataError(
          error.code, error.message,
          at: error.place ?? ODataPlace(line: max(1, place.line), column: max(1, place.column)),
          hint: error.hint)
      }
      let size = 32 << 10
      var start = 0
      while start < text.count {
        let end = min(start + size, text.count)
        try parse(text, start..<end)
        start = end
      }
      if isLast { try close() }
    } catch {
      failure = error
      throw error
    }
  }

  private func open() throws(ODataError) {
    guard context == nil else { return }
    var handler = xmlSAXHandler()
    handler.initialized = 0xDEED_BEAF
    handler.internalSubset = { pointer, _, _, _ in XMLPush.from(pointer)?.doctype() }
    handler.startElementNs = { pointer, local, prefix, address, _, _, count, _, attributes in
      XMLPush.from(pointer)?.start(local, prefix, address, Int(count), attributes)
    }
    handler.endElementNs = { pointer, _, _, _ in XMLPush.from(pointer)?.end() }
    handler.characters = { XMLPush.from($0)?.characters($1, Int($2)) }
    handler.ignorableWhitespace = { XMLPush.from($0)?.characters($1, Int($2)) }
    handler.cdataBlock = { XMLPush.from($0)?.characters($1, Int($2)) }
    handler.serror = { XMLPush.from($0)?.complain($1) }
    xmlInitParser()
    let this = Unmanaged.passUnretained(self).toOpaque()
    guard let made = xmlCreatePushParserCtxt(&handler, this, nil, 0, nil) else {
      throw ODataError(.malformed, "there is no memory for an XML parser")
    }
    context = made
    // NONET, HUGE (the limits are ours), IGNORE_ENC (the bytes are UTF-8 by now), and NOENT, without
    // which `&amp;` in an attribute arrives as `&#38;`; there is no DOCTYPE that could declare more.
    _ = xmlCtxtUseOptions(made, 1 << 11 | 1 << 19 | 1 << 21 | 1 << 1)
  }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> XMLPush? {
    pointer.map { Unmanaged<XMLPush>.fromOpaque($0).takeUnretainedValue() }
  }

  private func parse(_ text: [UInt8], _ range: Range<Int>) throws(ODataError) {
    try open()
    guard let context else { return }
    let hasNull = text.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { chars in
        let piece = UnsafeBufferPointer(rebasing: chars[range])
        if piece.contains(0) { return true }
        _ = xmlParseChunk(context, piece.baseAddress, Int32(piece.count), 0)
        return false
      }
    }
    if let failure { throw failure }
    if hasNull { throw error(.malformed, "a NUL character stands in the document") }
    pushed += range.count
    if pushed - xmlByteConsumed(context) > limits.tagBytes {
      throw error(.limit, "a tag or comment is longer than \(limits.tagBytes) bytes")
    }
  }

  private func close() throws(ODataError) {
    guard let context, sawElement || pushed > 0 else {
      throw ODataError(.truncated, "the document is empty", at: ODataPlace(line: 1, column: 1))
    }
    _ = xmlParseChunk(context, nil, 0, 1)
    if let failure {
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

  private func stop(_ error: ODataError) {
    guard failure == nil else { return }
    failure = error
    if let context { xmlStopParser(context) }
  }

  private func doctype() { stop(error(.doctype, "a DOCTYPE stands in the document")) }

  private func start(
    _ local: UnsafePointer<UInt8>?, _ prefix: UnsafePointer<UInt8>?,
    _ address: UnsafePointer<UInt8>?, _ count: Int,
    _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
  ) {
    guard failure == nil, let local else { return }
    sawElement = true
    depth += 1
    do throws(ODataError) {
      guard depth <= limits.depth else {
        throw error(.limit, "more than \(limits.depth) elements are nested")
      }
      try receiver.start(
        names.id(local, prefix, address), attributes: attributes, count: count, from: self)
    } catch {
      stop(error)
    }
  }

  private func end() {
    guard failure == nil else { return }
    do throws(ODataError) {
      try receiver.end(from: self)
      depth -= 1
    } catch {
      stop(error)
    }
  }

  private func characters(_ text: UnsafePointer<UInt8>?, _ count: Int) {
    guard failure == nil, count > 0, let text else { return }
    do throws(ODataError) {
      try receiver.characters(UnsafeBufferPointer(start: text, count: count), from: self)
    } catch {
      stop(error)
    }
  }

  private func complain(_ detail: UnsafeMutablePointer<xmlError>?) {
    guard failure == nil, let detail else { return }
    let code = detail.pointee.code
    let text = detail.pointee.message.map { String(cString: $0) } ?? "the XML is not well-formed"
    let message = String(text.prefix { $0 != "\n" })
    // Namespaces have codes from 200 to 208; level 1 is a warning.
    if (200..<210).contains(code) || detail.pointee.level <= 1 {
      if code == 201 || code == 202 { receiver.complain(message, from: self) }
      return
    }
    // A character that may not stand there is told by its number; from 128 on it is a byte that is
    // no UTF-8.
    let number = message.split(separator: " ").reversed().lazy.compactMap { word in
      word.hasPrefix("0x") ? Int(word.dropFirst(2), radix: 16) : Int(word)
    }.first
    let isForeign =
      message.contains("UTF-8") || (code == 9 && number.map { $0 > 0x7F } == true)
    stop(error(code == 81 || isForeign ? .encoding : .malformed, message))
  }
}
