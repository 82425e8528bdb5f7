import FerryGenerator
import FerryJSON
import FerryModel

/// A resource as a table of the schema.
struct OpenAPITable {
  let resource: OpenAPIResource
  let document: OpenAPIDocument
  private(set) var table: DatabaseSchema.Table
  /// By column: how the service writes it where that is not the usual form.
  private(set) var forms: [String: String] = [:]
  private(set) var readOnly: Set<String> = []
  private(set) var key: String?

  init?(
    _ resource: OpenAPIResource, _ all: [OpenAPIResource], _ document: OpenAPIDocument,
    _ notes: inout [Note]
  ) {
    self.resource = resource
    self.document = document
    guard let key = OpenAPITable.key(of: resource) else {
      notes.append(
        Note(
          .leftOut, resource.name, "has no key that can be seen",
          cure: "Name the parameter of \(resource.list)/{…} as the property of the key."))
      return nil
    }
    self.key = key
    let post = resource.ofList["post"].flatMap { OpenAPIResource.body(of: $0, document) }
    let change = resource.ofItem?["patch"] ?? resource.ofItem?["put"]
    let patch = change.flatMap { OpenAPIResource.body(of: $0, document) }
    table = DatabaseSchema.Table(
      named: resource.name, columns: [], primaryKey: [key], countedKey: nil, uniqueKeys: [],
      foreignKeys: [], triggers: [], hasChecks: false, comment: resource.shape.text)
    let columns = self.columns(
      of: resource.shape, [], key, post?.shape, patch?.shape, depth: 0, &notes)
    let isInteger = columns.first { $0.name == key }?.known == OpenAPITable.long
    let isGiven = post.map { body in !body.shape.properties.contains { $0.name == key } } ?? true
    table = DatabaseSchema.Table(
      named: resource.name, columns: columns, primaryKey: [key],
      countedKey: isInteger && isGiven ? key : nil, uniqueKeys: [],
      foreignKeys: references(all, &notes), triggers: [], hasChecks: false,
      comment: resource.shape.text)
    table.objectName = resource.schemaName.map(OpenAPITable.objectName)
    var forbidden: Set<OperationKind> = []
    if post == nil { forbidden.insert(.create) }
    if patch == nil { forbidden.insert(.update) }
    if resource.ofItem?["delete"] == nil { forbidden.insert(.delete) }
    if post != nil, isGiven, !isInteger {
      forbidden.insert(.create)
      notes.append(
        Note(
          .restricted, resource.name, "the service makes keys that are texts",
          cure: "Devices cannot create its objects: only whole numbers can be such keys."))
    }
    table.forbidden = forbidden
  }

  private static let long = KnownType.type(.long, maxLength: nil, precision: nil, scale: nil)

  /// `ItemOut` and `ItemRead` are an Item.
  private static func objectName(_ schema: String) -> String {
    for ending in ["Out", "Read", "Response", "Public", "DTO", "Dto", "-Output"]
    where schema.hasSuffix(ending) && schema.count > ending.count {
      return String(schema.dropLast(ending.count))
    }
    return schema
  }

  private static func key(of resource: OpenAPIResource) -> String? {
    let names = resource.shape.properties.map(\.name)
    for parameter in resource.parameters {
      if names.contains(parameter) { return parameter }
      // {item_id} and {itemId} mean the id.
      for ending in ["id", "key", "code", "number", "uuid"] {
        let tail = parameter.lowercased().filter { $0 != "_" && $0 != "-" }
        if tail.hasSuffix(ending), let found = names.first(where: { $0.lowercased() == ending }) {
          return found
        }
      }
      if parameter == "pk", names.contains("id") { return "id" }
    }
    return names.first { ["id", "_id"].contains($0.lowercased()) }
  }

  // MARK: Columns

  private mutating func columns(
    of shape: OpenAPIShape, _ path: [String], _ key: String, _ post: OpenAPIShape?,
    _ patch: OpenAPIShape?, depth: Int, _ notes: inout [Note]
  ) -> [DatabaseSchema.Column] {
    var columns: [DatabaseSchema.Column] = []
    for property in shape.properties {
      let names = path + [property.name]
      let subject = "\(resource.name).\(names.joined(separator: "/"))"
      guard !property.name.contains("/"), !property.name.contains("~"), !property.name.isEmpty
      else {
        notes.append(
          Note(.leftOut, subject, "has a slash in its name", cure: "Map it by hand."))
        continue
      }
      let inner = OpenAPIShape(property.node, document)
      if inner.isWriteOnly { continue }
      if inner.type == "object", !inner.properties.isEmpty, inner.problem == nil, depth < 3 {
        func part(_ whole: OpenAPIShape?) -> OpenAPIShape? {
          whole?.properties.first { $0.name == property.name }.map {
            OpenAPIShape($0.node, document)
          }
        }
        columns += self.columns(
          of: inner, names, key, part(post), part(patch), depth: depth + 1, &notes)
        continue
      }
      columns.append(
        column(
          inner, names, isKey: names == [key], isRequired: shape.required.contains(property.name),
          post, patch))
    }
    return columns
  }

