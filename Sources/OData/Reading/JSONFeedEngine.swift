import FerryJSON

/// Takes a JSON document by pieces: the entries of a feed one by one, everything else as a whole.
final class JSONFeedEngine {
  private enum Container { case top, verbose, array }
  private enum State { case start, member(isFirst: Bool), element(isFirst: Bool), end }

  let context: ODataReadContext
  private var decoding = TextDecoding()
  private var buffer: [UInt8] = []
  private var position = 0
  private var line = 1
  private var column = 1
  private var state = State.start
  private var containers: [Container] = []
  private var waitFor = 0
  private var isLast = false
  private var tape: JSONTape
  private(set) var isVerbose = false
  private var sawWrapper = false
  private var type: String?
  private var number = 0
  /// Members that are not the array, as text, to be read as one object at the end.
  private var rest: [UInt8] = []
  private var sawPlainMember = false
  private var isStreaming = false
  private(set) var head = ODataFeedHead()
  private(set) var isFeed: Bool?
  var items: [ODataItem] = []
  /// Where the next one in `items` is.
  var isEnded: Bool { if case .end = state { true } else { false } }

  init(_ context: ODataReadContext) {
    self.context = context
    tape = JSONTape(memberLimit: context.options.limits.members)
    type = context.options.type
    if let version = context.options.version, version < .v3 { isVerbose = true }
  }

  func push(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    let text = try decoding.decode(bytes, isLast: isLast)
    compact()
    buffer += text
    self.isLast = isLast
    try run()
  }

  /// Reads on while there is enough.
  private func run() throws(ODataError) {
    while try step() {}
    if isLast, !isEnded { throw truncated("the document ends too early") }
    if buffer.count - position > context.options.limits.recordBytes {
      throw ODataError(
        .limit, "one record is longer than \(context.options.limits.recordBytes) bytes",
        at: place(position))
    }
  }

  private func truncated(_ message: String) -> ODataError {
    ODataError(.truncated, message, at: place(buffer.count))
  }

  private func compact() {
    guard position > 0 else { return }
    let place = place(position)
    line = place.line
    column = place.column
    buffer.removeSubrange(..<position)
    position = 0
  }

