/// One entry of a feed where it stands in the reader's memory: nothing of it is copied or made
/// until it is asked for.
///
/// For those who read feeds into types of their own: about three times as fast as `ODataEntry`,
/// which `entry()` still gives where more is needed.
///
///     while let row = try reader.nextRow() {
///       total += try row.double("Price") ?? 0
///     }
///
/// Each value is read from its text as the type that is asked for, whatever type the payload or the
/// schema names; nil where the entry does not hold the property or it is null. A text that is none
/// of the type is thrown as `invalidValue`, with its place. Names are found fastest in the order of
/// the document. A row keeps the piece of the document that it stands in (64 KB, or the longest
/// entry in it): keep values, not rows. What stands outside the properties (customised feeds,
/// links, inlined entries) is in `entry()`. Not safe to use from two threads at once.
public struct ODataRow {
  enum Form {
    case atom(AtomRow)
    case json(JSONRow)
  }

  /// What an entry holds under a name.
  enum Found {
    case nothing
    case text(UnsafeBufferPointer<UInt8>)
    /// A text that had to be put together first.
    case made([UInt8])
    /// Something with an inside.
    case nested
  }

  private let form: Form

  init(_ element: XMLElement) { form = .atom(AtomRow(element)) }

  init(_ record: JSONRecord) {
    form = .json(JSONRow(memory: record.memory, root: record.root, number: record.number))
  }

  /// The text of a value; a copy.
  public func string(_ name: String) throws(ODataError) -> String? {
    try read(name, .string) { String(checking: $0) }
  }

  /// The value of `Edm.Boolean`.
  public func boolean(_ name: String) throws(ODataError) -> Bool? {
    try read(name, .boolean) { EdmTextScanner.whole($0) { $0.boolean() } }
  }

  /// A whole number of any width.
  public func integer(_ name: String) throws(ODataError) -> Int64? {
    try read(name, .int64) { EdmTextScanner.whole($0) { $0.integer() } }
  }

  /// The value of `Edm.Double` or `Edm.Single`, or the nearest to a decimal.
  public func double(_ name: String) throws(ODataError) -> Double? {
    try read(name, .double) { EdmTextScanner.whole($0) { $0.floating() } }
  }

  /// The value of `Edm.Decimal` with all its digits.
  public func decimal(_ name: String) throws(ODataError) -> EdmDecimal? {
    try read(name, .decimal) { EdmDecimal(bytes: $0) }
  }

  /// The value of `Edm.Guid`.
  public func guid(_ name: String) throws(ODataError) -> EdmGuid? {
    try read(name, .guid) { EdmTextScanner.whole($0) { $0.guid() } }
  }

  /// The value of `Edm.DateTime` of V2 and V3, also as verbose JSON writes it.
  public func dateTime(_ name: String) throws(ODataError) -> EdmDateTime? {
    try read(name, .dateTime) { EdmTextScanner.whole($0) { $0.anyDateTime() } }
  }

  /// The value of `Edm.DateTimeOffset`, also as verbose JSON writes it.
  public func dateTimeOffset(_ name: String) throws(ODataError) -> EdmDateTimeOffset? {
    try read(name, .dateTimeOffset) { EdmTextScanner.whole($0) { $0.anyDateTimeOffset() } }
  }

  /// The value of any primitive type but those of shapes.
  public func value(_ name: String, as type: EdmPrimitive) throws(ODataError) -> EdmValue? {
    try read(name, type) { EdmValue(bytes: $0, type: type) }
  }

  /// The whole entry, as `nextEntry` would have given it.
  public func entry() throws(ODataError) -> ODataEntry {
    switch form {
    case .atom(let row): try row.entry()
    case .json(let row): try row.entry()
    }
  }

  @inline(__always)
  private func read<T>(
    _ name: String, _ type: EdmPrimitive, _ parse: (UnsafeBufferPointer<UInt8>) -> T?
  ) throws(ODataError) -> T? {
    let found: Found
    switch form {
    case .atom(let row): found = row.find(name)
    case .json(let row): found = try row.find(name)
    }
    switch found {
    case .nothing: return nil
    case .text(let text): if let value = parse(text) { return value }
    case .made(let text): if let value = text.withUnsafeBufferPointer(parse) { return value }
    case .nested: break
    }
    throw refusal(name, type)
  }

  private func refusal(_ name: String, _ type: EdmPrimitive) -> ODataError {
    let place: ODataPlace?
    switch form {
    case .atom(let row): place = row.place(name)
    case .json(let row): place = row.place(name)
    }
    return ODataError(.invalidValue, "\(name) is no \(type.rawValue)", at: place)
  }
}

/// An entry of Atom: its element, and the first of its properties.
struct AtomRow {
  private let tree: XMLTree
  private let index: Int32
  private let properties: Int32

  init(_ element: XMLElement) {
    tree = element.tree
    index = element.index
    var found: Int32 = -1
    var child = Self.node(element.index, tree).firstChild
    while child >= 0, found < 0 {
      let node = Self.node(child, tree)
      if node.name >= 0 {
        switch tree.names.word(node.name) {
        case .properties: found = child
        case .content:
          for inner in XMLElement(tree: tree, index: child).children
          where inner.word == .properties { found = inner.index }
        default: break
        }
      }
      child = node.next
    }
    properties = found
    tree.memory.pointee.nextProperty = -1
  }

