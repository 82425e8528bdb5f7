/// Takes an Atom document by pieces: the entries of a feed one by one.
final class AtomFeedEngine {
  let context: ODataReadContext
  private let parser: XMLPush
  private let reader: AtomEntryReader
  private(set) var head = ODataFeedHead()
  private(set) var isFeed: Bool?
  private var type: String?
  /// What relative addresses of the feed itself stand beside.
  private var base: ODataGround?
  /// The child of the root that was looked at last; -1 before the first.
  private var child: Int32 = -1
  private var isWhole = false
  private var isTaken = false
  private var seen = 0

  init(_ context: ODataReadContext) {
    self.context = context
    parser = XMLPush(limits: context.options.limits)
    reader = AtomEntryReader(context: context)
    type = context.options.type
    base = context.base
  }

  /// Parses the next bytes. Everything that was complete before must have been taken.
  func push(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    if isFeed == true {
      parser.release()
      child = -1
    }
    var fault: ODataError?
    do throws(ODataError) {
      try parser.push(bytes)
      if isLast {
        try parser.finish()
        isWhole = true
      }
    } catch {
      fault = error
    }
    if isFeed == nil, !parser.tree.isEmpty { try begin(parser.tree.root) }
    let notes = parser.diagnostics[seen...]
    seen = parser.diagnostics.count
    for note in notes {
      if fault == nil, context.options.isStrict { throw ODataError(strict: note) }
      context.add(note)
    }
    if let fault { throw fault }
  }

  private func begin(_ root: XMLElement) throws(ODataError) {
    if let page = HTMLPage.error(root) { throw page }
    isFeed = root.word == .feed
    head.context = root.attribute(.context)
    if type == nil { type = context.type(context: head.context) }
    if isFeed == true {
      parser.splitRoot()
      base = reader.base(of: root, in: base)
    }
    parser.tree.origin = AtomOrigin(reader, type: type, base: base)
  }

  /// The next child of the feed that is complete; nil when there is none, or more to come.
  private func nextChild() -> XMLElement? {
    guard isFeed == true else { return nil }
    let tree = parser.tree
    var next = tree.memory.pointee.nodes[child < 0 ? 0 : Int(child)]
    var index = child < 0 ? next.firstChild : next.next
    while index >= 0, index != tree.memory.pointee.openChild {
      child = index
      next = tree.memory.pointee.nodes[Int(index)]
      if next.name >= 0 { return XMLElement(tree: tree, index: index) }
      index = next.next
    }
    return nil
  }

  /// The next thing of the feed, or the one that the document is; nil when more is to come.
  func next() throws(ODataError) -> ODataItem? {
    while let child = nextChild() {
      if let item = try reader.item(child, type: type, base: base) { return item }
      reader.head(child, into: &head, base: base)
    }
    guard isFeed == false, isWhole, !isTaken else { return nil }
    isTaken = true
    return try single(parser.tree.root)
  }

  /// The next entry where it stands; what is none is passed over.
  func nextRow() throws(ODataError) -> ODataRow? {
    while let child = nextChild() {
      switch child.word {
      case .entry: return ODataRow(child)
      case .error: throw ODataErrorDocument(atom: child).thrown(at: child.place)
      default: reader.head(child, into: &head, base: base)
      }
    }
    guard isFeed == false, isWhole, !isTaken, parser.tree.root.word == .entry else { return nil }
    isTaken = true
    return ODataRow(parser.tree.root)
  }

  /// A document that is one entry, one value, or a list of values.
  private func single(_ root: XMLElement) throws(ODataError) -> ODataItem {
    if root.word == .entry { return .entry(try reader.entry(root, type: type, base: base)) }
    if root.word == .error { throw ODataErrorDocument(atom: root).thrown(at: root.place) }
    switch root.space {
    case .data, .metadata:
      return .value(try reader.value(root, type: type.map { EdmTypeReference($0) }))
    default:
      throw ODataError(
        .unexpectedDocument, "the root is \(root.local), neither a feed nor an entry",
        at: root.place)
    }
  }
}

/// What makes whole entries of rows.
final class AtomOrigin {
  let reader: AtomEntryReader
  let type: String?
  let base: ODataGround?

  init(_ reader: AtomEntryReader, type: String?, base: ODataGround?) {
    self.reader = reader
    self.type = type
    self.base = base
  }
}
