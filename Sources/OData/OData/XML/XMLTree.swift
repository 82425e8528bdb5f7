import FerryJSON

/// One element or run of text of a tree, by numbers.
struct XMLNode: BitwiseCopyable {
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

/// One attribute: the number of its name, and where its text stands.
struct XMLAttribute: BitwiseCopyable {
  let name: Int32
  var start: Int32
  var end: Int32
}

/// A part of an XML document as flat arrays: cheap to fill, to read and to empty again.
struct XMLMemory: ~Copyable {
  var nodes = FlatArray<XMLNode>(reserving: 64)
  var attributes = FlatArray<XMLAttribute>(reserving: 64)
  var bytes = FlatArray<UInt8>(reserving: 4_096)
  /// The innermost element that is still open; -1 when none is.
  var open: Int32 = -1
  /// The child of the root that is still open; -1 when none is.
  var openChild: Int32 = -1
  /// Where a row looks first for the property that it is asked for next.
  var nextProperty: Int32 = -1

  /// Forgets the complete children of the root, and moves the open one to their place.
  mutating func release() {
    nextProperty = -1
    guard nodes.count > 1 else { return }
    let attributeStart = nodes[0].attributeEnd
    let textStart = nodes[0].textEnd
    guard openChild > 0 else {
      nodes.cut(to: 1)
      attributes.cut(to: Int(attributeStart))
      bytes.cut(to: Int(textStart))
      nodes[0].firstChild = -1
      nodes[0].lastChild = -1
      return
    }
    let nodeShift = openChild - 1
    guard nodeShift > 0 else { return }
    let child = nodes[Int(openChild)]
    let attributeShift = child.attributeStart - attributeStart
    let textShift = child.textStart - textStart
    nodes.remove(1..<Int(openChild))
    attributes.remove(Int(attributeStart)..<Int(child.attributeStart))
    bytes.remove(Int(textStart)..<Int(child.textStart))
    for index in 1..<nodes.count {
      var node = nodes[index]
      if node.parent > 0 { node.parent -= nodeShift }
      if node.firstChild > 0 { node.firstChild -= nodeShift }
      if node.lastChild > 0 { node.lastChild -= nodeShift }
      if node.next > 0 { node.next -= nodeShift }
      node.attributeStart -= attributeShift
      node.attributeEnd -= attributeShift
      node.textStart -= textShift
      node.textEnd -= textShift
      nodes[index] = node
    }
    for index in Int(attributeStart)..<attributes.count {
      attributes[index].start -= textShift
      attributes[index].end -= textShift
    }
    nodes[0].firstChild = 1
    nodes[0].lastChild = 1
    if open > 0 { open -= nodeShift }
    openChild = 1
  }

  /// Forgets all but the elements that are open, and of them all but their names.
  mutating func forget() {
    nextProperty = -1
    var path: [XMLNode] = []
    var current = open
    while current >= 0 {
      path.append(nodes[Int(current)])
      current = nodes[Int(current)].parent
    }
    nodes.cut(to: 0)
    attributes.cut(to: 0)
    bytes.cut(to: 0)
    for (index, node) in path.reversed().enumerated() {
      let place = Int32(index)
      var kept = XMLNode(name: node.name, parent: place - 1)
      if index + 1 < path.count { (kept.firstChild, kept.lastChild) = (place + 1, place + 1) }
      nodes.append(kept)
    }
    open = Int32(path.count - 1)
    openChild = path.count > 1 ? 1 : -1
  }

  /// A copy of its own, for a reader whose rows somebody still holds.
  func copy() -> XMLMemory {
    var copy = XMLMemory()
    copy.nodes.append(contentsOf: nodes.elements)
    copy.attributes.append(contentsOf: attributes.elements)
    copy.bytes.append(contentsOf: bytes.elements)
    copy.open = open
    copy.openChild = openChild
    return copy
  }
}

/// The owner of a tree's memory.
final class XMLTree {
  let names: XMLNames
  /// Written by the parser's callbacks, read by elements; never both at once.
  let memory: UnsafeMutablePointer<XMLMemory>
  /// What makes whole entries of the rows that stand here.
  var origin: AtomOrigin?
  private var numbers: [Int32: Int] = [:]
  private var numbered: Set<Int32> = []

  init(names: XMLNames, memory made: consuming XMLMemory = XMLMemory()) {
    self.names = names
    memory = .allocate(capacity: 1)
    memory.initialize(to: made)
  }

  deinit {
    memory.deinitialize(count: 1)
    memory.deallocate()
  }

  /// The element that holds all others; there must be one.
  var root: XMLElement { XMLElement(tree: self, index: 0) }
  var isEmpty: Bool { memory.pointee.nodes.count == 0 }

  /// Must be called when nodes have moved.
  func forgetNumbers() {
    if !numbered.isEmpty { (numbers, numbered) = ([:], []) }
  }

  /// The number of an element among the children of its parent that have its name, from 1; nil for
  /// the only one. All children are numbered at once: many complaints must not cost many walks.
  func number(of index: Int32, under parent: Int32) -> Int? {
    if numbered.insert(parent).inserted {
      var totals: [Int32: Int] = [:]
      var firsts: [Int32: Int32] = [:]
      var child = memory.pointee.nodes[Int(parent)].firstChild
      while child >= 0 {
        let node = memory.pointee.nodes[Int(child)]
        if node.name >= 0 {
          let total = totals[node.name, default: 0] + 1
          totals[node.name] = total
          if total == 1 { firsts[node.name] = child } else { numbers[child] = total }
          if total == 2, let first = firsts[node.name] { numbers[first] = 1 }
        }
        child = node.next
      }
    }
    return numbers[index]
  }
}

/// One element of a tree.
struct XMLElement {
  let tree: XMLTree
  let index: Int32