  @inline(__always)
  private static func node(_ index: Int32, _ tree: XMLTree) -> XMLNode {
    tree.memory.pointee.nodes[Int(index)]
  }

  func entry() throws(ODataError) -> ODataEntry {
    guard let origin = tree.origin else { return ODataEntry() }
    return try origin.reader.entry(
      XMLElement(tree: tree, index: index), type: origin.type, base: origin.base)
  }

  func place(_ name: String) -> ODataPlace? {
    let found = search(name)
    return found < 0 ? nil : XMLElement(tree: tree, index: found).place
  }

  /// The element of a property; -1 where there is none. Looks on from the last one first.
  private func search(_ name: String) -> Int32 {
    guard properties >= 0 else { return -1 }
    let first = Self.node(properties, tree).firstChild
    let hint = tree.memory.pointee.nextProperty
    let isOurs = hint >= 0 && Self.node(hint, tree).parent == properties
    let from = isOurs ? hint : first
    var current = from
    while current >= 0 {
      let node = Self.node(current, tree)
      if node.name >= 0, tree.names.isLocal(node.name, name) {
        tree.memory.pointee.nextProperty = node.next
        return current
      }
      current = node.next
    }
    current = first
    while current >= 0, current != from {
      let node = Self.node(current, tree)
      if node.name >= 0, tree.names.isLocal(node.name, name) {
        tree.memory.pointee.nextProperty = node.next
        return current
      }
      current = node.next
    }
    return -1
  }

  @inline(__always)
  func find(_ name: String) -> ODataRow.Found {
    let found = search(name)
    guard found >= 0 else { return .nothing }
    let node = Self.node(found, tree)
    for place in Int(node.attributeStart)..<Int(node.attributeEnd) {
      let attribute = tree.memory.pointee.attributes[place]
      if tree.names.word(attribute.name) == .null, tree.isTrue(attribute) { return .nothing }
    }
    guard node.firstChild >= 0 else {
      return .text(UnsafeBufferPointer(start: nil, count: 0))
    }
    let run = Self.node(node.firstChild, tree)
    return run.name < 0 && run.next < 0 ? .text(tree.text(run)) : .nested
  }
}

/// An entry of JSON: an object on the tape.
struct JSONRow {
  let memory: JSONMemory
  let root: Int
  let number: Int

  private var reader: JSONEntryReader? {
    memory.origin.map { origin in
      JSONEntryReader(
        context: origin.context,
        record: JSONRecord(memory: memory, keys: origin.keys, root: root, number: number),
        isVerbose: origin.keys.isVerbose, base: origin.base)
    }
  }

  func entry() throws(ODataError) -> ODataEntry {
    guard let reader else { return ODataEntry() }
    return try reader.entry(root, type: memory.origin?.type)
  }

  func place(_ name: String) -> ODataPlace? {
    guard let found = try? search(name) else { return nil }
    return reader?.path(found, name)
  }

  private func search(_ name: String) throws(ODataError) -> Int? {
    let end = memory.at.pointee.tape.nodes[root].end
    let hint = memory.at.pointee.nextMember
    let from = hint > root && hint < end ? hint : root + 1
    var current = from
    while current < end {
      if try isNamed(current, name) { return current }
      current = memory.at.pointee.tape.nodes[current].end
    }
    current = root + 1
    while current < from {
      if try isNamed(current, name) { return current }
      current = memory.at.pointee.tape.nodes[current].end
    }
    return nil
  }

  @inline(__always)
  private func isNamed(_ index: Int, _ name: String) throws(ODataError) -> Bool {
    let node = memory.at.pointee.tape.nodes[index]
    let isSame =
      node.keyHasEscapes
      ? try reader?.record.key(index) == name : memory.at.pointee.holds(name, at: node.key)
    if isSame { memory.at.pointee.nextMember = node.end }
    return isSame
  }

  @inline(__always)
  func find(_ name: String) throws(ODataError) -> ODataRow.Found {
    guard let found = try search(name) else { return .nothing }
    let node = memory.at.pointee.tape.nodes[found]
    switch node.kind {
    case .null, .end: return .nothing
    case .object, .array: return .nested
    case .string where node.hasEscapes:
      return .made(Array(try reader?.record.string(found).utf8 ?? "".utf8))
    case .string, .number, .boolean:
      return .text(UnsafeBufferPointer(rebasing: memory.at.pointee.bytes.elements[node.value]))
    }
  }
}

extension JSONEntryReader {
  /// The record as a row; nil for what is no entry. Throws the error that a service wrote there.
  func row(type: String?) throws(ODataError) -> ODataRow? {
    let root = record.memory.at.pointee.tape.nodes[record.root]
    guard root.kind == .object else { return nil }
    var isPlain = true
    var count = 0
    var child = record.root + 1
    while child < root.end {
      count += 1
      let node = record.memory.at.pointee.tape.nodes[child]
      if node.key.isEmpty || record.bytes[node.key.lowerBound] == UInt8(ascii: "@") {
        isPlain = false
      }
      child = node.end
    }
    // A control may say that it is gone, a lone member that it is an error.
    if !isPlain || count == 1 {
      guard case .entry = try item(record.root, type: type) else { return nil }
    }
    if record.memory.origin == nil {
      record.memory.origin = JSONOrigin(context, record.keys, type: type, base: base)
    }
    return ODataRow(record)
  }
}
