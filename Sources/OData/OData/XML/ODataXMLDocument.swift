/// Any well-formed XML, with nothing lost, and reached by routes.
///
/// Reference: adr/PBX-1, PBX-2, PBX-3, PBX-8, PAX-1 (generic parse), PAX-4.
public struct ODataXMLDocument: Sendable {
  /// An element, an attribute of it or a run of text between its children.
  public indirect enum Content: Sendable, Hashable {
    /// A child with all that is in it.
    case element(Element)
    /// Characters between children, with references resolved.
    case text(String)
  }

  /// An attribute with its namespace.
  public struct Attribute: Sendable, Hashable {
    /// The local name, without its prefix.
    public let name: String
    /// The address that the prefix means; `""` for none.
    public let namespace: String
    /// As the document writes it; `""` for none.
    public let prefix: String
    /// With references resolved.
    public let value: String
  }

  /// An element with all that is in it.
  public struct Element: Sendable, Hashable {
    /// The local name, without its prefix.
    public let name: String
    /// The address that the prefix or `xmlns` means; `""` for none.
    public let namespace: String
    /// As the document writes it; `""` for none.
    public let prefix: String
    /// In the order of the document.
    public let attributes: [Attribute]
    /// Children and texts in the order of the document.
    public let content: [Content]
    /// Counted from 1.
    public let line: Int

    /// The child elements in the order of the text.
    public var elements: [Element] {
      content.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The text directly inside the element.
    public var text: String {
      content.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
    }
  }

  /// The single outermost element.
  public let root: Element
  /// The bytes that were read, kept so that the document is stored as it came (adr/PBX-8).
  public let source: [UInt8]

  /// Reads any XML. Throws `malformed`, `truncated`, `doctype`, `encoding` or `limit`.
  public init(_ bytes: [UInt8], limits: ODataLimits = .standard) throws(ODataError) {
    let read = try XMLTree.read(bytes, limits: limits)
    root = Self.element(read.tree.root)
    source = bytes
  }

  /// The text of the element at a route such as `/feed/1/entry/2/id/1`; nil where the route does
  /// not end with a number, or there is no such element. Names are local names.
  public func value(route: String) -> String? {
    let steps = Self.steps(route)
    guard steps.count % 2 == 0, let element = element(at: steps) else { return nil }
    return element.text
  }

  /// The attribute at a route such as `/feed/1/entry/2/etag`, with its namespace or "".
  public func attribute(route: String, namespace: String = "") -> String? {
    var steps = Self.steps(route)
    guard steps.count % 2 == 1, let name = steps.popLast(), let element = element(at: steps) else {
      return nil
    }
    return element.attributes.first { $0.name == name && $0.namespace == namespace }?.value
  }

  private static func steps(_ route: String) -> [String] {
    guard route.hasPrefix("/") else { return [] }
    return route.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(
      String.init)
  }

  private func element(at steps: [String]) -> Element? {
    guard steps.count >= 2, steps[0] == root.name, steps[1] == "1" else { return nil }
    var current = root
    for index in stride(from: 2, to: steps.count, by: 2) {
      guard let number = Int(steps[index + 1]), number > 0 else { return nil }
      let named = current.elements.filter { $0.name == steps[index] }
      guard number <= named.count else { return nil }
      current = named[number - 1]
    }
    return current
  }

  private static func element(_ element: XMLElement) -> Element {
    var content: [Content] = []
    var next = element.tree.memory.pointee.nodes[Int(element.index)].firstChild
    while next >= 0 {
      let node = element.tree.memory.pointee.nodes[Int(next)]
      if node.name < 0 {
        content.append(.text(String(decoding: element.tree.text(node), as: UTF8.self)))
      } else {
        content.append(.element(self.element(XMLElement(tree: element.tree, index: next))))
      }
      next = node.next
    }
    return Element(
      name: element.local, namespace: element.address, prefix: element.prefix,
      attributes: element.attributes.map {
        Attribute(
          name: $0.name.local, namespace: $0.name.address, prefix: $0.name.prefix, value: $0.value)
      }, content: content, line: element.line)
  }

  /// The document as XML again (adr/PAX-2, `buildSDMODataDocumentXML`).
  public func xml() -> [UInt8] {
    var writer = XMLWriter()
    Self.write(root, to: &writer, declared: [:])
    return writer.bytes
  }

  private static func write(
    _ element: Element, to writer: inout XMLWriter, declared: [String: String]
  ) {
    var declared = declared
    var pending: [(String, String)] = []
    func name(_ local: String, _ prefix: String, _ namespace: String, isAttribute: Bool) -> String {
      if prefix != "xml", !(isAttribute && prefix.isEmpty),
        declared[prefix, default: ""] != namespace
      {
        declared[prefix] = namespace
        pending.append((prefix.isEmpty ? "xmlns" : "xmlns:\(prefix)", namespace))
      }
      return prefix.isEmpty ? local : "\(prefix):\(local)"
    }
    let tag = name(element.name, element.prefix, element.namespace, isAttribute: false)
    let attributes = element.attributes.map {
      (name($0.name, $0.prefix, $0.namespace, isAttribute: true), $0.value)
    }
    writer.open(tag)
    for (name, value) in pending + attributes { writer.attribute(name, value) }
    for part in element.content {
      switch part {
      case .text(let text): writer.text(text)
      case .element(let child): write(child, to: &writer, declared: declared)
      }
    }
    writer.close(tag)
  }
}
