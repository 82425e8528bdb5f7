import FerryJSON

extension EdmJSONReader {
  /// The annotations of an object (`@Term#Qualifier`), or of one of its members (`name@Term`).
  mutating func annotations(_ node: JSONNode, of name: String = "") -> [EdmAnnotation] {
    annotations(in: node.object ?? [], of: name)
  }

  /// Members such as `name@Term` by their name, so that each is looked for once.
  func annotated(_ members: [JSONNode.Member]) -> [String: [JSONNode.Member]] {
    var groups: [String: [JSONNode.Member]] = [:]
    for member in members {
      guard let at = member.key.firstIndex(of: "@"), at != member.key.startIndex else { continue }
      groups[String(member.key[..<at]), default: []].append(member)
    }
    return groups
  }

  mutating func annotations(
    in members: [JSONNode.Member], of name: String
  ) -> [EdmAnnotation] {
    var found: [EdmAnnotation] = []
    let prefix = name + "@"
    for member in members where member.key.hasPrefix(prefix) {
      let rest = member.key.dropFirst(prefix.count)
      // `@A@B` annotates the annotation A.
      if rest.contains("@") || ["type", "odata.type", "id"].contains(String(rest)) { continue }
      let parts = rest.split(separator: "#", maxSplits: 1)
      guard let term = parts.first else { continue }
      let inner = annotations(
        in: members.filter { $0.key.hasPrefix(member.key + "@") }, of: member.key)
      found.append(
        EdmAnnotation(
          term: resolve(String(term)), qualifier: parts.count > 1 ? String(parts[1]) : nil,
          value: expression(member.value), annotations: inner))
    }
    return found
  }

  mutating func expression(_ node: JSONNode) -> EdmExpression {
    switch node.content {
    case .null: return .null
    case .boolean(let value): return .boolean(value)
    case .string(let text): return .string(text)
    case .number(let text):
      if let value = Int64(text) { return .integer(value) }
      if let value = Double(text), value.isFinite { return .float(value) }
      return EdmDecimal(text).map { .constant(.decimal($0)) } ?? .unknown(text)
    case .array(let elements):
      var all: [EdmExpression] = []
      for element in elements { all.append(expression(element)) }
      return .collection(all)
    case .object(let members): return object(node, members)
    }
  }

  mutating func object(_ node: JSONNode, _ members: [JSONNode.Member]) -> EdmExpression {
    if let path = node["$Path"]?.string { return .path(path) }
    if node["$Null"] != nil { return .null }
    if let operands = node["$Apply"]?.array {
      var all: [EdmExpression] = []
      for operand in operands { all.append(expression(operand)) }
      return .apply(function: node["$Function"]?.string ?? "", all)
    }
    if let known = members.first(where: { $0.key.hasPrefix("$") && !$0.key.contains("@") }) {
      var operands: [EdmExpression] = []
      for operand in known.value.array ?? [known.value] { operands.append(expression(operand)) }
      return .operation(
        String(known.key.dropFirst()), name: node["$Type"]?.string ?? node["$Name"]?.string,
        operands)
    }
    var properties: [EdmPropertyValue] = []
    let groups = annotated(members)
    for member in members where !member.key.contains("@") {
      let own = annotations(in: groups[member.key] ?? [], of: member.key)
      properties.append(
        EdmPropertyValue(name: member.key, value: expression(member.value), annotations: own))
    }
    let type = (node["@type"] ?? node["@odata.type"])?.string.map { text in
      resolve(text.split(separator: "#").last.map(String.init) ?? text)
    }
    return .record(type: type, properties, annotations: annotations(node))
  }
}

extension ODataError {
  init(json error: JSONError, in text: [UInt8]) {
    let place = TextPlace(offset: error.offset, in: text)
    let isLimit = error.problem.hasPrefix("more than")
    let code: Code =
      isLimit
      ? .limit
      : error.problem.contains("UTF-8")
        ? .encoding
        : error.offset >= text.count || error.problem.contains("does not end")
          ? .truncated : .malformed
    self.init(code, error.problem, at: ODataPlace(line: place.line, column: place.column))
  }
}
