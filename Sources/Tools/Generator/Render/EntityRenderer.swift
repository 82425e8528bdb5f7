import FerryModel

/// Makes the Swift type of one entity.
struct EntityRenderer {
  let package: Package
  let entity: Entity
  /// Of the values that the model lists, by the position of their attribute; where they clash none.
  let listed: [Int: ListedNames]

  init(_ package: Package, _ entity: Entity) {
    self.package = package
    self.entity = entity
    listed = package.listedNames(of: entity).compactMapValues { try? $0.get() }
  }

  var text: String {
    let members =
      [description, attributes] + listedTypes
      + [record, initializer] + finders
      + entity.attributes.indices.map(property)
      + entity.relationships.flatMap(toOne)
      + inverses + queries
    return """
      \(subject)
      public nonisolated struct \(entity.name): Ferry.BusinessObject\(identifiable) {
      \(members.map(indented).joined(separator: "\n\n"))
      }
      """
  }

  /// The words of the model first, then what Ferry knows by itself.
  private var subject: String {
    let known =
      entity.isOperation
      ? "An operation of the business system: to perform it, make one and save it."
      : entity.isClientOnly
        ? "Objects that stay on the device."
        : "Objects of the table \(SwiftLiteral.comment(entity.table))."
    return documented(entity.documentation, "/// \(known)")
  }

  /// A view's list takes the objects as they are: by the device's own key, or by the attribute `id`
  /// where that is a key which the app gives, once and for all. Any other `id` of the model's is not
  /// what tells two objects apart: new ones share it, or the business system gives another.
  private var identifiable: String {
    let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    guard (names + referring.map(\.inverse)).contains("id") else { return ", Swift.Identifiable" }
    let key = entity.key.map { entity.attributes[$0].name }
    return key == ["id"] && entity.keyOrigin == .app ? ", Swift.Identifiable" : ""
  }

  /// The inner name of a parameter, which no attribute has.
  func local(_ name: String) -> String {
    entity.attributes.contains { $0.name == name } ? "_\(name)" : name
  }

