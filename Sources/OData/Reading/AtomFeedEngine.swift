/// Takes an Atom document by pieces: the entries of a feed one by one.
final class AtomFeedEngine {
  let context: ODataReadContext
  private let builder: XMLTreeBuilder
  private var push: XMLPush?
  private(set) var head = ODataFeedHead()
  private(set) var isFeed: Bool?
  var items: [ODataItem] = []
  private var type: String?
  private var seen = 0

  init(_ context: ODataReadContext) {
    self.context = context
    builder = XMLTreeBuilder(limits: context.options.limits)
    type = context.options.type
    builder.onRoot = { [unowned self] root throws(ODataError) in try self.begin(root) }
    push = XMLPush(limits: context.options.limits, receiver: builder)
  }

  func push(_ bytes: [UInt8], isLast: Bool) throws(ODataError) {
    do throws(ODataError) {
      try push?.push(bytes)
      if isLast {
        try push?.finish()
        if isFeed == false, let root = builder.tree?.root { try single(root) }
      }
    } catch {
      for note in builder.diagnostics[seen...] { context.add(note) }
      seen = builder.diagnostics.count
      throw error
    }
    for note in builder.diagnostics[seen...] {
      if context.options.isStrict { throw ODataError(strict: note) }
      context.add(note)
    }
    seen = builder.diagnostics.count
  }

  private func begin(_ root: XMLElement) throws(ODataError) {
    if let page = HTMLPage.error(root) { throw page }
    guard root.is(.atom, "feed") else {
      isFeed = false
      return
    }
    isFeed = true
    head.context = root.attribute("context", .metadata)
    if type == nil { type = context.type(context: head.context) }
    let reader = AtomEntryReader(context: context)
    builder.onChild = { [unowned self] child throws(ODataError) in
      if let item = try reader.item(child, type: self.type) {
        self.items.append(item)
      } else {
        reader.head(child, into: &self.head)
      }
    }
  }

  /// A document that is one entry, one value, or a list of values.
  private func single(_ root: XMLElement) throws(ODataError) {
    let reader = AtomEntryReader(context: context)
    if root.is(.atom, "entry") {
      items.append(.entry(try reader.entry(root, type: type)))
      return
    }
    if root.is(.metadata, "error") {
      throw ODataErrorDocument(atom: root).thrown(at: root.place)
    }
    switch root.space {
    case .data, .metadata:
      let value = try reader.value(root, type: type.map { EdmTypeReference($0) })
      items.append(.value(value))
    default:
      throw ODataError(
        .unexpectedDocument, "the root is \(root.local), neither a feed nor an entry",
        at: root.place)
    }
  }
}
