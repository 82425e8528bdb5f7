/// A part of an XML document as flat arrays: cheap to fill, to read and to empty again.
final class XMLTree {
  struct Node {
    /// -1 is a run of text.
    var name: Int32
    var parent: Int32
    var firstChild: Int32 = -1
    var lastChild: Int32 = -1
    var next: Int32 = -1
    var attributeStart: Int32 = 0
    var attributeEnd: Int32 = 0
    var textStart: Int32 = 0
    var textEnd: Int32 = 0
    var line: Int32 = 0
    var column: Int32 = 0
  }

  struct Attribute {
    let name: Int32
    let start: Int32
    let end: Int32
  }

  let names: XMLNames
  var nodes: [Node] = []
  var attributes: [Attribute] = []
  var bytes: [UInt8] = []

  init(names: XMLNames) { self.names = names }

  /// The element that holds all others.
  var root: XMLElement { XMLElement(tree: self, index: 0) }

  /// Forgets everything but the first `count` nodes, which must have no children after them.
  func cut(nodes count: Int, attributes: Int, bytes: Int) {
    nodes.removeSubrange(count...)
    self.attributes.removeSubrange(attributes...)
    self.bytes.removeSubrange(bytes...)
  }
}

/// One element of a tree.
struct XMLElement {
  let tree: XMLTree
  let index: Int32

  private var node: XMLTree.Node { tree.nodes[Int(index)] }
  var nameID: Int32 { tree.nodes[Int(index)].name }
  private var name: XMLNames.Name { tree.names[nameID] }
  var local: String { tree.names.locals[Int(nameID)] }
  var space: XMLSpace { tree.names.spaces[Int(nameID)] }
  var address: String { name.address }
  var prefix: String { name.prefix }

  func `is`(_ space: XMLSpace, _ local: String) -> Bool {
    tree.names.is(tree.nodes[Int(index)].name, space, local)
  }

  var children: XMLChildren { XMLChildren(tree: tree, position: node.firstChild) }

  func child(_ space: XMLSpace, _ local: String) -> XMLElement? {
    children.first { $0.is(space, local) }
  }

  var parent: XMLElement? {
    let parent = node.parent
    return parent < 0 ? nil : XMLElement(tree: tree, index: parent)
  }

  /// The text directly inside the element.
  var text: String { withText { String(decoding: $0, as: UTF8.self) } }

  var hasChildren: Bool { children.first { _ in true } != nil }

  func withText<T>(_ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
    let node = node
    guard node.firstChild >= 0 else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
    let first = tree.nodes[Int(node.firstChild)]
    if first.name < 0, first.next < 0 {
      return tree.bytes.withUnsafeBufferPointer {
        body(UnsafeBufferPointer(rebasing: $0[Int(first.textStart)..<Int(first.textEnd)]))
      }
    }
    var all: [UInt8] = []
    var next = node.firstChild
    while next >= 0 {
      let child = tree.nodes[Int(next)]
      if child.name < 0 { all += tree.bytes[Int(child.textStart)..<Int(child.textEnd)] }
      next = child.next
    }
    return all.withUnsafeBufferPointer { body($0) }
  }

  /// The value of an attribute; one without a namespace where none is named.
  func attribute(_ local: String, _ space: XMLSpace = .none) -> String? {
    let node = node
    for index in Int(node.attributeStart)..<Int(node.attributeEnd) {
      let attribute = tree.attributes[index]
      if tree.names.is(attribute.name, space, local) { return value(of: attribute) }
    }
    return nil
  }

  /// All attributes in the order of the text.
  var attributes: [(name: XMLNames.Name, value: String)] {
    let node = node
    return (Int(node.attributeStart)..<Int(node.attributeEnd)).map {
      (tree.names[tree.attributes[$0].name], value(of: tree.attributes[$0]))
    }
  }

  private func value(of attribute: XMLTree.Attribute) -> String {
    String(decoding: tree.bytes[Int(attribute.start)..<Int(attribute.end)], as: UTF8.self)
  }

  var line: Int { Int(node.line) }
  var column: Int { Int(node.column) }

  /// Names and, where several of a name stand side by side, numbers from the root.
  var place: ODataPlace {
    var steps: [String] = []
    var current: XMLElement? = self
    while let element = current {
      let up = element.parent
      var position = 0
      var total = 0
      if let up {
        for child in up.children where child.nameID == element.nameID {
          total += 1
          if child.index == element.index { position = total }
        }
      }
      steps.append(total > 1 ? "\(element.local)[\(position)]" : element.local)
      current = up
    }
    return ODataPlace(
      line: line, column: column, path: "/" + steps.reversed().joined(separator: "/"))
  }
}

/// The child elements of an element, without the text between them.
struct XMLChildren: Sequence, IteratorProtocol {
  let tree: XMLTree
  var position: Int32

  mutating func next() -> XMLElement? {
    while position >= 0 {
      let current = position
      let node = tree.nodes[Int(current)]
      position = node.next
      if node.name >= 0 { return XMLElement(tree: tree, index: current) }
    }
    return nil
  }
}

