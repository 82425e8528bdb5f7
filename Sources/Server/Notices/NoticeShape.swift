import FerryJSON
import FerryRESTConnector

/// How the body of a sender that cannot be changed, such as the webhook of a shop, is read.
///
///     {"entity": "Item", "key": {"id": "/data/product/id"}, "id": "/delivery",
///      "rows": "/events", "deleted": {"at": "/action", "is": "deleted"},
///      "when": {"at": "/topic", "is": "product"}}
struct NoticeShape: Sendable {
  struct Test: Sendable {
    let at: JSONPath
    let value: String

    func holds(_ node: JSONNode) -> Bool { at.node(in: node)?.plainText == value }
  }

  let entity: String
  let key: [(attribute: String, at: JSONPath)]
  let id: JSONPath?
  /// Where a list of objects is; nil where the body is one.
  let rows: JSONPath?
  let deleted: Test?
  /// Other bodies say nothing.
  let when: Test?

  init(_ node: JSONNode, sender: String, file: String) throws(NoticeFileError) {
    func fault(_ problem: String) -> NoticeFileError {
      NoticeFileError(
        "\(file): the shape of \(sender) \(problem)",
        hint:
          "Write {\"entity\": name, \"key\": {attribute: path}}, and perhaps id, rows, deleted, "
          + "when.")
    }
    for member in node.object ?? []
    where !["entity", "key", "id", "rows", "deleted", "when"].contains(member.key) {
      throw fault("has \"\(member.key)\", which is not known")
    }
    func path(_ node: JSONNode?) throws(NoticeFileError) -> JSONPath? {
      guard let node else { return nil }
      guard let path = node.string.flatMap({ JSONPath($0) }) else {
        throw fault("has something that is no path")
      }
      return path
    }
    func test(_ node: JSONNode?) throws(NoticeFileError) -> Test? {
      guard let node else { return nil }
      guard let at = try path(node["at"]), let value = node["is"]?.plainText else {
        throw fault("has a test without \"at\" and \"is\"")
      }
      return Test(at: at, value: value)
    }
    guard let entity = node["entity"]?.string, let members = node["key"]?.object, !members.isEmpty
    else { throw fault("has no entity or no key") }
    var key: [(attribute: String, at: JSONPath)] = []
    for member in members {
      guard let at = try path(member.value) else { throw fault("has a key without a path") }
      key.append((member.key, at))
    }
    self.entity = entity
    self.key = key
    id = try path(node["id"])
    rows = try path(node["rows"])
    deleted = try test(node["deleted"])
    when = try test(node["when"])
  }

  /// The messages of a body. What lacks a part of the key becomes one that is refused for it.
  func messages(_ body: JSONNode) -> [JSONNode] {
    guard when?.holds(body) ?? true else { return [] }
    guard let rows else { return [message(body, body)] }
    return (rows.node(in: body)?.array ?? []).map { message($0, body) }
  }

  private func message(_ node: JSONNode, _ body: JSONNode) -> JSONNode {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("entity", entity)
    if let text = id?.node(in: node)?.plainText { writer.field("id", text) }
    writer.key("key")
    writer.beginObject()
    for (attribute, at) in key {
      guard let found = at.node(in: node) else { continue }
      writer.key(attribute)
      switch found.content {
      case .number(let text): writer.raw(text.utf8)
      default: writer.string(found.plainText ?? "")
      }
    }
    writer.endObject()
    if let deleted, deleted.holds(node) || deleted.holds(body) { writer.field("deleted", true) }
    writer.endObject()
    return (try? JSONNode.parse(writer.bytes)) ?? node
  }
}
