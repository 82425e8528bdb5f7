import FerryGenerator
import FerryHTTP
import FerryHTTPClient
import FerryJSON

/// A description of a service by OpenAPI 3.0 or 3.1, as JSON.
struct OpenAPIDocument: Sendable {
  let root: JSONNode
  /// Where it was read; absolute.
  let address: String

  static let limitBytes = 32 << 20

  /// Asks for the one document, and for nothing that it refers to.
  static func read(
    _ address: String, transport: any Transport
  ) async throws(GeneratorError) -> OpenAPIDocument {
    let bytes: [UInt8]
    do throws(TransportError) {
      var request = TransportRequest(
        url: address,
        headers: ["Accept": "application/vnd.oai.openapi+json, application/json;q=0.9"],
        deadlines: TransportDeadlines(connect: .seconds(10), total: .seconds(300)))
      request.acceptsCompressed = true
      let response = try await transport.send(request)
      guard response.status == 200 else {
        throw TransportError(
          code: .other, message: "the answer has status \(response.status)",
          hint: "Give the address of the document itself, such as http://host/openapi.json.",
          isTransient: false, requestWasSent: true)
      }
      bytes = try await response.body.collect(limitBytes: limitBytes)
    } catch {
      throw GeneratorError("\(address) cannot be read: \(error.message)", hint: error.hint)
    }
    return try OpenAPIDocument(bytes, address)
  }

  init(_ bytes: [UInt8], _ address: String) throws(GeneratorError) {
    let start = bytes.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
    let text = String(decoding: bytes.prefix(2_000), as: UTF8.self)
    if start != UInt8(ascii: "{") {
      let isYAML = text.contains("openapi:") || text.contains("swagger:")
      throw GeneratorError(
        isYAML ? "\(address) is YAML, and only JSON is read" : "\(address) is no JSON",
        hint: isYAML
          ? "Most services have the same document at /openapi.json; or convert it with a tool for YAML."
          : "Give the address of the document itself, such as http://host/openapi.json.")
    }
    do throws(JSONError) {
      root = try JSONNode.parse(bytes, depthLimit: 128, nodeLimit: 4_000_000)
    } catch {
      throw GeneratorError(
        "\(address) is no JSON: \(error)", hint: "Correct the document of the service.")
    }
    let version = root["openapi"]?.string ?? ""
    guard version.hasPrefix("3.0") || version.hasPrefix("3.1") else {
      let found = root["swagger"]?.string.map { "Swagger \($0)" } ?? "OpenAPI \(version)"
      throw GeneratorError(
        "\(address) is \(found), and 3.0 and 3.1 are read",
        hint: "Convert it with a tool of OpenAPI, or write the model and the mapping by hand.")
    }
    self.address = address
  }

  /// What a reference means.
  enum Resolved {
    case node(JSONNode)
    /// A clause.
    case problem(String)
  }

  /// Follows references within the document.
  func resolve(_ node: JSONNode) -> Resolved {
    var node = node
    var seen: Set<String> = []
    while let reference = node["$ref"]?.string {
      guard reference.hasPrefix("#/") else {
        return .problem(
          "refers to another document, which is never fetched: \(reference.prefix(80))")
      }
      guard seen.insert(reference).inserted, seen.count < 64 else {
        return .problem("refers to itself: \(reference)")
      }
      guard let found = at(reference) else {
        return .problem("refers to \(reference), which is not in the document")
      }
      node = found
    }
    return .node(node)
  }

  func node(_ node: JSONNode?) -> JSONNode? {
    guard let node, case .node(let found) = resolve(node) else { return nil }
    return found
  }

  private func at(_ reference: String) -> JSONNode? {
    var node = root
    for part in reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false) {
      let step = (PercentEncoding.decode(part.utf8) ?? String(part))
        .replacing("~1", with: "/").replacing("~0", with: "~")
      guard
        let next = node[step]
          ?? Int(step).flatMap({ index in
            node.array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
          })
      else { return nil }
      node = next
    }
    return node
  }

  /// Where the service is, without a slash at the end; and whether the document names another place,
  /// which is not taken from it.
  var service: (address: String, isElsewhere: String?) {
    let own = HTTPAddress(address)
    let origin =
      own.map { parts in
        let isStandard = parts.port == (parts.isSecure ? 443 : 80)
        return "\(parts.scheme)://\(parts.host)" + (isStandard ? "" : ":\(parts.port)")
      } ?? ""
    let named = root["servers"]?.array?.first?["url"]?.string ?? "/"
    func trimmed(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
    if let other = HTTPAddress(named) {
      guard other.origin == own?.origin else { return (origin, named) }
      return (trimmed(origin + other.path), nil)
    }
    if named.hasPrefix("/"), !named.hasPrefix("//"), !named.contains("{") {
      return (trimmed(origin + named), nil)
    }
    return (origin, named.contains("{") || named.hasPrefix("//") ? named : nil)
  }
}

