import FerryJSON

/// Writes a model as people want to read it: a line per attribute, always in the same order.
public enum ModelWriter {
  /// What `$schema` says: the schema that `ferry new` lays beside the model.
  public static let schemaFile: String = "model.schema.json"

  /// The text of the file, ending with a line feed; `ModelReader` reads back an equal package.
  ///
  /// `source` names the business system for the server, such as `sqlite:shop.db`. `documented` is
  /// false for a text that only programs compare: what people read changes no data, lists of values are
  /// only looked at when an app saves, and connections are the server's.
  public static func text(
    of package: Package, schema: String? = schemaFile, source: String? = nil,
    documented: Bool = true
  ) -> String {
    var lines = ["{"]
    if let schema { lines.append("  \"$schema\": \(quote(schema)),") }
    if let source { lines.append("  \"source\": \(quote(source)),") }
    lines.append("  \"name\": \(quote(package.name)),")
    lines.append("  \"version\": \(quote(package.version)),")
    lines.append("  \"groups\": \(list(package.groups.map(\.name))),")
    lines.append("  \"entities\": [")
    for (index, entity) in package.entities.enumerated() {
      let comma = index + 1 < package.entities.count ? "," : ""
      lines += self.lines(of: entity, documented).map { "    \($0)" }
      lines[lines.count - 1] += comma
    }
    lines.append("  ]")
    if !package.complexTypes.isEmpty {
      lines[lines.count - 1] += ","
      lines.append("  \"types\": [")
      for (index, type) in package.complexTypes.enumerated() {
        let comma = index + 1 < package.complexTypes.count ? "," : ""
        let parts = [
          ["\"name\": \(quote(type.name))"],
          block("attributes", type.attributes.map { fields(of: $0, documented, isPart: true) }),
        ]
        lines += ["    {"] + joined(parts).map { "      \($0)" } + ["    }\(comma)"]
      }
      lines.append("  ]")
    }
    if !package.parameters.isEmpty {
      lines[lines.count - 1] += ","
      lines += block("parameters", package.parameters.map(fields)).map { "  \($0)" }
    }
    let roles = package.roles
    if !roles.isEmpty {
      lines[lines.count - 1] += ","
      lines.append("  \"roles\": \(list(roles))")
    }
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(of entity: Entity, _ documented: Bool) -> [String] {
    var parts: [[String]] = [["\"name\": \(quote(entity.name))"]]
    if documented, let documentation = entity.documentation {
      parts.append(["\"documentation\": \(quote(documentation))"])
    }
    if documented, let connection = entity.connection {
      parts.append(["\"connection\": \(quote(connection))"])
    }
    parts += [
      ["\"table\": \(quote(entity.table))"],
      ["\"group\": \(quote(entity.group))"],
      block("attributes", entity.attributes.map { fields(of: $0, documented) }),
      ["\"key\": \(list(names(entity.key, of: entity)))"],
      ["\"keyOrigin\": \(quote(entity.keyOrigin.rawValue))"],
    ]
    if !entity.unique.isEmpty {
      let sets = entity.unique.map { list(names($0, of: entity)) }
      parts.append(["\"unique\": [\(sets.joined(separator: ", "))]"])
    }
    if !entity.relationships.isEmpty {
      parts.append(block("relationships", entity.relationships.map(fields)))
    }
    let operations = OperationKind.allCases.filter(entity.operations.contains).map(\.rawValue)
    parts.append(["\"operations\": \(list(operations))"])
    switch entity.partition {
    case nil: break
    case .through(let name): parts.append(["\"partition\": { \"through\": \(quote(name)) }"])
    case .columns(let columns):
      let members = columns.map { "\(quote($0.attribute)): \(quote($0.source.text))" }
      parts.append(["\"partition\": { \"columns\": { \(members.joined(separator: ", ")) } }"])
    }
    if let window = entity.window {
      parts.append(
        [
          "\"window\": { \"column\": \(quote(window.attribute)), "
            + "\"from\": \(quote(PartitionWindow.text(ofDays: window.from))), "
            + "\"to\": \(quote(PartitionWindow.text(ofDays: window.to))), "
            + "\"at\": \(quote(window.hour)), \"zone\": \(quote(window.zone)) }"
        ])
    }
    if !entity.roles.isEmpty {
      let members = Permission.allCases.compactMap { permission in
        entity.roles[permission].map { "\(quote(permission.rawValue)): \(list($0))" }
      }
      parts.append(["\"roles\": { \(members.joined(separator: ", ")) }"])
    }
    if entity.isClientOnly { parts.append(["\"clientOnly\": true"]) }
    if entity.allowsBlindWrites { parts.append(["\"blindWrites\": true"]) }
    if let statements = entity.performs { parts.append(["\"performs\": \(list(statements))"]) }
    if !entity.queries.isEmpty { parts.append(block("queries", entity.queries.map(fields))) }
    return ["{"] + joined(parts).map { "  \($0)" } + ["}"]
  }

  private static func fields(of parameter: Parameter) -> String {
    var fields = [
      "\"name\": \(quote(parameter.name))", "\"type\": \(quote(parameter.type.rawValue))",
    ]
    if parameter.kind != .synchronization {
      fields.append("\"kind\": \(quote(parameter.kind.rawValue))")
    }
    if let from = parameter.from { fields.append("\"from\": \(quote(from))") }
    switch parameter.defaultValue {
    case .null: break
    case .text(let text): fields.append("\"default\": \(quote(text))")
    case let value: fields.append("\"default\": \(value.shown)")
    }
    return "{ \(fields.joined(separator: ", ")) }"
  }

  private static func fields(
    of attribute: Attribute, _ documented: Bool, isPart: Bool = false
  ) -> String {
    var fields = ["\"name\": \(quote(attribute.name))"]
    if !isPart { fields.append("\"column\": \(quote(attribute.column))") }
    fields.append("\"type\": \(quote(attribute.type.rawValue))")
    if attribute.isNullable { fields.append("\"nullable\": true") }
    if let length = attribute.maxLength { fields.append("\"maxLength\": \(length)") }
    if let precision = attribute.precision { fields.append("\"precision\": \(precision)") }
    if let scale = attribute.scale { fields.append("\"scale\": \(scale)") }
    if let stored = attribute.stored { fields.append("\"stored\": \(quote(stored.rawValue))") }
    if attribute.fullText { fields.append("\"fullText\": true") }
    if let element = attribute.element { fields.append("\"of\": \(quote(element))") }
    if let value = attribute.defaultValue {
      fields.append("\"default\": \(shown(value, attribute.type))")
    }
    if attribute.isClientOnly { fields.append("\"clientOnly\": true") }
    if documented, !attribute.values.isEmpty {
      let values = attribute.values.map { shown($0, attribute.type) }
      fields.append("\"values\": [\(values.joined(separator: ", "))]")
    }
    if documented, let documentation = attribute.documentation {
      fields.append("\"documentation\": \(quote(documentation))")
    }
    return "{ \(fields.joined(separator: ", ")) }"
  }

  private static func shown(_ value: AttributeValue, _ type: AttributeType) -> String {
    if type.hasElements, case .text(let json) = value { return json }
    var writer = JSONWriter()
    writer.value(value)
    return writer.text
  }

  private static func fields(of query: ObjectQuery) -> String {
    var fields = ["\"name\": \(quote(query.name))"]
    if !query.parameters.isEmpty {
      let parameters = query.parameters.map { parameter in
        "{ \"name\": \(quote(parameter.name)), \"type\": \(quote(parameter.type.rawValue))"
          + (parameter.isNullable ? ", \"nullable\": true }" : " }")
      }
      fields.append("\"parameters\": [\(parameters.joined(separator: ", "))]")
    }
    if let condition = query.condition { fields.append("\"where\": \(quote(condition))") }
    if let order = query.order { fields.append("\"orderBy\": \(quote(order))") }
    if query.isSingle { fields.append("\"single\": true") }
    return "{ \(fields.joined(separator: ", ")) }"
  }

  private static func fields(of relationship: Relationship) -> String {
    var fields = [
      "\"name\": \(quote(relationship.name))", "\"target\": \(quote(relationship.target))",
      "\"attributes\": \(list(relationship.attributes))",
      "\"targetAttributes\": \(list(relationship.targetAttributes))",
    ]
    if relationship.isComposite { fields.append("\"composite\": true") }
    if relationship.allowsAnyTarget { fields.append("\"anyTarget\": true") }
    if let inverse = relationship.inverse { fields.append("\"inverse\": \(quote(inverse))") }
    return "{ \(fields.joined(separator: ", ")) }"
  }

  private static func block(_ key: String, _ elements: [String]) -> [String] {
    ["\(quote(key)): ["] + joined(elements.map { [$0] }).map { "  \($0)" } + ["]"]
  }

  /// The parts one after another, with commas between them.
  private static func joined(_ parts: [[String]]) -> [String] {
    var lines: [String] = []
    for (index, part) in parts.enumerated() {
      lines += part
      if index + 1 < parts.count { lines[lines.count - 1] += "," }
    }
    return lines
  }

  private static func names(_ positions: [Int], of entity: Entity) -> [String] {
    positions.map { entity.attributes[$0].name }
  }

  private static func list(_ texts: [String]) -> String {
    "[\(texts.map(quote).joined(separator: ", "))]"
  }

  private static func quote(_ text: String) -> String {
    var writer = JSONWriter(reserving: text.utf8.count + 2)
    writer.string(text)
    return writer.text
  }
}
