import FerryGenerator
import FerryJSON
import FerryModel
import Foundation
import Testing

struct ModelSchemaTests {
  @Test(
    "The schema in the documentation and beside the sample is the one that ferry new writes",
    arguments: ["Documentation", "Samples/Travel"])
  func documented(folder: String) throws {
    let file = FixtureDatabase.root.appending(path: "\(folder)/model.schema.json")
    if ProcessInfo.processInfo.environment["FERRY_RECORD_FIXTURES"] != nil {
      try ModelSchema.text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == ModelSchema.text)
  }

  @Test("The schema accepts the models that ferry new writes")
  func accepts() throws {
    for database in [try FixtureDatabase.awkward(), try FixtureDatabase.northwind().database] {
      let made = try ModelMaker.make(
        fromSQLite: database.path,
        options: TranslationOptions(
          name: "Model", groups: [try GroupRequest("people=Employees")]), file: "model.json")
      #expect(try problems(of: made.text) == [])
    }
  }

  @Test(
    "The schema refuses what the reader refuses",
    arguments: [
      ("\"long\"", "\"lung\""), ("\"table\"", "\"tabel\""), ("\"key\": [\"n\"]", "\"key\": []"),
      ("\"nullable\": true", "\"nullable\": 1"), ("\"1.0\"", "\"1\""), ("\"claim:x\"", "\"x\""),
      (",\n      \"key\"", ",\n      \"kye\""),
    ])
  func refuses(_ old: String, _ new: String) throws {
    let text = """
      { "name": "A", "version": "1.0", "entities": [{ "name": "B", "table": "b",
            "attributes": [{ "name": "n", "type": "long" }, { "name": "m", "type": "long", "nullable": true }],
            "key": ["n"], "partition": { "columns": { "n": "claim:x" } } }] }
      """.replacingOccurrences(of: "\n", with: "\n").replacingOccurrences(
        of: "],\n      \"key\"", with: "],\n      \"key\"")
    #expect(try problems(of: text) == [])
    let changed = text.replacingOccurrences(of: old, with: new)
    #expect(changed != text)
    #expect(try problems(of: changed) != [])
    #expect(ModelReader.read(Array(changed.utf8), file: "").package == nil)
  }

  /// What the schema has against a model; knows the words that our schema uses.
  private func problems(of model: String) throws -> [String] {
    let schema = try JSONNode.parse(Array(ModelSchema.text.utf8))
    return check(try JSONNode.parse(Array(model.utf8)), schema, schema, "")
  }

  private func check(
    _ node: JSONNode, _ rule: JSONNode, _ root: JSONNode, _ path: String
  ) -> [String] {
    if let reference = rule["$ref"]?.string {
      let name = reference.split(separator: "/").last.map(String.init) ?? ""
      guard let target = root["$defs"]?[name] else { return ["\(path): no \(reference)"] }
      return check(node, target, root, path)
    }
    var problems: [String] = []
    let words = rule["enum"]?.array?.compactMap(\.string)
    if let words, !words.contains(node.string ?? "") { problems.append("\(path): not in \(words)") }
    switch rule["type"]?.string {
    case "string":
      guard let text = node.string else { return ["\(path): no string"] }
      if let pattern = rule["pattern"]?.string,
        text.range(of: pattern, options: .regularExpression) == nil
      {
        problems.append("\(path): \(text) is not \(pattern)")
      }
      if let least = rule["minLength"]?.integer, text.count < least {
        problems.append("\(path): short")
      }
    case "integer":
      if node.integer ?? 0 < rule["minimum"]?.integer ?? .min {
        problems.append("\(path): too small")
      }
    case "boolean":
      if node.boolean == nil { problems.append("\(path): no boolean") }
    case "array":
      guard let elements = node.array else { return ["\(path): no array"] }
      if elements.count < rule["minItems"]?.integer ?? 0 { problems.append("\(path): too few") }
      for (index, element) in elements.enumerated() {
        if let items = rule["items"] {
          problems += check(element, items, root, "\(path)[\(index)]")
        }
      }
    case "object":
      guard let members = node.object else { return ["\(path): no object"] }
      for name in rule["required"]?.array?.compactMap(\.string) ?? [] where node[name] == nil {
        problems.append("\(path): \(name) is missing")
      }
      for member in members {
        if let known = rule["properties"]?[member.key] {
          problems += check(member.value, known, root, "\(path).\(member.key)")
        } else if let other = rule["additionalProperties"], other.object != nil {
          problems += check(member.value, other, root, "\(path).\(member.key)")
        } else {
          problems.append("\(path): \(member.key) is unknown")
        }
      }
    default: break
    }
    return problems
  }
}