  private var node: XMLNode { tree.memory.pointee.nodes[Int(index)] }
  var nameID: Int32 { tree.memory.pointee.nodes[Int(index)].name }
  private var name: XMLNames.Name { tree.names[nameID] }
  var local: String { tree.names.local(nameID) }
  var space: XMLSpace { tree.names.space(nameID) }
  var word: XMLWord { tree.names.word(nameID) }
  var address: String { name.address }
  var prefix: String { name.prefix }

  func `is`(_ space: XMLSpace, _ local: String) -> Bool {
    tree.names.is(nameID, space, local)
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
    let first = node.firstChild
    guard first >= 0 else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
    let run = tree.memory.pointee.nodes[Int(first)]
    if run.name < 0, run.next < 0 { return body(tree.text(run)) }
    var all: [UInt8] = []
    var next = first
    while next >= 0 {
      let child = tree.memory.pointee.nodes[Int(next)]
      if child.name < 0 { all += tree.text(child) }
      next = child.next
    }
    return all.withUnsafeBufferPointer { body($0) }
  }

  /// The value of an attribute; one without a namespace where none is named.
  func attribute(_ local: String, _ space: XMLSpace = .none) -> String? {
    let node = node
    for index in Int(node.attributeStart)..<Int(node.attributeEnd) {
      let attribute = tree.memory.pointee.attributes[index]
      if tree.names.is(attribute.name, space, local) { return tree.value(attribute) }
    }
    return nil
  }

  /// The value of an attribute that payloads are made of.
  func attribute(_ word: XMLWord) -> String? {
    withAttribute(word) { String(decoding: $0, as: UTF8.self) }
  }

  /// The text of an attribute where it stands.
  func withAttribute<T>(_ word: XMLWord, _ body: (UnsafeBufferPointer<UInt8>) -> T) -> T? {
    let node = node
    for index in Int(node.attributeStart)..<Int(node.attributeEnd) {
      let attribute = tree.memory.pointee.attributes[index]
      if tree.names.word(attribute.name) == word { return body(tree.text(attribute)) }
    }
    return nil
  }

  /// Gives the number of each attribute's name, and its text where it stands.
  @inline(__always)
  func eachAttribute(_ body: (Int32, UnsafeBufferPointer<UInt8>) -> Void) {
    let node = node
    for index in Int(node.attributeStart)..<Int(node.attributeEnd) {
      let attribute = tree.memory.pointee.attributes[index]
      body(attribute.name, tree.text(attribute))
    }
  }

  /// All attributes in the order of the text.
  var attributes: [(name: XMLNames.Name, value: String)] {
    let node = node
    return (Int(node.attributeStart)..<Int(node.attributeEnd)).map {
      let attribute = tree.memory.pointee.attributes[$0]
      return (tree.names[attribute.name], tree.value(attribute))
    }
  }

  var line: Int { Int(node.line) }
  var column: Int { Int(node.column) }

  /// Names and, where several of a name stand side by side, numbers from the root.
  var place: ODataPlace {
    var steps: [String] = []
    var current: XMLElement? = self
    while let element = current {
      let up = element.parent
      let number = up.flatMap { tree.number(of: element.index, under: $0.index) }
      steps.append(number.map { "\(element.local)[\($0)]" } ?? element.local)
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
      let node = tree.memory.pointee.nodes[Int(current)]
      position = node.next
      if node.name >= 0 { return XMLElement(tree: tree, index: current) }
    }
    return nil
  }
}

extension XMLMemory {
  /// The bytes of a run of text; valid until the tree changes.
  @inline(__always)
  func text(_ run: XMLNode) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes.elements[Int(run.textStart)..<Int(run.textEnd)])
  }

  /// The bytes of an attribute; valid until the tree changes.
  @inline(__always)
  func text(_ attribute: XMLAttribute) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes.elements[Int(attribute.start)..<Int(attribute.end)])
  }

  func isTrue(_ attribute: XMLAttribute) -> Bool {
    let text = text(attribute)
    return text.holds("true") || text.holds("1")
  }
}

extension XMLTree {
  @inline(__always)
  func text(_ run: XMLNode) -> UnsafeBufferPointer<UInt8> { memory.pointee.text(run) }

  @inline(__always)
  func text(_ attribute: XMLAttribute) -> UnsafeBufferPointer<UInt8> {
    memory.pointee.text(attribute)
  }

  func value(_ attribute: XMLAttribute) -> String {
    String(decoding: text(attribute), as: UTF8.self)
  }

  /// Reads a whole document.
  static func read(
    _ bytes: [UInt8], limits: ODataLimits = .standard
  ) throws(ODataError) -> (tree: XMLTree, diagnostics: [ODataDiagnostic]) {
    let parser = XMLPush(limits: limits)
    try parser.push(bytes)
    try parser.finish()
    return (parser.tree, parser.diagnostics)
  }
}
