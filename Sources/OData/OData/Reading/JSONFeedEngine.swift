import FerryJSON

/// Takes a JSON document by pieces: the entries of a feed one by one, everything else as a whole.
final class JSONFeedEngine {
  private enum Container { case top, verbose, array }
  private enum State { case start, member(isFirst: Bool), element(isFirst: Bool), end }

  let context: ODataReadContext
  private var decoding = TextDecoding()
  /// Replaced when somebody still holds a row of it.
  private var memory: JSONMemory
  private var keys: JSONKeys
  private var position = 0
  private var state = State.start
  private var containers: [Container] = []
  private var waitFor = 0
  private var isLast = false
  private(set) var isVerbose = false {
    didSet { if isVerbose != oldValue { keys = JSONKeys(isVerbose: isVerbose) } }
  }
  private var sawWrapper = false
  private var type: String?
  private var base: ODataGround?
  private var selection: JSONSelection?
  /// The path of what holds the records, such as `/d/results`.
  private var path = ""
  private var number = 0
  /// Members that are not the array, as text, to be read as one object at the end.
  private var rest: [UInt8] = []
  private var sawPlainMember = false
  private var isStreaming = false
  private(set) var head = ODataFeedHead()
  private(set) var isFeed: Bool?
  private var item: ODataItem?
  private var row: ODataRow?
  private var wantsRows = false
  /// Nodes of the tape that rows stand on.
  private var kept = 0
  private var isEnded: Bool { if case .end = state { true } else { false } }

  init(_ context: ODataReadContext) {
    self.context = context
    memory = JSONMemory(memberLimit: context.options.limits.members)
    keys = JSONKeys(isVerbose: false)
    type = context.options.type
    base = context.base
    if let version = context.options.version, version < .v3 {
      isVerbose = true
      keys = JSONKeys(isVerbose: true)
    }
  }

  private var bytes: UnsafeBufferPointer<UInt8> { memory.at.pointee.bytes.elements }
  private var count: Int { memory.at.pointee.bytes.count }

  /// Takes the next bytes; they are read when something is asked for.
  func push(_ piece: [UInt8], isLast: Bool) throws(ODataError) {
    let text = try decoding.decode(piece, isLast: isLast)
    compact()
    text.withUnsafeBufferPointer { memory.at.pointee.bytes.append(contentsOf: $0) }
    self.isLast = isLast
  }

  /// The next thing of the feed, or the one that the document is; nil when more is to come.
  func next() throws(ODataError) -> ODataItem? {
    wantsRows = false
    while item == nil, try step() {}
    defer { item = nil }
    if item == nil { try checkEnd() }
    return item
  }

  /// The next object of the feed where it stands; what is none is passed over.
  func nextRow() throws(ODataError) -> ODataRow? {
    wantsRows = true
    row = nil
    while row == nil, try step() {}
    defer { row = nil }
    if row == nil { try checkEnd() }
    return row
  }

  /// Called where nothing more can be made of what is there.
  private func checkEnd() throws(ODataError) {
    if count - position > context.options.limits.recordBytes {
      throw ODataError(
        .limit, "one record is longer than \(context.options.limits.recordBytes) bytes",
        at: place(position))
    }
    if isLast, !isEnded { throw truncated("the document ends too early") }
  }

  private func truncated(_ message: String) -> ODataError {
    ODataError(.truncated, message, at: place(count))
  }

