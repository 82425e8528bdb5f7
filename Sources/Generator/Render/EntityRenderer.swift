import FerryModel

/// Makes the Swift type of one entity.
struct EntityRenderer {
  let package: Package
  let entity: Entity

  init(_ package: Package, _ entity: Entity) {
    self.package = package
    self.entity = entity
  }

  var text: String {
    let members =
      [description, attributes, record, initializer, finder("find"), finder("load")]
      + entity.attributes.indices.map(property)
      + entity.relationships.map(manyToOne) + inverses
    return """
      /// Objects of the table \(SwiftLiteral.comment(entity.table)).
      public nonisolated struct \(entity.name): Ferry.BusinessObject {
      \(members.map(indented).joined(separator: "\n\n"))
      }
      """
  }

  private func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
  }

  private var description: String {
    let operations = OperationKind.allCases.filter(entity.operations.contains)
    let relationships =
      entity.relationships.isEmpty
      ? "[]" : "[\n\(entity.relationships.map(relationship).joined(separator: "\n"))\n  ]"
    let unique =
      entity.unique.isEmpty
      ? "" : ", unique: [\(entity.unique.map(SwiftLiteral.numbers).joined(separator: ", "))]"
    return """
      public static let entity: Ferry.Entity = Ferry.Entity(
        name: \(SwiftLiteral.text(entity.name)), table: \(SwiftLiteral.text(entity.table)),
        attributes: [
      \(entity.attributes.map(attribute).joined(separator: "\n"))
        ],
        key: \(SwiftLiteral.numbers(entity.key)), keyOrigin: .\(entity.keyOrigin.rawValue),
        relationships: \(relationships),
        operations: [\(operations.map { ".\($0.rawValue)" }.joined(separator: ", "))],
        partition: \(partition), group: \(SwiftLiteral.text(entity.group))\(unique))
      """
  }

  private func attribute(_ attribute: Attribute) -> String {
    var fields = [
      "name: \(SwiftLiteral.text(attribute.name))",
      "column: \(SwiftLiteral.text(attribute.column))",
      "type: .\(attribute.type.rawValue)", "isNullable: \(attribute.isNullable)",
    ]
    if let length = attribute.maxLength { fields.append("maxLength: \(length)") }
    if let stored = attribute.stored { fields.append("stored: .\(stored.rawValue)") }
    if attribute.fullText { fields.append("fullText: true") }
    return "    Ferry.Attribute(\(fields.joined(separator: ", "))),"
  }

  private func relationship(_ relationship: Relationship) -> String {
    var fields = [
      "name: \(SwiftLiteral.text(relationship.name))",
      "target: \(SwiftLiteral.text(relationship.target))",
      "attributes: \(SwiftLiteral.texts(relationship.attributes))",
      "targetAttributes: \(SwiftLiteral.texts(relationship.targetAttributes))",
    ]
    if let inverse = relationship.inverse {
      fields.append("inverse: \(SwiftLiteral.text(inverse))")
    }
    return "    Ferry.Relationship(\(fields.joined(separator: ", "))),"
  }

  private var partition: String {
    switch entity.partition {
    case nil: return "nil"
    case .through(let name): return ".through(relationship: \(SwiftLiteral.text(name)))"
    case .columns(let columns):
      let list = columns.map { column in
        let source =
          switch column.source {
          case .open: ".open"
          case .claim(let name): ".claim(\(SwiftLiteral.text(name)))"
          }
        return "Ferry.PartitionColumn(attribute: \(SwiftLiteral.text(column.attribute)), "
          + "source: \(source))"
      }
      return ".columns([\(list.joined(separator: ", "))])"
    }
  }

  /// What queries name: each attribute with its type, each relationship with where it leads.
  private var attributes: String {
    let constants = entity.attributes.enumerated().map { position, attribute in
      "  public static let \(attribute.name) = Ferry.AttributeOf<\(entity.name), "
        + "\(SwiftLiteral.type(of: attribute))>(\(SwiftLiteral.text(attribute.name)), \(position))"
    }
    let ones = entity.relationships.map { relationship in
      "  public static let \(relationship.name) = Ferry.RelationshipOf<\(entity.name), "
        + "\(relationship.target)>(\(SwiftLiteral.text(relationship.name)))"
    }
    let manies = referring.map { other, relationship, inverse in
      "  public static let \(inverse) = Ferry.RelationshipOf<\(entity.name), \(other.name)>("
        + "\(SwiftLiteral.text(inverse)), inverseOf: \(SwiftLiteral.text(relationship.name)))"
    }
    return """
      /// The attributes and relationships by name, for queries.
      public nonisolated enum Attributes {
      \((constants + ones + manies).joined(separator: "\n"))
      }
      """
  }

  private var record: String {
    """
    public var record: Ferry.Record

    public init(record: Ferry.Record) { self.record = record }
    """
  }

  /// What the app gives to a new object: required attributes first.
  private var initializer: String {
    let given = entity.attributes.indices.filter { position in
      entity.keyOrigin == .app || !entity.key.contains(position)
    }
    let ordered =
      given.filter { !entity.attributes[$0].isNullable }
      + given.filter { entity.attributes[$0].isNullable }
    let parameters = ordered.map { position in
      let attribute = entity.attributes[position]
      let type = SwiftLiteral.type(of: attribute)
      return "  \(attribute.name): \(type)\(attribute.isNullable ? " = nil" : ""),"
    }
    let assignments = given.map { "  record.set(\($0), \(entity.attributes[$0].name))" }
    let key =
      entity.keyOrigin == .businessSystem
      ? " The business system gives the key when the object is replayed." : ""
    return """
      /// A new object, in memory only until it is created.\(key)
      public init(
      \((parameters + ["  in database: Ferry.Database"]).joined(separator: "\n"))
      ) {
        \(assignments.isEmpty ? "let" : "var") record = Ferry.Record(Self.entity, in: database)
      \((assignments + ["  self.record = record"]).joined(separator: "\n"))
      }
      """
  }

  /// `find` and `load` by the key's own attributes and types; of several, each has its label.
  private func finder(_ name: String) -> String {
    let key = entity.key.map { entity.attributes[$0] }
    let label = key.count == 1 ? "_ " : ""
    let parameters = key.map { "\(label)\($0.name): \(SwiftLiteral.type(of: $0))" }
    let values = key.map { "\($0.name).value" }.joined(separator: ", ")
    let comment =
      name == "find"
      ? "/// The object with this key; nil when it is not on the device."
      : "/// The object with this key; throws `objectNotFound` when it is not on the device."
    return """
      \(comment)
      public static func \(name)(
        \((parameters + ["in database: Ferry.Database"]).joined(separator: ", "))
      ) throws(Ferry.FerryError) -> Self\(name == "find" ? "?" : "") {
        try \(name)(key: Ferry.Key([\(values)]), in: database)
      }
      """
  }

  private func property(_ position: Int) -> String {
    let attribute = entity.attributes[position]
    let declaration = "public var \(attribute.name): \(SwiftLiteral.type(of: attribute))"
    let comment =
      attribute.name.lowercased() == attribute.column.lowercased()
      ? "" : "/// Column: \(SwiftLiteral.comment(attribute.column))\n"
    if entity.key.contains(position) {
      return comment + "\(declaration) { record.get(\(position)) }"
    }
    return comment + """
      \(declaration) {
        get { record.get(\(position)) }
        set { record.set(\(position), newValue) }
      }
      """
  }

  private func manyToOne(_ relationship: Relationship) -> String {
    """
    /// The object that \(relationship.attributes.joined(separator: ", ")) refers to, if it is on the device.
    public func \(relationship.name)() throws(Ferry.FerryError) -> \(relationship.target)? {
      try record.related(\(SwiftLiteral.text(relationship.name)))
    }
    """
  }

  private var inverses: [String] {
    referring.map { other, relationship, inverse in
      """
      /// The objects on the device whose \(relationship.name) is this one.
      public func \(inverse)() throws(Ferry.FerryError) -> [\(other.name)] {
        try record.referring(by: \(SwiftLiteral.text(relationship.name)))
      }
      """
    }
  }

  /// The relationships that lead here and have a name for the way back.
  private var referring: [(entity: Entity, relationship: Relationship, inverse: String)] {
    package.entities.flatMap { other in
      other.relationships.compactMap { relationship in
        guard relationship.target == entity.name, let inverse = relationship.inverse else {
          return nil
        }
        return (other, relationship, inverse)
      }
    }
  }
}
