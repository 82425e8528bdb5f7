import FerryJSON
import FerryModel

extension TakeoverMapping {
  /// The largest mapping file, in bytes.
  package static let limitBytes = 1 << 20
  private static let nodeLimit = 100_000

  /// Errors name the place in the file, and what may be there.
  package init(_ text: [UInt8], for package: Package) throws(TakeoverError) {
    guard text.count <= TakeoverMapping.limitBytes else {
      throw TakeoverError(
        "the mapping has \(text.count) bytes; at most \(TakeoverMapping.limitBytes) are read",
        hint: "Leave out what is no part of the mapping.")
    }
    let root: MappingObject
    do throws(JSONError) {
      root = MappingObject(
        try JSONNode.parse(text, depthLimit: 8, nodeLimit: TakeoverMapping.nodeLimit), "the mapping"
      )
    } catch {
      throw TakeoverError("the mapping is no JSON text: \(error)", hint: "Correct it there.")
    }
    try root.allows(["outbox", "types"])
    outbox = try Outbox(try root.object("outbox"))
    var kinds: [String: Kind] = [:]
    for (type, object) in try root.object("types").objects() {
      kinds[type] = try Kind(type, object, package)
    }
    self.kinds = kinds
    for kind in kinds.values.sorted(by: { $0.type < $1.type }) { try checkReferences(of: kind) }
  }

  private func checkReferences(of kind: Kind) throws(TakeoverError) {
    for (column, type) in kind.refers.sorted(by: { $0.key < $1.key }) {
      let place = "types.\(kind.type).refers.\(column)"
      guard let other = kinds[type] else {
        throw TakeoverError(
          "\(place): the mapping has no type \"\(type)\"",
          hint: NearestWord.cure(type, among: kinds.keys.sorted()))
      }
      guard target(of: column, in: kind) != nil else {
        throw TakeoverError(
          "\(place): no relationship of \(kind.entity.name) leads to \(other.entity.name) by this "
            + "column",
          hint: "Map the column to an attribute of such a relationship, or leave it out here.")
      }
    }
  }
}

