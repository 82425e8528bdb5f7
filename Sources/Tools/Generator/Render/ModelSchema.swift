import FerryJSON
import FerryModel

/// The JSON Schema of model files, for editors; made from the same lists that the reader uses.
package enum ModelSchema {
  /// The text of `model.schema.json`.
  package static let text: String = {
    var lines = [
      "{",
      "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",",
      "  \"title\": \"Ferry model\",",
      "  \"description\": \"Entities of a business database that devices work with offline.\",",
    ]
    lines += object(ModelKey.package, package).map { "  \($0)" }
    lines[lines.count - 1] += ","
    lines.append("  \"$defs\": {")
    let definitions = [
      ("entity", object(ModelKey.entity, entity)),
      ("attribute", object(ModelKey.attribute, attribute)),
      ("relationship", object(ModelKey.relationship, relationship)),
      ("query", object(ModelKey.query, query)),
      ("parameter", object(ModelKey.parameter, parameter)),
      ("complexType", object(ModelKey.complexType, complexType)),
      ("part", object(ModelKey.part, attribute)),
      ("packageParameter", object(ModelKey.packageParameter, packageParameter)),
      ("roles", object(ModelKey.roles, roles)),
      (
        "partition",
        object(ModelKey.partition, partition) + ["\"minProperties\": 1, \"maxProperties\": 1"]
      ),
      ("window", object(ModelKey.window, window)),
    ]
    for (index, (name, body)) in definitions.enumerated() {
      lines.append("    \"\(name)\": {")
      var body = body
      if name == "partition" { body[body.count - 2] += "," }
      lines += body.map { "      \($0)" }
      lines.append(index + 1 < definitions.count ? "    }," : "    }")
    }
    lines += ["  }", "}"]
    return lines.joined(separator: "\n") + "\n"
  }()

  // Only what every dialect of regular expressions knows; the reader looks closer.
  private static let identifier = #"""
    { "type": "string", "pattern": "^[A-Za-z\\u0080-\\uFFFF][A-Za-z0-9_\\u0080-\\uFFFF]*$" }
    """#
  private static let text1 = "{ \"type\": \"string\", \"minLength\": 1 }"
  private static let flag = "{ \"type\": \"boolean\" }"
  private static let names = "{ \"type\": \"array\", \"items\": \(text1), \"minItems\": 1 }"

  private static let package: [String: String] = [
    "$schema": "{ \"type\": \"string\" }", "source": "{ \"type\": \"string\" }", "name": identifier,
    "version": "{ \"type\": \"string\", \"pattern\": \"^(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)$\" }",
    "groups":
      "{ \"type\": \"array\", \"items\": \(identifier), \"minItems\": 1, \"uniqueItems\": true }",
    "entities": list(of: "entity", atLeast: 1), "types": list(of: "complexType", atLeast: 0),
    "parameters": list(of: "packageParameter", atLeast: 0), "roles": names,
  ]

  private static let entity: [String: String] = [
    "name": identifier, "table": text1, "group": identifier,
    "attributes": list(of: "attribute", atLeast: 1), "key": names,
    "keyOrigin": choice(KeyOrigin.allCases.map(\.rawValue)),
    "unique": "{ \"type\": \"array\", \"items\": \(names) }",
    "relationships": list(of: "relationship", atLeast: 0),
    "operations":
      "{ \"type\": \"array\", \"items\": \(choice(OperationKind.allCases.map(\.rawValue))), "
      + "\"uniqueItems\": true }",
    "partition": "{ \"$ref\": \"#/$defs/partition\" }",
    "roles": "{ \"$ref\": \"#/$defs/roles\" }", "clientOnly": flag,
    "performs": names, "queries": list(of: "query", atLeast: 0),
    "blindWrites": flag, "documentation": text1, "connection": identifier,
    "window": "{ \"$ref\": \"#/$defs/window\" }",
  ]

  private static let days =
    "{ \"type\": \"string\", \"pattern\": \"^[+-]?[0-9]{1,4} days?$\" }"

  private static let window: [String: String] = [
    "column": identifier, "from": days, "to": days,
    "at": "{ \"type\": \"string\", \"pattern\": \"^([01][0-9]|2[0-3]):[0-5][0-9]$\" }",
    "zone": "{ \"type\": \"string\", \"pattern\": \"^[A-Za-z0-9/_+-]{1,64}$\" }",
  ]

  private static let query: [String: String] = [
    "name": identifier, "parameters": list(of: "parameter", atLeast: 0), "where": text1,
    "orderBy": text1, "single": flag,
  ]

  private static let parameter: [String: String] = [
    "name": identifier, "type": choice(AttributeType.allCases.map(\.rawValue)), "nullable": flag,
  ]

  private static let complexType: [String: String] = [
    "name": identifier, "attributes": list(of: "part", atLeast: 1),
  ]

  private static let attribute: [String: String] = [
    "name": identifier, "column": text1, "type": choice(AttributeType.allCases.map(\.rawValue)),
    "nullable": flag, "of": identifier, "default": "true", "clientOnly": flag,
    "maxLength": "{ \"type\": \"integer\", \"minimum\": 1 }",
    "precision": "{ \"type\": \"integer\", \"minimum\": 1, \"maximum\": 38 }",
    "scale": "{ \"type\": \"integer\", \"minimum\": 0, \"maximum\": 38 }",
    "stored": choice(StoredForm.allCases.map(\.rawValue)),
    "fullText": "{ \"type\": \"boolean\" }", "documentation": text1,
    "values": "{ \"type\": \"array\", \"items\": { \"type\": [\"string\", \"integer\"] }, "
      + "\"minItems\": 1, \"uniqueItems\": true }",
  ]

  private static let relationship: [String: String] = [
    "name": identifier, "target": identifier, "attributes": names, "targetAttributes": names,
    "inverse": identifier, "composite": flag, "anyTarget": flag,
  ]

  private static let packageParameter: [String: String] = [
    "name": identifier, "type": choice(AttributeType.allCases.map(\.rawValue)),
    "kind": choice(ParameterKind.allCases.map(\.rawValue)),
    "default": "{ \"type\": [\"string\", \"number\", \"boolean\"] }", "from": identifier,
  ]

  private static let roles: [String: String] = Dictionary(
    uniqueKeysWithValues: ModelKey.roles.map { ($0.name, names) })

  private static let partition: [String: String] = [
    "columns": "{ \"type\": \"object\", \"minProperties\": 1, \"additionalProperties\": "
      + "{ \"type\": \"string\", \"pattern\": "
      + "\"^(open|claim:.+|constant:[^,]+|parameter:[^ ]+( within claim:[^ ]+)?)$\" } }",
    "through": identifier,
  ]

  private static func list(of definition: String, atLeast count: Int) -> String {
    "{ \"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/\(definition)\" }, \"minItems\": \(count) }"
  }

  private static func choice(_ words: [String]) -> String { "{ \"enum\": \(quoted(words)) }" }

  private static func quoted(_ words: [String]) -> String {
    var writer = JSONWriter()
    writer.array(words) { $0.string($1) }
    return writer.text
  }

  private static func object(_ keys: [ModelKey], _ forms: [String: String]) -> [String] {
    var lines = [
      "\"type\": \"object\",", "\"additionalProperties\": false,",
      "\"required\": \(quoted(keys.filter(\.isRequired).map(\.name))),", "\"properties\": {",
    ]
    for (index, key) in keys.enumerated() {
      let comma = index + 1 < keys.count ? "," : ""
      lines.append("  \"\(key.name)\": \(forms[key.name] ?? "true")\(comma)")
    }
    return lines + ["}"]
  }
}
