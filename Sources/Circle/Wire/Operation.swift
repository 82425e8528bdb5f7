import FerryJSON
import FerryModel

/// A pending operation as it travels. Its bytes are fixed when it is submitted; the server knows
/// them by `id` and compares their hash.
public struct Operation: Sendable, Equatable {
  public let id: OperationID
  /// Operations of one business transaction share it: the id of the first one.
  public let chain: OperationID
  /// Place in the chain, from 0, and how many there are.
  public let position: Int
  public let count: Int
  public let entity: String
  public let kind: OperationKind
  /// The object's business key; nil when the business system makes it (a temporary key).
  public let key: ObjectKey?
  /// New values by position in the entity's attributes.
  public let changed: [Int: AttributeValue]
  /// What the change was based on, by position.
  public let base: [Int: AttributeValue]

  public init(
    id: OperationID, chain: OperationID, position: Int = 0, count: Int = 1, entity: String,
    kind: OperationKind, key: ObjectKey?, changed: [Int: AttributeValue],
    base: [Int: AttributeValue]
  ) {
    self.id = id
    self.chain = chain
    self.position = position
    self.count = count
    self.entity = entity
    self.kind = kind
    self.key = key
    self.changed = changed
    self.base = base
  }

  /// The bytes that submit fixes.
  public func encoded(for entity: Entity) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("id", id.text)
    writer.field("chain", chain.text)
    writer.field("position", position)
    writer.field("count", count)
    writer.field("entity", self.entity)
    writer.field("operation", kind.rawValue)
    writer.key("key")
    if let key { writer.raw("[\(key.text)]".utf8) } else { writer.temporary(id) }
    writer.key("changed")
    writer.values(changed, of: entity)
    writer.key("base")
    writer.values(base, of: entity)
    writer.endObject()
    return writer.bytes
  }

  /// The identity alone, which must be read even where the rest makes no sense.
  public static func identity(of bytes: [UInt8]) throws(JSONError) -> OperationID {
    try bytes.scan { scanner throws(JSONError) in
      var id: OperationID?
      try scanner.enterObject()
      while let key = try scanner.nextKey() {
        if key == "id" { id = try scanner.identifier() } else { try scanner.skipValue() }
      }
      guard let id else { throw scanner.failure("the operation has no id") }
      return id
    }
  }

  public init(_ bytes: [UInt8], in package: Package) throws(JSONError) {
    let entityName: String? = try bytes.scan { scanner throws(JSONError) in
      var name: String?
      try scanner.enterObject()
      while let key = try scanner.nextKey() {
        if key == "entity" { name = try scanner.string() } else { try scanner.skipValue() }
      }
      return name
    }
    guard let entityName, let entity = package.entity(named: entityName) else {
      throw JSONError(
        offset: 0,
        problem: "the package \(package.id) has no entity \(entityName ?? "(none named)")")
    }
    self = try bytes.scan { scanner throws(JSONError) in try Operation(&scanner, entity) }
  }

  private init(_ scanner: inout JSONScanner, _ entity: Entity) throws(JSONError) {
    var id: OperationID?
    var chain: OperationID?
    var position: Int64 = 0
    var count: Int64 = 1
    var kind: OperationKind?
    var objectKey: ObjectKey?
    var changed: [Int: AttributeValue] = [:]
    var base: [Int: AttributeValue] = [:]
    try scanner.enterObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "id": id = try scanner.identifier()
      case "chain": chain = try scanner.identifier()
      case "position": position = try scanner.integer()
      case "count": count = try scanner.integer()
      case "operation": kind = OperationKind(rawValue: try scanner.string())
      case "key":
        if try scanner.peek() == .array {
          let types = entity.key.map { entity.attributes[$0].type }
          objectKey = ObjectKey(try scanner.row(types: types))
        } else {
          try scanner.skipValue()
        }
      case "changed": changed = try scanner.values(of: entity)
      case "base": base = try scanner.values(of: entity)
      default: try scanner.skipValue()
      }
    }
    guard let id, let chain, let kind else {
      throw scanner.failure("the operation has no id, chain or known kind")
    }
    guard (1...1_000).contains(count), (0..<count).contains(position) else {
      throw scanner.failure("the operation is number \(position) of \(count)")
    }
    guard objectKey != nil || kind == .create else {
      throw scanner.failure("an operation on an object has no key")
    }
    self.init(
      id: id, chain: chain, position: Int(position), count: Int(count), entity: entity.name,
      kind: kind, key: objectKey, changed: changed, base: base)
  }
}

extension JSONWriter {
  mutating func temporary(_ id: OperationID) {
    beginObject()
    field("temporary", id.text)
    endObject()
  }

  /// Values under the names of their attributes, in the order of the model.
  public mutating func values(_ values: [Int: AttributeValue], of entity: Entity) {
    beginObject()
    for (position, attribute) in entity.attributes.enumerated() {
      guard let value = values[position] else { continue }
      key(attribute.name)
      self.value(value)
    }
    endObject()
  }
}

extension JSONScanner {
  /// Attribute values by their position in the entity.
  public mutating func values(of entity: Entity) throws(JSONError) -> [Int: AttributeValue] {
    var values: [Int: AttributeValue] = [:]
    try enterObject()
    while let name = try nextKey() {
      guard let position = entity.position(of: name) else {
        throw failure("the entity \(entity.name) has no attribute \(name)")
      }
      values[position] = try value(of: entity.attributes[position].type)
    }
    return values
  }
}