  private func place(_ offset: Int) -> ODataPlace {
    var line = line
    var column = column
    for byte in buffer[..<min(offset, buffer.count)] {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return ODataPlace(line: line, column: column, path: isStreaming ? "/value[\(number + 1)]" : "")
  }

  private func fail(_ error: JSONError) -> ODataError {
    let isEnd = error.offset >= buffer.count || error.problem.contains("does not end")
    let code: ODataError.Code =
      error.problem.hasPrefix("more than")
      ? .limit
      : error.problem.contains("UTF-8") ? .encoding : isEnd && isLast ? .truncated : .malformed
    return ODataError(code, error.problem, at: place(error.offset))
  }

  /// Skips white space; false when nothing is left.
  private func skip() -> Bool {
    while position < buffer.count {
      switch buffer[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return true
      }
    }
    return false
  }

  private func unexpected(_ message: String) -> ODataError {
    ODataError(.malformed, message, at: place(position))
  }

  private func step() throws(ODataError) -> Bool {
    guard skip() else { return false }
    let byte = buffer[position]
    switch state {
    case .end: throw unexpected("text follows the end of the document")
    case .start:
      if byte == UInt8(ascii: "{") {
        position += 1
        containers = [.top]
        state = .member(isFirst: true)
      } else if byte == UInt8(ascii: "[") {
        beginArray()
      } else {
        guard
          let value = try record({ record throws(ODataError) in
            try self.reader(record).value(0, type: nil, name: "")
          })
        else { return false }
        items.append(.value(value))
        isFeed = false
        state = .end
      }
    case .member(let isFirst):
      if byte == UInt8(ascii: "}") {
        position += 1
        containers.removeLast()
        try close()
        return true
      }
      return try member(isFirst: isFirst)
    case .element(let isFirst):
      if byte == UInt8(ascii: "]") {
        position += 1
        containers.removeLast()
        isStreaming = false
        if containers.isEmpty { state = .end } else { state = .member(isFirst: false) }
        return true
      }
      let start = position
      if !isFirst {
        guard byte == UInt8(ascii: ",") else { throw unexpected("a comma was expected") }
        position += 1
        guard skip() else {
          position = start
          return false
        }
        if buffer[position] == UInt8(ascii: "]") { throw unexpected("a comma too many") }
      }
      guard
        let item = try record({ record throws(ODataError) in
          try self.reader(record).item(0, type: self.type)
        })
      else {
        position = start
        return false
      }
      items.append(item)
      number += 1
      state = .element(isFirst: false)
    }
    return true
  }

  private func beginArray() {
    position += 1
    containers.append(.array)
    state = .element(isFirst: true)
    isFeed = true
    isStreaming = true
  }

  private func reader(_ record: JSONRecord) -> JSONEntryReader {
    JSONEntryReader(context: context, record: record, isVerbose: isVerbose)
  }

  /// Reads one value whole; nil when there is more to come. Nothing is tried again before the
  /// bytes have doubled, so that a long value costs no more than twice its length.
  private func record<T>(
    _ body: (JSONRecord) throws(ODataError) -> T
  ) throws(ODataError) -> T? {
    if !isLast, buffer.count - position < waitFor { return nil }
    let start = position
    let limits = context.options.limits
    var tape = JSONTape()
    swap(&tape, &self.tape)
    defer { swap(&tape, &self.tape) }
    let outcome: Result<(T, Int)?, ODataError> = buffer.withUnsafeBufferPointer { bytes in
      do throws(JSONError) {
        switch try tape.read(
          bytes, from: start, isLast: isLast, depthLimit: limits.depth - containers.count)
        {
        case .more: return .success(nil)
        case .complete(let end):
          let record = JSONRecord(tape: tape, bytes: bytes) { self.place($0) }
          do throws(ODataError) { return .success((try body(record), end)) } catch {
            return .failure(error)
          }
        }
      } catch {
        return .failure(fail(error))
      }
    }
    guard let (value, end) = try outcome.get() else {
      waitFor = (buffer.count - start) * 2
      return nil
    }
    waitFor = 0
    position = end
    return value
  }

  /// Reads `"key": value`; false when there is more to come.
  private func member(isFirst: Bool) throws(ODataError) -> Bool {
    let start = position
    if !isFirst {
      guard buffer[position] == UInt8(ascii: ",") else { throw unexpected("a comma was expected") }
      position += 1
      guard skip() else {
        position = start
        return false
      }
      if buffer[position] == UInt8(ascii: "}") { throw unexpected("a comma too many") }
    }
    let keyStart = position
    let from = position
    var isShort = false
    let found: Result<(String, Int), JSONError> = buffer.withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes, from: from)
      do throws(JSONError) {
        let key = try scanner.string()
        try scanner.colon()
        return .success((key, scanner.position))
      } catch {
        isShort = scanner.reachedEnd
        return .failure(error)
      }
    }
    if case .failure = found, isShort, !isLast {
      position = start
      return false
    }
    let key: String
    switch found {
    case .failure(let error): throw fail(error)
    case .success(let (name, end)):
      key = name
      position = end
    }
    guard skip() else {
      position = start
      return false
    }
    let isTop = containers.last == .top
    if isTop, key == "d", !sawPlainMember, buffer[position] == UInt8(ascii: "{") {
      isVerbose = true
      sawWrapper = true
      position += 1
      containers.append(.verbose)
      state = .member(isFirst: true)
      rest = []
      return true
    }
    let isList = buffer[position] == UInt8(ascii: "[")
    if isTop, key == "d", isList, !sawPlainMember {
      isVerbose = true
      beginArray()
      return true
    }
    if isList, !sawPlainMember, isTop ? isFeedKey(key) : key == "results" {
      if isTop, key == "results" { isVerbose = true }
      beginArray()
      return true
    }
    let valueStart = position
    guard let text = try record({ record throws(ODataError) in try self.head(key, record) }) else {
      position = start
      return false
    }
    if !text { sawPlainMember = true }
    if !rest.isEmpty { rest.append(UInt8(ascii: ",")) }
    rest += buffer[keyStart..<valueStart]
    rest += buffer[valueStart..<position]
    if rest.count > context.options.limits.recordBytes {
      throw ODataError(.limit, "the document is too long to be read whole", at: place(position))
    }
    state = .member(isFirst: false)
    return true
  }

  private func isFeedKey(_ key: String) -> Bool {
    guard key == "value" || key == "results" else { return false }
    return head.context?.hasSuffix("/$entity") != true
  }

  /// Takes what belongs to the feed; true when the member is not a property.
  private func head(_ key: String, _ record: JSONRecord) throws(ODataError) -> Bool {
    switch key {
    case "@odata.context", "@context", "odata.metadata":
      head.context = try record.scalar(0)
      if type == nil { type = self.context.type(context: head.context) }
    case "@odata.count", "@count", "odata.count", "__count": head.count = try record.scalar(0)
    case "@odata.nextLink", "@nextLink", "odata.nextLink", "__next":
      head.next = try record.scalar(0)
    case "@odata.deltaLink", "@deltaLink", "odata.deltaLink", "__delta":
      head.delta = try record.scalar(0)
    case "@odata.id": head.id = try record.scalar(0)
    case "error", "odata.error":
      if record.kind(0) == .object, try record.member(0, "message") != nil {
        throw try record.errorDocument(0).thrown(at: place(position))
      }
      return false
    default:
      guard key.utf8.contains(UInt8(ascii: "@")) || (!isVerbose && key.hasPrefix("odata.")) else {
        return false
      }
      if key.hasPrefix("@"), key.utf8.contains(UInt8(ascii: ".")), !key.hasPrefix("@odata.") {
        head.annotations[String(key.dropFirst())] = try reader(record).value(
          0, type: nil, name: key)
      }
    }
    return true
  }

  /// The end of an object: without an array it was one entry, or one value.
  private func close() throws(ODataError) {
    guard isFeed != true else {
      state = containers.isEmpty ? .end : .member(isFirst: false)
      return
    }
    if let text = rest.isEmpty && !containers.isEmpty ? [] : Optional(rest) {
      try single([UInt8(ascii: "{")] + text + [UInt8(ascii: "}")])
    }
    isFeed = false
    rest = []
    state = containers.isEmpty ? .end : .member(isFirst: false)
    if !containers.isEmpty { sawPlainMember = true }
  }

  private func single(_ text: [UInt8]) throws(ODataError) {
    // The entry inside `d` was taken already.
    if containers.isEmpty, sawWrapper { return }
    let limits = context.options.limits
    var tape = tape
    let end = place(position)
    let outcome: Result<ODataItem, ODataError> = text.withUnsafeBufferPointer { bytes in
      do throws(JSONError) {
        _ = try tape.read(bytes, from: 0, isLast: true, depthLimit: limits.depth)
      } catch {
        return .failure(fail(error))
      }
      let record = JSONRecord(tape: tape, bytes: bytes) { _ in end }
      do throws(ODataError) { return .success(try self.item(record)) } catch {
        return .failure(error)
      }
    }
    items.append(try outcome.get())
  }

  /// An entry, or the value of `{"value": …}` and `{"d": {"Name": …}}`.
  private func item(_ record: JSONRecord) throws(ODataError) -> ODataItem {
    let reader = reader(record)
    if !isVerbose, let value = try record.member(0, "value") {
      var others = 0
      for child in record.children(0) {
        let key = try record.key(child)
        if key != "value", !key.contains("@"), !key.hasPrefix("odata.") { others += 1 }
      }
      if others == 0, head.context?.hasSuffix("/$entity") != true {
        let type = self.type.map { EdmTypeReference($0) }
        return .value(try reader.value(value, type: type, name: "value"))
      }
    }
    return try reader.item(0, type: type)
  }
}