/// A schema with what it refers to and what it is put together from.
struct OpenAPIShape {
  var type: String?
  var format: String?
  var pattern: String?
  var isNullable = false
  var isReadOnly = false
  var isWriteOnly = false
  var maxLength: Int?
  var text: String?
  var values: [JSONNode] = []
  var properties: [(name: String, node: JSONNode)] = []
  var required: Set<String> = []
  var items: JSONNode?
  /// Why it cannot be used; a clause.
  var problem: String?

  /// `seen`: references on the way here, so that a circle ends.
  init(_ given: JSONNode, _ document: OpenAPIDocument, seen: Set<String> = []) {
    var seen = seen
    if let reference = given["$ref"]?.string {
      guard seen.insert(reference).inserted else {
        problem = "refers to itself: \(reference)"
        return
      }
    }
    let node: JSONNode
    switch document.resolve(given) {
    case .node(let found): node = found
    case .problem(let text):
      problem = text
      return
    }
    for part in node["allOf"]?.array ?? [] {
      merge(OpenAPIShape(part, document, seen: seen))
    }
    take(node, beside: given)
    let choices = (node["oneOf"]?.array ?? []) + (node["anyOf"]?.array ?? [])
    guard !choices.isEmpty else { return }
    let real = choices.filter { $0["type"]?.string != "null" }
    if real.count < choices.count { isNullable = true }
    if real.count == 1 {
      merge(OpenAPIShape(real[0], document, seen: seen))
      return
    }
    let types = Set(real.compactMap { $0["type"]?.string })
    if types == ["number", "string"] || types == ["integer", "string"] {
      // A decimal, as some frameworks describe it.
      (type, format) = ("string", "decimal")
    } else {
      problem = "is one of \(real.count) schemas (\(node["oneOf"] == nil ? "anyOf" : "oneOf"))"
    }
  }

  private mutating func take(_ node: JSONNode, beside given: JSONNode) {
    if let name = node["type"]?.string { type = name }
    if let names = node["type"]?.array?.compactMap(\.string) {
      let real = names.filter { $0 != "null" }
      if real.count < names.count { isNullable = true }
      if real.count == 1 { type = real[0] } else { problem = "has \(real.count) types" }
    }
    format = node["format"]?.string ?? format
    pattern = node["pattern"]?.string ?? pattern
    if node["nullable"]?.boolean == true { isNullable = true }
    if node["readOnly"]?.boolean == true || given["readOnly"]?.boolean == true { isReadOnly = true }
    if node["writeOnly"]?.boolean == true { isWriteOnly = true }
    maxLength = node["maxLength"]?.integer.flatMap { Int(exactly: $0) } ?? maxLength
    text = given["description"]?.string ?? node["description"]?.string ?? text
    if let list = node["enum"]?.array {
      values = list.filter { !$0.isNull }
      if values.count < list.count { isNullable = true }
    }
    for member in node["properties"]?.object ?? [] {
      properties.removeAll { $0.name == member.key }
      properties.append((member.key, member.value))
    }
    required.formUnion((node["required"]?.array ?? []).compactMap(\.string))
    items = node["items"] ?? items
    if type == nil, !properties.isEmpty { type = "object" }
  }

  private mutating func merge(_ other: OpenAPIShape) {
    type = other.type ?? type
    format = other.format ?? format
    pattern = other.pattern ?? pattern
    isNullable = isNullable || other.isNullable
    isReadOnly = isReadOnly || other.isReadOnly
    maxLength = other.maxLength ?? maxLength
    text = text ?? other.text
    if !other.values.isEmpty { values = other.values }
    for property in other.properties {
      properties.removeAll { $0.name == property.name }
      properties.append(property)
    }
    required.formUnion(other.required)
    items = other.items ?? items
    problem = problem ?? other.problem
  }
}
