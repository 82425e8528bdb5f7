import FerryJSON

extension JSONNode {
  /// As text, its members in their order.
  var jsonText: String {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.text
  }

  private func write(to writer: inout JSONWriter) {
    switch content {
    case .null: writer.raw("null".utf8)
    case .boolean(let flag): writer.raw((flag ? "true" : "false").utf8)
    case .number(let text): writer.raw(text.utf8)
    case .string(let text): writer.string(text)
    case .array(let elements): writer.array(elements) { $1.write(to: &$0) }
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.key)
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}
