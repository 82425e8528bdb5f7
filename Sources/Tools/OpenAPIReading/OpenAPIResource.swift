import FerryGenerator
import FerryJSON

/// Objects of one kind at a service: a list, and an address of one of them.
struct OpenAPIResource {
  /// The list's path without its first slash; the model's name of the table.
  let name: String
  let list: String
  /// The object's path; nil where there is none.
  var item: String?
  /// The parameters of the object's path.
  var parameters: [String] = []
  /// The operations by method, of the list and of the object.
  let ofList: JSONNode
  var ofItem: JSONNode?
  var shape: OpenAPIShape
  /// The names of the schema, where it has one.
  var schemaName: String?
  /// Where the rows are in the list's answer.
  let rows: String
  /// What the list's answer has beside the rows.
  let envelope: OpenAPIShape?

  /// All of a document, in the order of their paths; what is none is noted.
  static func all(
    _ document: OpenAPIDocument, _ notes: inout [Note]
  ) -> [OpenAPIResource] {
    var found: [OpenAPIResource] = []
    let paths = (document.root["paths"]?.object ?? []).sorted { $0.key < $1.key }
    for path in paths where !path.key.contains("{") {
      guard let node = document.node(path.value), let get = node["get"] else { continue }
      guard var resource = OpenAPIResource(path.key, node, get, document) else {
        notes.append(
          Note(
            .leftOut, path.key, "is no list of objects",
            cure: "Ask the service for it when it is needed, or map it by hand."))
        continue
      }
      resource.takeItem(among: paths, document)
      found.append(resource)
    }
    for path in paths where path.key.contains("{") && path.value["get"] != nil {
      let isKnown = found.contains { $0.item == path.key }
      if !isKnown {
        notes.append(
          Note(
            .leftOut, path.key, "belongs to no list of the service",
            cure: "Map it by hand, where it is needed."))
      }
    }
    return found
  }

  private init?(
    _ path: String, _ node: JSONNode, _ get: JSONNode, _ document: OpenAPIDocument
  ) {
    guard let answer = OpenAPIResource.answer(of: get, document) else { return nil }
    let shape = OpenAPIShape(answer, document)
    let trimmed = path.split(separator: "/").joined(separator: "/")
    guard !trimmed.isEmpty else { return nil }
    name = trimmed
    list = path
    ofList = node
    func objects(_ items: JSONNode?) -> OpenAPIShape? {
      guard let items else { return nil }
      let inner = OpenAPIShape(items, document)
      return inner.type == "object" && !inner.properties.isEmpty ? inner : nil
    }
    if shape.type == "array", let inner = objects(shape.items) {
      self.shape = inner
      schemaName = OpenAPIResource.schemaName(shape.items)
      rows = ""
      envelope = nil
      return
    }
    let lists = shape.properties.compactMap { property -> (String, OpenAPIShape, JSONNode?)? in
      let own = OpenAPIShape(property.node, document)
      guard own.type == "array", let inner = objects(own.items) else { return nil }
      return (property.name, inner, own.items)
    }
    let usual = ["items", "data", "results", "rows", "value", "records", "_items"]
    guard
      let chosen = usual.lazy.compactMap({ name in lists.first { $0.0 == name } }).first
        ?? (lists.count == 1 ? lists.first : nil)
    else { return nil }
    self.shape = chosen.1
    schemaName = OpenAPIResource.schemaName(chosen.2)
    rows = "/" + chosen.0.replacing("~", with: "~0").replacing("/", with: "~1")
    envelope = shape
  }

  private mutating func takeItem(among paths: [JSONNode.Member], _ document: OpenAPIDocument) {
    let base = list.hasSuffix("/") ? String(list.dropLast()) : list
    for path in paths {
      guard path.key.hasPrefix(base + "/{"), let node = document.node(path.value),
        let get = node["get"]
      else { continue }
      let behind = path.key.dropFirst(base.count + 1)
      let parts = behind.split(separator: "/")
      guard parts.count == 1, parts[0].hasPrefix("{"), parts[0].hasSuffix("}") else { continue }
      item = path.key
      parameters = [String(parts[0].dropFirst().dropLast())]
      ofItem = node
      // The object's own schema may have more than the list's.
      if let answer = OpenAPIResource.answer(of: get, document) {
        let own = OpenAPIShape(answer, document)
        if own.type == "object",
          Set(own.properties.map(\.name)) == Set(shape.properties.map(\.name))
        {
          shape = own
        }
      }
      return
    }
  }

  // MARK: Parts of an operation

  static func answer(of operation: JSONNode, _ document: OpenAPIDocument) -> JSONNode? {
    let responses = operation["responses"]
    for status in ["200", "201", "2XX", "default"] {
      guard let response = document.node(responses?[status]) else { continue }
      if let schema = schema(of: response["content"])?.schema { return schema }
    }
    return nil
  }

  /// The schema of a body, and its media type.
  static func schema(of content: JSONNode?) -> (schema: JSONNode, type: String)? {
    for member in content?.object ?? []
    where member.key.hasPrefix("application/json") || member.key.hasSuffix("+json") {
      if let schema = member.value["schema"] { return (schema, member.key) }
    }
    return nil
  }

  static func body(
    of operation: JSONNode, _ document: OpenAPIDocument
  ) -> (shape: OpenAPIShape, type: String)? {
    guard let body = document.node(operation["requestBody"]),
      let found = schema(of: body["content"])
    else { return nil }
    return (OpenAPIShape(found.schema, document), found.type)
  }

  /// The names of parameters of a kind: `query` or `header`.
  static func parameters(
    _ kind: String, of operation: JSONNode?, _ path: JSONNode?, _ document: OpenAPIDocument
  ) -> [String] {
    let all = (path?["parameters"]?.array ?? []) + (operation?["parameters"]?.array ?? [])
    return all.compactMap { document.node($0) }.filter { $0["in"]?.string == kind }
      .compactMap { $0["name"]?.string }
  }

  private static func schemaName(_ node: JSONNode?) -> String? {
    node?["$ref"]?.string?.split(separator: "/").last.map(String.init)
  }
}
