import CLibXML2
import FerryJSON

/// What the callbacks of libxml2 write to. It stands still in memory while its parser lives, and
/// nothing in the way of an element is counted, checked or allocated one by one.
struct XMLSink: ~Copyable {
  var memory: UnsafeMutablePointer<XMLMemory>
  var context: OpaquePointer?
  /// Whether the children of the root are handled one by one.
  var isSplit = false
  private(set) var depth = 0
  private(set) var sawElement = false
  private(set) var failure: ODataError?
  private(set) var diagnostics: [ODataDiagnostic] = []
  private var hasFailed = false
  /// Where the child of the root that is being read begins.
  private var recordNodes = 0
  private var recordBytes = 0
  private let names: XMLNames
  private var places = XMLNamePlaces()
  private let depthLimit: Int
  private let nodeLimit: Int
  private let byteLimit: Int
  private let textLimit: Int
  private let nameLimit: Int
  private let diagnosticLimit: Int

  init(_ memory: UnsafeMutablePointer<XMLMemory>, _ names: XMLNames, _ limits: ODataLimits) {
    self.memory = memory
    self.names = names
    depthLimit = limits.depth
    // Offsets have 31 bits.
    byteLimit = min(limits.recordBytes, Int(Int32.max) / 2)
    nodeLimit = byteLimit / 32
    textLimit = limits.valueBytes
    nameLimit = limits.members
    diagnosticLimit = limits.diagnostics
  }

