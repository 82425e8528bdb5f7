import FerryJSON

extension DraftReader {
  mutating func packageParameter(_ node: JSONNode, _ path: String) -> DraftParameter? {
    guard let fields = object(node, path: path, of: "a parameter", keys: ModelKey.packageParameter)
    else {
      return nil
    }
    let type = choice(fields, "type", of: AttributeType.self)?.content
    var parameter = DraftParameter(
      name: text(fields, "name"), type: type, kind: choice(fields, "kind", of: ParameterKind.self),
      from: text(fields, "from"))
    if let field = fields["default"], let type {
      if let value = type.canonical(value(field.node, of: type)) {
        parameter.defaultValue = Placed(content: value, place: field.place)
      } else {
        findings.error(
          field.place, "the default is not of type \(type.rawValue)",
          cure: "Write a value of its type, or leave \"default\" out.")
      }
    }
    return parameter
  }

  private func value(_ node: JSONNode, of type: AttributeType) -> AttributeValue {
    switch node.content {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .string(let text): .text(text)
    case .number(let text):
      switch type {
      case .decimal, .integer: .text(text)
      case .float, .double: Double(text).map { .double($0) } ?? .text(text)
      default: Int64(text).map { .integer($0) } ?? .text(text)
      }
    case .array, .object: .bytes([])
    }
  }
}

extension DraftParameter {
  var parameter: Parameter? {
    guard let name, let type else { return nil }
    return Parameter(
      name: name.content, type: type, kind: kind?.content ?? .synchronization,
      defaultValue: defaultValue?.content ?? .null, from: from?.content)
  }
}
