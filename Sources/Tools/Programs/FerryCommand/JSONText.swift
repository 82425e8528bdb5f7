import FerryJSON

/// A node as text, its members in their order.
enum JSONText {
  static func of(_ node: JSONNode) -> String {
    var writer = JSONWriter()
    write(node, to: &writer)
    return writer.text
  }

  private static func write(_ node: JSONNode, to writer: inout JSONWriter) {
    switch node.content {
    case .null: writer.raw("null".utf8)
    case .boolean(let flag): writer.raw((flag ? "true" : "false").utf8)
    case .number(let text): writer.raw(text.utf8)
    case .string(let text): writer.string(text)
    case .array(let elements): writer.array(elements) { write($1, to: &$0) }
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.key)
        write(member.value, to: &writer)
      }
      writer.endObject()
    }
  }
}