  static func at(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMLSink>? {
    pointer?.assumingMemoryBound(to: XMLSink.self)
  }

  /// Where the parser stands.
  var place: (line: Int, column: Int) {
    guard let context else { return (0, 0) }
    let pointer = UnsafeMutableRawPointer(context)
    return (Int(xmlSAX2GetLineNumber(pointer)), Int(xmlSAX2GetColumnNumber(pointer)))
  }

  private mutating func stop(_ code: ODataError.Code, _ message: String) {
    guard !hasFailed else { return }
    let place = place
    hasFailed = true
    failure = ODataError(code, message, at: ODataPlace(line: place.line, column: place.column))
    if let context { xmlStopParser(context) }
  }

  mutating func doctype() { stop(.doctype, "the document has a DOCTYPE") }

  private mutating func name(
    _ local: UnsafePointer<UInt8>, _ prefix: UnsafePointer<UInt8>?,
    _ address: UnsafePointer<UInt8>?
  ) -> Int32 {
    let key = (UInt(bitPattern: local), UInt(bitPattern: address), UInt(bitPattern: prefix))
    let found = places.find(key.0, key.1, key.2)
    if found >= 0 { return found }
    let made = names.add(local, prefix, address)
    places.insert(key.0, key.1, key.2, made)
    if Int(made) >= nameLimit { stop(.limit, "more than \(nameLimit) different names") }
    return made
  }

  mutating func start(
    _ local: UnsafePointer<UInt8>, _ prefix: UnsafePointer<UInt8>?,
    _ address: UnsafePointer<UInt8>?, _ count: Int,
    _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
  ) {
    if hasFailed { return }
    sawElement = true
    depth += 1
    guard depth <= depthLimit else {
      return stop(.limit, "more than \(depthLimit) elements are nested")
    }
    let parent = memory.pointee.open
    let index = Int32(truncatingIfNeeded: memory.pointee.nodes.count)
    if depth == 2, isSplit {
      recordNodes = Int(index)
      recordBytes = memory.pointee.bytes.count
    }
    var node = XMLNode(name: name(local, prefix, address), parent: parent)
    let place = place
    node.line = Int32(truncatingIfNeeded: place.line)
    node.column = Int32(truncatingIfNeeded: place.column)
    node.attributeStart = Int32(truncatingIfNeeded: memory.pointee.attributes.count)
    node.textStart = Int32(truncatingIfNeeded: memory.pointee.bytes.count)
    if count > 0, let attributes { take(attributes, count) }
    node.attributeEnd = Int32(truncatingIfNeeded: memory.pointee.attributes.count)
    node.textEnd = Int32(truncatingIfNeeded: memory.pointee.bytes.count)
    memory.pointee.nodes.append(node)
    link(index, under: parent)
    memory.pointee.open = index
    if depth == 2 { memory.pointee.openChild = index }
    check()
  }

  private mutating func take(
    _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ count: Int
  ) {
    for number in 0..<count {
      let part = attributes + number * 5
      guard let local = part[0], let start = part[3], let end = part[4] else { continue }
      let from = Int32(truncatingIfNeeded: memory.pointee.bytes.count)
      memory.pointee.bytes.append(
        contentsOf: UnsafeBufferPointer(start: start, count: end - start))
      memory.pointee.attributes.append(
        XMLAttribute(
          name: name(local, part[1], part[2]), start: from,
          end: Int32(truncatingIfNeeded: memory.pointee.bytes.count)))
    }
  }

  mutating func end() {
    if hasFailed { return }
    depth -= 1
    let closed = memory.pointee.open
    guard closed >= 0 else { return }
    memory.pointee.open = memory.pointee.nodes[Int(closed)].parent
    if depth == 1 { memory.pointee.openChild = -1 }
  }

  mutating func characters(_ text: UnsafeBufferPointer<UInt8>) {
    if hasFailed { return }
    let parent = Int(memory.pointee.open)
    // White space between the children of the root would pile up in a long feed.
    guard parent >= 0, depth > 1 || !isSplit else { return }
    let last = Int(memory.pointee.nodes[parent].lastChild)
    let start = Int32(truncatingIfNeeded: memory.pointee.bytes.count)
    memory.pointee.bytes.append(contentsOf: text)
    let end = Int32(truncatingIfNeeded: memory.pointee.bytes.count)
    if last >= 0, memory.pointee.nodes[last].name < 0, memory.pointee.nodes[last].textEnd == start {
      memory.pointee.nodes[last].textEnd = end
      if Int(end - memory.pointee.nodes[last].textStart) > textLimit {
        stop(.limit, "a text is longer than \(textLimit) bytes")
      }
    } else {
      var node = XMLNode(name: -1, parent: Int32(truncatingIfNeeded: parent))
      node.textStart = start
      node.textEnd = end
      let index = Int32(truncatingIfNeeded: memory.pointee.nodes.count)
      memory.pointee.nodes.append(node)
      link(index, under: Int32(truncatingIfNeeded: parent))
    }
    check()
  }

  private func link(_ index: Int32, under parent: Int32) {
    guard parent >= 0 else { return }
    let last = Int(memory.pointee.nodes[Int(parent)].lastChild)
    if last >= 0 {
      memory.pointee.nodes[last].next = index
    } else {
      memory.pointee.nodes[Int(parent)].firstChild = index
    }
    memory.pointee.nodes[Int(parent)].lastChild = index
  }

  private mutating func check() {
    if memory.pointee.bytes.count - recordBytes > byteLimit
      || memory.pointee.nodes.count - recordNodes > nodeLimit
    {
      stop(.limit, "one record is longer than \(byteLimit) bytes")
    }
  }

  /// Says that nodes were moved down by a release.
  mutating func rebase() {
    let isInside = memory.pointee.openChild > 0
    recordNodes = isInside ? 1 : memory.pointee.nodes.count
    recordBytes = memory.pointee.nodes.count > 0 ? Int(memory.pointee.nodes[0].textEnd) : 0
  }

  mutating func complain(_ detail: xmlError) {
    if hasFailed { return }
    let text = detail.message.map { String(cString: $0) } ?? "the XML is not well-formed"
    let message = String(text.prefix { $0 != "\n" })
    // Namespaces have codes from 200 to 208; level 1 is a warning.
    if (200..<210).contains(detail.code) || detail.level <= 1 {
      if detail.code == 201 || detail.code == 202, diagnostics.count < diagnosticLimit {
        let place = place
        diagnostics.append(
          ODataDiagnostic(
            message, at: ODataPlace(line: place.line, column: place.column),
            consequence: "the prefix gets its usual namespace"))
      }
      return
    }
    // A character that may not stand there is told by its number; from 128 on it is a byte that is
    // no UTF-8.
    let number = message.split(separator: " ").reversed().lazy.compactMap { word in
      word.hasPrefix("0x") ? Int(word.dropFirst(2), radix: 16) : Int(word)
    }.first
    let isForeign =
      message.contains("UTF-8") || (detail.code == 9 && number.map { $0 > 0x7F } == true)
    stop(detail.code == 81 || isForeign ? .encoding : .malformed, message)
  }
}