extension TakeoverMapping.Outbox {
  fileprivate init(_ object: MappingObject) throws(TakeoverError) {
    try object.allows([
      "table", "order", "transaction", "json", "operation", "type", "key", "values", "operations",
    ])
    table = try object.text("table")
    order = try object.text("order")
    transaction = try object.optionalText("transaction")
    json = try object.optionalText("json")
    operation = try object.text("operation")
    type = try object.text("type")
    key = try object.text("key")
    values = try object.optionalText("values")
    var operations: [String: TakeoverMapping.Verb] = [:]
    let words = try object.object("operations")
    for (word, value) in try words.texts() {
      guard let name = value, let verb = TakeoverMapping.Verb(rawValue: name) else {
        throw TakeoverError(
          "\(words.place).\(word): \"\(value ?? "null")\" is no operation",
          hint: "Write \(TakeoverMapping.Verb.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      operations[word] = verb
    }
    self.operations = operations
  }
}

extension TakeoverMapping.Kind {
  fileprivate init(
    _ type: String, _ object: MappingObject, _ package: Package
  ) throws(TakeoverError) {
    try object.allows(["entity", "table", "key", "columns", "refers"])
    let name = try object.text("entity")
    guard let entity = package.entity(named: name) else {
      throw TakeoverError(
        "\(object.place).entity: the package \(package.name) has no \(name)",
        hint: NearestWord.cure(name, among: package.entities.map(\.name)))
    }
    guard !entity.isClientOnly else {
      throw TakeoverError(
        "\(object.place).entity: objects of \(name) stay on the device, so nothing of them is pending",
        hint: "Leave the type out, and save such objects in the app.")
    }
    var columns: [String: Int] = [:]
    var ignored: Set<String> = []
    let mapped = try object.object("columns")
    for (column, attribute) in try mapped.texts() {
      guard let attribute else {
        ignored.insert(column)
        continue
      }
      guard let position = entity.position(of: attribute) else {
        throw TakeoverError(
          "\(mapped.place).\(column): \(name) has no attribute \(attribute)",
          hint: NearestWord.cure(attribute, among: entity.attributes.map(\.name)))
      }
      guard !entity.attributes[position].type.isBig else {
        throw TakeoverError(
          "\(mapped.place).\(column): \(name).\(attribute) is a big value, which is not taken over",
          hint: "Write null for the column, and let the app write the content.")
      }
      guard !columns.values.contains(position) else {
        throw TakeoverError(
          "\(mapped.place).\(column): another column has \(name).\(attribute) already",
          hint: "Write null for one of them.")
      }
      columns[column] = position
    }
    self.type = type
    self.entity = entity
    table = try object.optionalText("table") ?? type
    key = try object.text("key")
    self.columns = columns
    self.ignored = ignored
    var refers: [String: String] = [:]
    if let object = try object.optionalObject("refers") {
      for (column, type) in try object.texts() {
        guard let type, columns[column] != nil else {
          throw TakeoverError(
            "\(object.place).\(column): only a column with an attribute refers to a type",
            hint: "Name a column of \(mapped.place), and the type that it refers to.")
        }
        refers[column] = type
      }
    }
    self.refers = refers
  }
}

/// An object of the mapping with its place, for messages.
private struct MappingObject {
  let node: JSONNode
  let place: String

  init(_ node: JSONNode, _ place: String) {
    self.node = node
    self.place = place
  }

  private func path(_ name: String) -> String {
    place == "the mapping" ? name : "\(place).\(name)"
  }

  private func members() throws(TakeoverError) -> [JSONNode.Member] {
    guard case .object(let members) = node.content else {
      throw TakeoverError("\(place) must be an object", hint: "Write { … } there.")
    }
    var seen: Set<String> = []
    for member in members where !seen.insert(member.key).inserted {
      throw TakeoverError(
        "\(path(member.key)) is there twice", hint: "Leave one of the two out.")
    }
    return members
  }

  func allows(_ names: [String]) throws(TakeoverError) {
    for member in try members() where !names.contains(member.key) && member.key != "$comment" {
      throw TakeoverError(
        "\(path(member.key)) is no member of a mapping",
        hint: NearestWord.cure(member.key, among: names))
    }
  }

  func optionalText(_ name: String) throws(TakeoverError) -> String? {
    guard try members().contains(where: { $0.key == name }), let value = node[name] else {
      return nil
    }
    guard let text = value.string, !text.isEmpty else {
      throw TakeoverError("\(path(name)) must be a text", hint: "Write a name in quotes there.")
    }
    return text
  }

  func text(_ name: String) throws(TakeoverError) -> String {
    guard let text = try optionalText(name) else {
      throw TakeoverError("\(path(name)) is missing", hint: "Add it to the mapping.")
    }
    return text
  }

  func optionalObject(_ name: String) throws(TakeoverError) -> MappingObject? {
    guard try members().contains(where: { $0.key == name }), let value = node[name] else {
      return nil
    }
    return MappingObject(value, path(name))
  }

  func object(_ name: String) throws(TakeoverError) -> MappingObject {
    guard let object = try optionalObject(name) else {
      throw TakeoverError("\(path(name)) is missing", hint: "Add it to the mapping.")
    }
    return object
  }

  func objects() throws(TakeoverError) -> [(String, MappingObject)] {
    try members().map { ($0.key, MappingObject($0.value, path($0.key))) }
  }

  /// Each member's text; nil for null.
  func texts() throws(TakeoverError) -> [(String, String?)] {
    var found: [(String, String?)] = []
    for member in try members() {
      guard member.value.isNull || member.value.string != nil else {
        throw TakeoverError(
          "\(path(member.key)) must be a text or null", hint: "Write a name in quotes there.")
      }
      found.append((member.key, member.value.string))
    }
    return found
  }
}