  /// Forgets what was read. Whoever holds a row keeps the memory that it stands in.
  private func compact() {
    let place = memory.at.pointee.place(position)
    if isKnownUniquelyReferenced(&memory) {
      memory.at.pointee.bytes.remove(0..<position)
    } else {
      let next = JSONMemory(memberLimit: context.options.limits.members)
      next.at.pointee.bytes.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[position...]))
      memory = next
    }
    memory.at.pointee.start = place
    memory.at.pointee.nextMember = 0
    kept = 0
    position = 0
  }

  private func place(_ offset: Int) -> ODataPlace {
    let place = memory.at.pointee.place(offset)
    return ODataPlace(
      line: place.line, column: place.column, path: isStreaming ? "\(path)[\(number + 1)]" : "")
  }

  private func fail(_ error: JSONError) -> ODataError {
    let isEnd = error.offset >= count || error.problem.contains("does not end")
    let code: ODataError.Code =
      error.problem.hasPrefix("more than")
      ? .limit
      : error.problem.contains("UTF-8") ? .encoding : isEnd && isLast ? .truncated : .malformed
    return ODataError(code, error.problem, at: place(error.offset))
  }

  /// Skips white space; false when nothing is left.
  private func skip() -> Bool {
    let bytes = bytes
    while position < bytes.count {
      switch bytes[position] {
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
    let byte = bytes[position]
    switch state {
    case .end: throw unexpected("text follows the end of the document")
    case .start:
      if byte == UInt8(ascii: "{") {
        position += 1
        containers = [.top]
        state = .member(isFirst: true)
      } else if byte == UInt8(ascii: "[") {
        beginArray("")
      } else {
        guard let record = try record() else { return false }
        item = .value(try reader(record).value(record.root, type: nil))
        isFeed = false
        state = .end
      }
    case .member(let isFirst):
      if byte == UInt8(ascii: "}") {
        position += 1
        containers.removeLast()
        try close()
        path = ""
        return true
      }
      return try member(isFirst: isFirst)
    case .element(let isFirst):
      if byte == UInt8(ascii: "]") {
        position += 1
        containers.removeLast()
        isStreaming = false
        path = containers.last == .verbose ? "/d" : ""
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
        if bytes[position] == UInt8(ascii: "]") { throw unexpected("a comma too many") }
      }
      guard let record = try record() else {
        position = start
        return false
      }
      number += 1
      try take(record)
      state = .element(isFirst: false)
    }
    return true
  }

  private func beginArray(_ step: String) {
    position += 1
    path += step
    containers.append(.array)
    state = .element(isFirst: true)
    isFeed = true
    isStreaming = true
  }

  private func reader(_ record: JSONRecord) -> JSONEntryReader {
    JSONEntryReader(
      context: context, record: record, isVerbose: isVerbose, base: base, selection: selection)
  }

  /// Reads one value whole; nil when there is more to come. Nothing is tried again before the
  /// bytes have doubled, so that a long value costs no more than twice its length.
  private func record() throws(ODataError) -> JSONRecord? {
    if !isLast, count - position < waitFor { return nil }
    let start = position
    let depthLimit = context.options.limits.depth - containers.count
    do throws(JSONError) {
      switch try memory.at.pointee.tape.read(
        bytes, from: start, isLast: isLast, depthLimit: depthLimit, keeping: kept)
      {
      case .more:
        waitFor = (count - start) * 2
        return nil
      case .complete(let end): position = end
      }
    } catch {
      throw fail(error)
    }
    waitFor = 0
    return JSONRecord(
      memory: memory, keys: keys, root: kept, number: isStreaming ? number + 1 : 0, path: path)
  }

  /// Reads `"key": value`; false when there is more to come.
  private func member(isFirst: Bool) throws(ODataError) -> Bool {
    let start = position
    if !isFirst {
      guard bytes[position] == UInt8(ascii: ",") else { throw unexpected("a comma was expected") }
      position += 1
      guard skip() else {
        position = start
        return false
      }
      if bytes[position] == UInt8(ascii: "}") { throw unexpected("a comma too many") }
    }
    let keyStart = position
    let from = position
    var scanner = JSONScanner(bytes, from: from)
    let key: String
    do throws(JSONError) {
      key = try scanner.string()
      try scanner.colon()
    } catch {
      guard scanner.reachedEnd, !isLast else { throw fail(error) }
      position = start
      return false
    }
    position = scanner.position
    guard skip() else {
      position = start
      return false
    }
    let isTop = containers.last == .top
    if isTop, key == "d", !sawPlainMember, bytes[position] == UInt8(ascii: "{") {
      isVerbose = true
      sawWrapper = true
      position += 1
      containers.append(.verbose)
      path = "/d"
      state = .member(isFirst: true)
      rest = []
      return true
    }
    let isList = bytes[position] == UInt8(ascii: "[")
    if isList, !sawPlainMember, isTop ? key == "d" || isFeedKey(key) : key == "results" {
      if isTop, key != "value" { isVerbose = true }
      beginArray("/" + key)
      return true
    }
    let valueStart = position
    guard var record = try record() else {
      position = start
      return false
    }
    record.path += "/" + key
    if try !head(key, record) { sawPlainMember = true }
    if !rest.isEmpty { rest.append(UInt8(ascii: ",")) }
    rest += bytes[keyStart..<valueStart]
    rest += bytes[valueStart..<position]
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
      head.context = try record.scalar(record.root)
      if type == nil { type = context.type(context: head.context) }
      // What follows stands beside the address of the metadata, as OData has it.
      selection = head.context.flatMap { JSONSelection(context: $0) }
      if let text = head.context { base = context.base(text, in: base) }
    case "@odata.count", "@count", "odata.count", "__count":
      head.count = try record.scalar(record.root)
    case "@odata.nextLink", "@nextLink", "odata.nextLink", "__next":
      head.next = try reader(record).target(record.root)
    case "@odata.deltaLink", "@deltaLink", "odata.deltaLink", "__delta":
      head.delta = try reader(record).target(record.root)
    case "@odata.id": head.id = try record.scalar(record.root)
    case "error", "odata.error":
      if record.kind(record.root) == .object, try record.member(record.root, "message") != nil {
        throw try record.errorDocument(record.root).thrown(at: place(position))
      }
      return false
    default:
      guard key.utf8.contains(UInt8(ascii: "@")) || (!isVerbose && key.hasPrefix("odata.")) else {
        return false
      }
      if key.hasPrefix("@"), key.utf8.contains(UInt8(ascii: ".")), !key.hasPrefix("@odata.") {
        let value = try reader(record).value(record.root, type: nil)
        head.annotations[String(key.dropFirst())] = value
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
    try single([UInt8(ascii: "{")] + rest + [UInt8(ascii: "}")])
    isFeed = false
    rest = []
    state = containers.isEmpty ? .end : .member(isFirst: false)
    if !containers.isEmpty { sawPlainMember = true }
  }

  private func single(_ text: [UInt8]) throws(ODataError) {
    // The entry inside `d` was taken already.
    if containers.isEmpty, sawWrapper { return }
    let whole = JSONMemory(memberLimit: context.options.limits.members)
    whole.at.pointee.start = memory.at.pointee.place(position)
    whole.at.pointee.isGathered = true
    text.withUnsafeBufferPointer { whole.at.pointee.bytes.append(contentsOf: $0) }
    do throws(JSONError) {
      _ = try whole.at.pointee.tape.read(
        whole.at.pointee.bytes.elements, from: 0, isLast: true,
        depthLimit: context.options.limits.depth)
    } catch {
      throw fail(error)
    }
    let record = JSONRecord(memory: whole, keys: keys, root: 0, path: path)
    if wantsRows { try take(record) } else { item = try item(record) }
  }

  private func take(_ record: JSONRecord) throws(ODataError) {
    let reader = reader(record)
    if !wantsRows {
      item = try reader.item(record.root, type: type)
      return
    }
    row = try reader.row(type: type)
    if row != nil, record.memory === memory { kept = memory.at.pointee.tape.nodes.count }
  }

  /// An entry, or the value of `{"value": …}` and `{"d": {"Name": …}}`.
  private func item(_ record: JSONRecord) throws(ODataError) -> ODataItem {
    let reader = reader(record)
    if !isVerbose, let value = try record.member(record.root, "value") {
      var others = 0
      for child in record.children(record.root) {
        let key = try record.key(child)
        if key != "value", !key.contains("@"), !key.hasPrefix("odata.") { others += 1 }
      }
      if others == 0, head.context?.hasSuffix("/$entity") != true {
        let type = self.type.map { EdmTypeReference($0) }
        return .value(try reader.value(value, type: type))
      }
    }
    return try reader.item(record.root, type: type)
  }
}