  func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
  }

  private var description: String {
    let operations = OperationKind.allCases.filter(entity.operations.contains)
    let relationships =
      entity.relationships.isEmpty
      ? "[]" : "[\n\(entity.relationships.map(relationship).joined(separator: "\n"))\n  ]"
    var rest = ""
    var roles = ""
    if !entity.unique.isEmpty {
      rest += ", unique: [\(entity.unique.map(SwiftLiteral.numbers).joined(separator: ", "))]"
    }
    if entity.ownsChildren { rest += ", ownsChildren: true" }
    if entity.isClientOnly { rest += ", isClientOnly: true" }
    if !entity.roles.isEmpty {
      let permissions = Permission.allCases.compactMap { permission in
        entity.roles[permission].map { ".\(permission.rawValue): \(SwiftLiteral.texts($0))" }
      }
      roles = ", roles: FerryModel.EntityRoles([\(permissions.joined(separator: ", "))])"
    }
    if entity.allowsBlindWrites { roles += ", allowsBlindWrites: true" }
    let connection = entity.connection.map { ", connection: \(SwiftLiteral.text($0))" } ?? ""
    let window = entity.window.map { ", window: \(self.window($0))" } ?? ""
    if let statements = entity.performs { rest += ", performs: \(SwiftLiteral.texts(statements))" }
    return """
      public static let entity: FerryModel.Entity = FerryModel.Entity(
        name: \(SwiftLiteral.text(entity.name)), table: \(SwiftLiteral.text(entity.table)),
        attributes: [
      \(entity.attributes.map { SwiftLiteral.attribute($0) }.joined(separator: "\n"))
        ],
        key: \(SwiftLiteral.numbers(entity.key)), keyOrigin: .\(entity.keyOrigin.rawValue),
        relationships: \(relationships),
        operations: [\(operations.map { ".\($0.rawValue)" }.joined(separator: ", "))],
        partition: \(partition), group: \(SwiftLiteral.text(entity.group))\(rest)\(roles)\(connection)\(window))
      """
  }

  private func window(_ window: PartitionWindow) -> String {
    "FerryModel.PartitionWindow(attribute: \(SwiftLiteral.text(window.attribute)), "
      + "from: \(window.from), to: \(window.to), minute: \(window.minute), "
      + "zone: \(SwiftLiteral.text(window.zone)))"
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
    if relationship.isComposite { fields.append("isComposite: true") }
    if relationship.allowsAnyTarget { fields.append("allowsAnyTarget: true") }
    return "    FerryModel.Relationship(\(fields.joined(separator: ", "))),"
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
          case .constant(let value): ".constant(\(SwiftLiteral.text(value)))"
          case .parameter(let name, let claim):
            ".parameter(\(SwiftLiteral.text(name)), "
              + "within: \(claim.map(SwiftLiteral.text) ?? "nil"))"
          }
        return "FerryModel.PartitionColumn(attribute: \(SwiftLiteral.text(column.attribute)), "
          + "source: \(source))"
      }
      return ".columns([\(list.joined(separator: ", "))])"
    }
  }

  /// What queries name: each attribute with its type, each relationship with where it leads.
  private var attributes: String {
    // What is big is neither compared nor sorted by.
    let small = entity.attributes.enumerated().filter { !$0.element.type.isBig }
    // Computed: a stored one would have an initializer, a lock and a place of its own to compile.
    let names = small.map { position, attribute in
      indented(documentation(position)) + "\n"
        + "  public static var \(attribute.name): Ferry.AttributeOf<\(entity.name), "
        + "\(type(of: position))> { "
        + ".init(\(SwiftLiteral.text(attribute.name)), \(position)) }"
    }
    let ones = entity.relationships.map { relationship in
      "  /// Leads to \(relationship.target).\n"
        + "  public static var \(relationship.name): Ferry.RelationshipOf<\(entity.name), "
        + "\(relationship.target)> { .init(\(SwiftLiteral.text(relationship.name))) }"
    }
    let manies = referring.map { other, relationship, inverse in
      "  /// Leads to each \(other.name) whose \(relationship.name) is this object.\n"
        + "  public static var \(inverse): Ferry.RelationshipOf<\(entity.name), \(other.name)> { .init("
        + "\(SwiftLiteral.text(inverse)), inverseOf: \(SwiftLiteral.text(relationship.name))) }"
    }
    return """
      /// The attributes and relationships by name, for queries.
      public nonisolated enum Attributes {
      \((names + ones + manies).joined(separator: "\n"))
      }
      """
  }

  private var record: String {
    """
    /// The values of the object, with its key and its state.
    public var record: Ferry.ObjectRecord

    /// Ferry makes objects from records; an app uses the other initializer.
    public init(record: Ferry.ObjectRecord) { self.record = record }
    """
  }

  /// What the app gives to a new object: required attributes first.
  private var initializer: String {
    let given = entity.attributes.indices.filter { position in
      (entity.keyOrigin == .app || !entity.key.contains(position))
        && !entity.attributes[position].type.isBig
    }
    let isOptional = { (position: Int) in
      entity.attributes[position].isNullable || entity.attributes[position].defaultValue != nil
    }
    let ordered = given.filter { !isOptional($0) } + given.filter(isOptional)
    let parameters = ordered.map { position in
      let attribute = entity.attributes[position]
      let type = type(of: position)
      guard isOptional(position) else { return "  \(attribute.name): \(type)," }
      return "  \(attribute.name): \(type)\(attribute.isNullable ? "" : "?") = nil,"
    }
    let assignments = given.map { position in
      let name = entity.attributes[position].name
      let set = "record.set(\(position), \(name))"
      // Nothing given leaves the default, which a new record has already.
      return entity.attributes[position].defaultValue == nil
        ? "  \(set)" : "  if let \(name) { \(set) }"
    }
    let key =
      switch entity.keyOrigin {
      case .businessSystem: " The business system assigns the key."
      case .device: " The device makes the key when it is saved."
      case .app: ""
      }
    return """
      /// A new object, in memory only until it is saved. It needs no database before that.\(key)
      public init(
      \((parameters + ["  in \(local("database")): Ferry.FerryDatabase? = nil"]).joined(separator: "\n"))
      ) {
        \(assignments.isEmpty ? "let" : "var") record = Ferry.ObjectRecord(Self.entity, in: \(local("database")))
      \((assignments + ["  self.record = record"]).joined(separator: "\n"))
      }
      """
  }

  private func property(_ position: Int) -> String {
    let attribute = entity.attributes[position]
    guard !attribute.type.isBig else { return bigProperty(position) }
    let declaration = "public var \(attribute.name): \(type(of: position))"
    if entity.key.contains(position) {
      return "\(documentation(position))\n\(declaration) { record.get(\(position)) }"
    }
    return """
      \(documentation(position))
      \(declaration) {
        get { record.get(\(position)) }
        set { record.set(\(position), newValue) }
      }
      """
  }

  /// Not loaded with the object.
  private func bigProperty(_ position: Int) -> String {
    let attribute = entity.attributes[position]
    let type = SwiftLiteral.type(attribute.type)
    return """
      \(documentation(position)) Read and written as a stream.
      public var \(attribute.name): \(type) { \(type)(record, \(position)) }
      """
  }
}
