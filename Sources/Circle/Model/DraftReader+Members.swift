import FerryJSON
import FerryText

extension DraftReader {
  /// What a new object has, in the form of the attribute's type.
  mutating func defaultValue(
    _ fields: ModelFields, _ type: AttributeType?, of name: Placed<String>?
  ) -> Placed<AttributeValue>? {
    guard let field = fields["default"], let type else { return nil }
    guard let value = DraftReader.value(field.node, type).flatMap(type.canonical) else {
      findings.error(
        field.place, "the default of \(name?.content ?? "?") is not of type \(type.rawValue)",
        cure: "Write a value of that type, dates and decimals in quotes.")
      return nil
    }
    return Placed(content: value, place: field.place)
  }

  /// The values that an attribute may have, in the form of its type.
  mutating func values(
    _ fields: ModelFields, _ type: AttributeType?, of name: Placed<String>?
  ) -> Placed<[AttributeValue]>? {
    guard let field = fields["values"], let type else { return nil }
    var values: [AttributeValue] = []
    for (node, path) in elements(fields, "values") {
      let place = ModelPlace(offset: node.offset, path: path)
      let value = DraftReader.value(node, type).flatMap(type.canonical)
      guard let value, !value.isNull else {
        findings.error(
          place, "a value of \(name?.content ?? "?") is not of type \(type.rawValue)",
          cure: "Write a value of that type, texts in quotes and numbers without.")
        continue
      }
      guard !values.contains(value) else {
        findings.error(place, "\(value.shown) is in the list twice", cure: "Keep one of them.")
        continue
      }
      values.append(value)
    }
    return Placed(content: values, place: field.place)
  }

  private static func value(_ node: JSONNode, _ type: AttributeType) -> AttributeValue? {
    switch node.content {
    case .null: return .null
    case .boolean(let flag): return .boolean(flag)
    case .number(let text):
      if type == .decimal || type == .integer { return .text(text) }
      if type == .float || type == .double { return Double(text).map(AttributeValue.double) }
      return Int64(text).map(AttributeValue.integer)
    case .string(let text):
      return type == .binary ? Base64.decode(text).map(AttributeValue.bytes) : .text(text)
    case .array, .object: return .text(CanonicalJSON.text(of: node))
    }
  }

  mutating func complexType(_ node: JSONNode, _ path: String) -> DraftComplexType? {
    guard let fields = object(node, path: path, of: "a complex type", keys: ModelKey.complexType)
    else { return nil }
    var type = DraftComplexType(
      place: ModelPlace(offset: node.offset, path: path), name: text(fields, "name"),
      attributes: [])
    for (node, path) in elements(fields, "attributes") {
      let part = attribute(node, path, of: "a part of a complex type", keys: ModelKey.part)
      if let part { type.attributes.append(part) }
    }
    return type
  }

  mutating func query(_ node: JSONNode, _ path: String) -> DraftQuery? {
    guard let fields = object(node, path: path, of: "a query", keys: ModelKey.query) else {
      return nil
    }
    var query = DraftQuery(
      place: ModelPlace(offset: node.offset, path: path), name: text(fields, "name"),
      parameters: [], condition: text(fields, "where"), order: text(fields, "orderBy"),
      isSingle: flag(fields, "single"))
    guard fields["parameters"] != nil else { return query }
    for (node, path) in elements(fields, "parameters") {
      guard let fields = object(node, path: path, of: "a parameter", keys: ModelKey.parameter)
      else { continue }
      query.parameters.append(
        (
          name: text(fields, "name"),
          type: choice(fields, "type", of: AttributeType.self)?.content,
          isNullable: flag(fields, "nullable")
        ))
    }
    return query
  }
}
