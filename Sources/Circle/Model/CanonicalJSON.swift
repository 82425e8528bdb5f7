import FerryJSON

/// The one text of a JSON value, by which lists and complex values are compared and hashed: no
/// blanks, and members in the order of their names.
package enum CanonicalJSON {
  /// Nil when the text is no list.
  static func list(_ text: String) -> String? {
    guard let node = parsed(text), node.array != nil else { return nil }
    return written(node)
  }

  /// Nil when the text is no object, or names a member twice.
  static func object(_ text: String) -> String? {
    guard let node = parsed(text), let members = node.object else { return nil }
    guard Set(members.map(\.key)).count == members.count else { return nil }
    return written(node)
  }

  /// Of any value.
  package static func text(of node: JSONNode) -> String { written(node) }

  private static func parsed(_ text: String) -> JSONNode? {
    try? JSONNode.parse(Array(text.utf8), depthLimit: 16)
  }

  private static func written(_ node: JSONNode) -> String {
    var writer = JSONWriter()
    write(node, &writer)
    return writer.text
  }

  private static func write(_ node: JSONNode, _ writer: inout JSONWriter) {
    switch node.content {
    case .null: writer.null()
    case .boolean(let flag): writer.boolean(flag)
    case .number(let text): writer.raw(text.utf8)
    case .string(let text): writer.string(text)
    case .array(let elements): writer.array(elements) { write($1, &$0) }
    case .object(let members):
      writer.beginObject()
      for member in members.sorted(by: { $0.key < $1.key }) {
        writer.key(member.key)
        write(member.value, &writer)
      }
      writer.endObject()
    }
  }
}