/// Builds a tree; and, when asked to, hands over each child of the root as soon as it is complete
/// and forgets it, so that a document of any size needs the memory of its largest child.
final class XMLTreeBuilder: XMLReceiver {
  /// Called with the root once, when its attributes are known.
  var onRoot: ((XMLElement) throws(ODataError) -> Void)?
  /// Called with each complete child of the root; what it returns says whether the child is over.
  var onChild: ((XMLElement) throws(ODataError) -> Void)?
  private(set) var tree: XMLTree?
  private(set) var diagnostics: [ODataDiagnostic] = []
  private var open: [Int32] = []
  private var keep: (nodes: Int, attributes: Int, bytes: Int) = (0, 0, 0)
  private let limits: ODataLimits

  init(limits: ODataLimits) { self.limits = limits }

  /// Reads a whole document.
  static func read(
    _ bytes: [UInt8], limits: ODataLimits = .standard
  ) throws(ODataError) -> (
    tree: XMLTree, diagnostics: [ODataDiagnostic]
  ) {
    let builder = XMLTreeBuilder(limits: limits)
    let push = XMLPush(limits: limits, receiver: builder)
    try push.push(bytes)
    try push.finish()
    guard let tree = builder.tree else { throw ODataError(.truncated, "the document is empty") }
    return (tree, builder.diagnostics)
  }

  func start(
    _ name: Int32, attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int,
    from parser: XMLPush
  ) throws(ODataError) {
    let tree = self.tree ?? XMLTree(names: parser.names)
    self.tree = tree
    let place = parser.place
    let parent = open.last ?? -1
    let index = Int32(tree.nodes.count)
    var node = XMLTree.Node(name: name, parent: parent)
    node.line = Int32(truncatingIfNeeded: place.line)
    node.column = Int32(truncatingIfNeeded: place.column)
    node.attributeStart = Int32(tree.attributes.count)
    if let attributes {
      for number in 0..<count {
        let base = attributes + number * 5
        guard let local = base[0], let start = base[3], let end = base[4] else { continue }
        let from = Int32(tree.bytes.count)
        tree.bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: end - start))
        tree.attributes.append(
          XMLTree.Attribute(
            name: parser.names.id(local, base[1], base[2]), start: from,
            end: Int32(tree.bytes.count)))
      }
    }
    node.attributeEnd = Int32(tree.attributes.count)
    tree.nodes.append(node)
    link(index, under: parent, in: tree)
    open.append(index)
    try check(tree, parser)
    if index == 0 {
      keep = (1, tree.attributes.count, tree.bytes.count)
      try onRoot?(XMLElement(tree: tree, index: 0))
    }
  }

  func end(from parser: XMLPush) throws(ODataError) {
    let index = open.removeLast()
    guard open.count == 1, let onChild, let tree else { return }
    try onChild(XMLElement(tree: tree, index: index))
    tree.nodes[0].firstChild = -1
    tree.nodes[0].lastChild = -1
    tree.cut(nodes: keep.nodes, attributes: keep.attributes, bytes: keep.bytes)
  }

  func characters(_ text: UnsafeBufferPointer<UInt8>, from parser: XMLPush) throws(ODataError) {
    guard let tree, let parent = open.last else { return }
    let last = tree.nodes[Int(parent)].lastChild
    let start = Int32(tree.bytes.count)
    tree.bytes.append(contentsOf: text)
    if last >= 0, tree.nodes[Int(last)].name < 0, tree.nodes[Int(last)].textEnd == start {
      tree.nodes[Int(last)].textEnd = Int32(tree.bytes.count)
      if Int(tree.nodes[Int(last)].textEnd - tree.nodes[Int(last)].textStart) > limits.valueBytes {
        throw parser.error(.limit, "a text is longer than \(limits.valueBytes) bytes")
      }
    } else {
      // White space between the children of the root would pile up in a long feed.
      if open.count == 1, onChild != nil {
        tree.bytes.removeLast(text.count)
        return
      }
      var node = XMLTree.Node(name: -1, parent: parent)
      node.textStart = start
      node.textEnd = Int32(tree.bytes.count)
      let index = Int32(tree.nodes.count)
      tree.nodes.append(node)
      link(index, under: parent, in: tree)
    }
    try check(tree, parser)
  }

  func complain(_ message: String, from parser: XMLPush) {
    guard diagnostics.count < limits.diagnostics else { return }
    let place = parser.place
    diagnostics.append(
      ODataDiagnostic(
        message, at: ODataPlace(line: place.line, column: place.column),
        consequence: "the prefix is taken for the namespace it usually stands for"))
  }

  private func link(_ index: Int32, under parent: Int32, in tree: XMLTree) {
    guard parent >= 0 else { return }
    let last = tree.nodes[Int(parent)].lastChild
    if last >= 0 {
      tree.nodes[Int(last)].next = index
    } else {
      tree.nodes[Int(parent)].firstChild = index
    }
    tree.nodes[Int(parent)].lastChild = index
  }

  private func check(_ tree: XMLTree, _ parser: XMLPush) throws(ODataError) {
    if tree.bytes.count > limits.recordBytes || tree.nodes.count > limits.recordBytes / 32 {
      throw parser.error(.limit, "one record is longer than \(limits.recordBytes) bytes")
    }
  }
}
