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
  /// What keeps the memory that a row stands in, and makes whole entries of it.
  enum Owner {
    case atom(XMLTree)
    case json(JSONMemory)
  }

  /// Where the row stands there, without a reference: nothing is counted when a value is taken.
  private enum Place {
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

  private let owner: Owner
  private let place: Place

  init(_ element: XMLElement) {
    owner = .atom(element.tree)
    place = .atom(AtomRow(element))
  }

  init(_ record: JSONRecord) {
    owner = .json(record.memory)
    place = .json(JSONRow(record))
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
    switch place {
    case .atom(let row): try row.entry(in: owner)
    case .json(let row): try row.entry(in: owner)
    }
  }

  @inline(__always)
  private func read<T>(
    _ name: String, _ type: EdmPrimitive, _ parse: (UnsafeBufferPointer<UInt8>) -> T?
  ) throws(ODataError) -> T? {
    defer { withExtendedLifetime(owner) {} }
    let found: Found
    switch place {
    case .atom(let row): found = row.find(name)
    case .json(let row): found = try row.find(name, in: owner)
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
    let found: ODataPlace?
    switch place {
    case .atom(let row): found = row.place(name, in: owner)
    case .json(let row): found = row.place(name, in: owner)
    }
    return ODataError(.invalidValue, "\(name) is not an \(type.rawValue)", at: found)
  }
}

/// An entry of Atom: its element, and the first of its properties. Whoever asks it holds its tree.
struct AtomRow: BitwiseCopyable {
  private let memory: UnsafeMutablePointer<XMLMemory>
  private let names: UnsafeMutablePointer<XMLNameTable>
  private let index: Int32
  private let properties: Int32

  init(_ element: XMLElement) {
    let tree = element.tree
    memory = tree.memory
    names = tree.names.table
    index = element.index
    var found: Int32 = -1
    var child = tree.memory.pointee.nodes[Int(element.index)].firstChild
    while child >= 0, found < 0 {
      let node = tree.memory.pointee.nodes[Int(child)]
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
    memory.pointee.nextProperty = -1
  }

  @inline(__always)
  private func node(_ index: Int32) -> XMLNode { memory.pointee.nodes[Int(index)] }

  func entry(in owner: ODataRow.Owner) throws(ODataError) -> ODataEntry {
    guard case .atom(let tree) = owner, let origin = tree.origin else { return ODataEntry() }
    return try origin.reader.entry(
      XMLElement(tree: tree, index: index), type: origin.type, base: origin.base)
  }

  func place(_ name: String, in owner: ODataRow.Owner) -> ODataPlace? {
    let found = search(name)
    guard found >= 0, case .atom(let tree) = owner else { return nil }
    return XMLElement(tree: tree, index: found).place
  }

  /// The element of a property; -1 where there is none. Looks on from the last one first.
  private func search(_ name: String) -> Int32 {
    guard properties >= 0 else { return -1 }
    let first = node(properties).firstChild
    let hint = memory.pointee.nextProperty
    let isOurs = hint >= 0 && node(hint).parent == properties
    let from = isOurs ? hint : first
    var current = from
    while current >= 0 {
      let node = node(current)
      if node.name >= 0, names.pointee.isLocal(node.name, name) {
        memory.pointee.nextProperty = node.next
        return current
      }
      current = node.next
    }
    current = first
    while current >= 0, current != from {
      let node = node(current)
      if node.name >= 0, names.pointee.isLocal(node.name, name) {
        memory.pointee.nextProperty = node.next
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
    let node = node(found)
    for place in Int(node.attributeStart)..<Int(node.attributeEnd) {
      let attribute = memory.pointee.attributes[place]
      if names.pointee[attribute.name].word == .null, memory.pointee.isTrue(attribute) {
        return .nothing
      }
    }
    guard node.firstChild >= 0 else {
      return .text(UnsafeBufferPointer(start: nil, count: 0))
    }
    let run = self.node(node.firstChild)
    return run.name < 0 && run.next < 0 ? .text(memory.pointee.text(run)) : .nested
  }
}

/// An entry of JSON: an object on the tape. Whoever asks it holds its memory.
struct JSONRow: BitwiseCopyable {
  private let at: UnsafeMutablePointer<JSONPiece>
  private let root: Int
  private let number: Int

  init(_ record: JSONRecord) {
    at = record.memory.at
    root = record.root
    number = record.number
  }

  private func origin(_ owner: ODataRow.Owner) -> (JSONMemory, JSONOrigin)? {
    guard case .json(let memory) = owner, let origin = memory.origin else { return nil }
    return (memory, origin)
  }

  private func reader(_ owner: ODataRow.Owner) -> JSONEntryReader? {
    guard let (memory, origin) = origin(owner) else { return nil }
    return JSONEntryReader(
      context: origin.context,
      record: JSONRecord(
        memory: memory, keys: origin.keys, root: root, number: number, path: origin.path),
      isVerbose: origin.keys.isVerbose, base: origin.base, selection: origin.selection)
  }

  func entry(in owner: ODataRow.Owner) throws(ODataError) -> ODataEntry {
    guard let reader = reader(owner) else { return ODataEntry() }
    return try reader.entry(root, type: origin(owner)?.1.type)
  }

  func place(_ name: String, in owner: ODataRow.Owner) -> ODataPlace? {
    guard let found = try? search(name, in: owner) else { return nil }
    return reader(owner)?.record.place(of: found)
  }

  private func search(_ name: String, in owner: ODataRow.Owner) throws(ODataError) -> Int? {
    let end = at.pointee.tape.nodes[root].end
    let hint = at.pointee.nextMember
    let from = hint > root && hint < end ? hint : root + 1
    var current = from
    while current < end {
      if try isNamed(current, name, in: owner) { return current }
      current = at.pointee.tape.nodes[current].end
    }
    current = root + 1
    while current < from {
      if try isNamed(current, name, in: owner) { return current }
      current = at.pointee.tape.nodes[current].end
    }
    return nil
  }

  @inline(__always)
  private func isNamed(
    _ index: Int, _ name: String, in owner: ODataRow.Owner
  ) throws(ODataError) -> Bool {
    let node = at.pointee.tape.nodes[index]
    let isSame =
      node.keyHasEscapes
      ? try reader(owner)?.record.key(index) == name : at.pointee.holds(name, at: node.key)
    if isSame { at.pointee.nextMember = node.end }
    return isSame
  }

  @inline(__always)
  func find(_ name: String, in owner: ODataRow.Owner) throws(ODataError) -> ODataRow.Found {
    guard let found = try search(name, in: owner) else { return .nothing }
    let node = at.pointee.tape.nodes[found]
    switch node.kind {
    case .null, .end: return .nothing
    case .object, .array: return .nested
    case .string where node.hasEscapes:
      return .made(Array(try reader(owner)?.record.string(found).utf8 ?? "".utf8))
    case .string, .number, .boolean:
      return .text(UnsafeBufferPointer(rebasing: at.pointee.bytes.elements[node.value]))
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
      record.memory.origin = JSONOrigin(self, type: type)
    }
    return ODataRow(record)
  }
}