  private mutating func column(
    _ shape: OpenAPIShape, _ names: [String], isKey: Bool, isRequired: Bool,
    _ post: OpenAPIShape?, _ patch: OpenAPIShape?
  ) -> DatabaseSchema.Column {
    let name = names.joined(separator: "/")
    let last = names.last ?? name
    func takes(_ body: OpenAPIShape?) -> Bool {
      body?.properties.contains { $0.name == last } ?? false
    }
    var remark: DatabaseSchema.Remark?
    if !isKey, post != nil || patch != nil {
      if shape.isReadOnly || !takes(post) && !takes(patch) {
        readOnly.insert(name)
        remark = DatabaseSchema.Remark(
          "is made by the service", cure: "Apps should only read it: a change is not sent.")
      } else if patch != nil, !takes(patch) {
        remark = DatabaseSchema.Remark(
          "cannot be changed once the object is there",
          cure: "Set it when the object is created: the service ignores a later change.")
      }
    }
    let known = known(shape, name)
    var values: [AttributeValue] = []
    if case .type(.string, _, _, _) = known {
      values = shape.values.compactMap { $0.string.map { .text($0) } }
    }
    return DatabaseSchema.Column(
      named: name, declaredType: (shape.type ?? "") + (shape.format.map { " \($0)" } ?? ""),
      isNotNull: isKey || isRequired && !shape.isNullable && names.count == 1,
      hasDefault: false, isGenerated: false, known: known, remark: remark, comment: shape.text,
      values: values)
  }

  private mutating func known(_ shape: OpenAPIShape, _ name: String) -> KnownType {
    func plain(_ type: AttributeType) -> KnownType {
      .type(type, maxLength: nil, precision: nil, scale: nil)
    }
    if let problem = shape.problem {
      return .none(reason: problem, cure: "Map it by hand, where it is needed.")
    }
    switch (shape.type, shape.format) {
    case ("boolean"?, _): return plain(.boolean)
    case ("integer"?, "int32"?) where name != key && !name.lowercased().hasSuffix("id"):
      return plain(.int)
    case ("integer"?, _): return plain(.long)
    case ("number"?, "float"?): return plain(.float)
    case ("number"?, "decimal"?): return plain(.decimal)
    case ("number"?, _): return plain(.double)
    case ("string"?, "date"?): return plain(.date)
    case ("string"?, "date-time"?): return plain(.dateTime)
    case ("string"?, "time"?): return plain(.time)
    case ("string"?, "byte"?): return plain(.binary)
    case ("string"?, "binary"?):
      return .none(reason: "is a file", cure: "Read it from the service when it is needed.")
    case ("string"?, "decimal"?):
      forms[name] = "text"
      return plain(.decimal)
    case ("string"?, _):
      if shape.pattern?.contains(#"\d*\.?\d*"#) == true {
        forms[name] = "text"
        return plain(.decimal)
      }
      return .type(
        .string, maxLength: shape.maxLength.flatMap { $0 > 0 ? $0 : nil }, precision: nil,
        scale: nil)
    case ("array"?, _):
      return .none(
        reason: "is a list",
        cure: "Read it by a list of its own, or write \"type\": \"list\" into the model.")
    default:
      return .none(
        reason: "is \(shape.type.map { "an \($0) without properties" } ?? "of any type")",
        cure: "Describe it in the service's document, or map it by hand.")
    }
  }

  // MARK: References

  private func references(
    _ all: [OpenAPIResource], _ notes: inout [Note]
  ) -> [DatabaseSchema.ForeignKey] {
    var keys: [DatabaseSchema.ForeignKey] = []
    var linked = links(all)
    for property in resource.shape.properties where property.name != key {
      let target = linked.removeValue(forKey: property.name) ?? guessed(property, all)
      guard let target, let targetKey = OpenAPITable.key(of: target) else { continue }
      keys.append(DatabaseSchema.ForeignKey(from: [property.name], to: target.name, [targetKey]))
      notes.append(
        Note(
          .told, "\(resource.name).\(property.name)",
          "is taken for a reference to \(target.name).\(targetKey)",
          cure: "If it is none, remove the relationship from the model."))
    }
    return keys
  }

  /// `customer_id` and `customerId` lead to `customers`, where the key is of the same type.
  private func guessed(
    _ property: (name: String, node: JSONNode), _ all: [OpenAPIResource]
  ) -> OpenAPIResource? {
    let name = property.name
    let stem =
      name.hasSuffix("_id") ? name.dropLast(3) : name.hasSuffix("Id") ? name.dropLast(2) : name[...]
    guard stem.count < name.count || !stem.isEmpty else { return nil }
    let own = OpenAPIShape(property.node, document)
    let word = stem.lowercased().filter { $0 != "_" }
    let found = all.first { other in
      let last = (other.name.split(separator: "/").last.map(String.init) ?? other.name)
        .lowercased().filter { $0 != "_" && $0 != "-" }
      return last == word || last == word + "s" || last == word + "es"
        || word.hasSuffix("y") && last == word.dropLast() + "ies"
        || (last == "shelves" && word == "shelf")
    }
    guard let found, let key = OpenAPITable.key(of: found),
      let there = found.shape.properties.first(where: { $0.name == key })
    else { return nil }
    return OpenAPIShape(there.node, document).type == own.type ? found : nil
  }

  /// What the answers say by `links`: the property, and the resource whose object it names.
  private func links(_ all: [OpenAPIResource]) -> [String: OpenAPIResource] {
    var found: [String: OpenAPIResource] = [:]
    let response = document.node(resource.ofItem?["get"]?["responses"]?["200"])
    for link in response?["links"]?.object ?? [] {
      guard let node = document.node(link.value), let id = node["operationId"]?.string else {
        continue
      }
      let target = all.first { $0.ofItem?["get"]?["operationId"]?.string == id }
      for parameter in node["parameters"]?.object ?? [] {
        guard let text = parameter.value.string, text.hasPrefix("$response.body#/") else {
          continue
        }
        found[String(text.dropFirst("$response.body#/".count))] = target
      }
    }
    return found
  }
}
