/// One kind of business object: its attributes, its key, its relationships and who may have it.
///
/// A class, so that every object in an app's hands can carry its entity at the cost of a pointer;
/// nothing of it ever changes, and equal descriptions are equal.
public final class Entity: Sendable, Hashable {
  /// An identifier: the name of the Swift type, of the device's table and on the wire.
  public let name: String
  /// Where the business system keeps it: the name of its table.
  public let table: String
  public let attributes: [Attribute]
  /// Positions in `attributes` of the primary key, in the key's order; never empty.
  public let key: [Int]
  public let keyOrigin: KeyOrigin
  public let relationships: [Relationship]
  public let operations: Set<OperationKind>
  /// Nil: every device that subscribes the group gets all rows.
  public let partition: PartitionRule?
  /// Nil: rows of every day.
  public let window: PartitionWindow?
  /// Name of the synchronization group.
  public let group: String
  /// Positions in `attributes` of each further set of attributes that is unique in the business
  /// system, the key not among them.
  public let unique: [[Int]]
  /// Whether a composite relationship leads here: other objects are parts of these.
  public let ownsChildren: Bool
  /// Whether its objects stay on the device: nothing of them is sent or downloaded.
  public let isClientOnly: Bool
  /// How many attributes travel; those after them stay on the device.
  public let servedCount: Int
  /// For an entity whose create is an operation of the business system and makes no row: what a SQL
  /// database runs, one statement after the other, `:name` standing for each attribute. Nil for an
  /// entity with rows.
  public let performs: [String]?
  /// What the model asks of this entity by name.
  public let queries: [ObjectQuery]
  /// Who may do what; empty where the model names no role.
  public let roles: EntityRoles
  /// Whether an update or delete is taken that does not say what it was based on, and so writes over
  /// what others wrote. Ferry's own devices always say it.
  public let allowsBlindWrites: Bool
  /// What its objects are, for people who read the generated type; nil where the model says nothing.
  public let documentation: String?
  /// The name of the server's connection to the business system that has its rows; nil: the default one.
  public let connection: String?
  private let positions: [String: Int]

  public init(
    name: String, table: String, attributes: [Attribute], key: [Int], keyOrigin: KeyOrigin,
    relationships: [Relationship], operations: Set<OperationKind>, partition: PartitionRule?,
    group: String, unique: [[Int]] = [], ownsChildren: Bool = false, isClientOnly: Bool = false,
    performs: [String]? = nil, queries: [ObjectQuery] = [], roles: EntityRoles = EntityRoles(),
    allowsBlindWrites: Bool = false, documentation: String? = nil, connection: String? = nil,
    window: PartitionWindow? = nil
  ) {
    precondition(
      !key.isEmpty && key.allSatisfy(attributes.indices.contains), "key of \(name): \(key)")
    servedCount = attributes.count { !$0.isClientOnly }
    precondition(
      attributes.dropFirst(servedCount).allSatisfy(\.isClientOnly),
      "the client-only attributes of \(name) come last")
    self.name = name
    self.table = table
    self.attributes = attributes
    self.key = key
    self.keyOrigin = keyOrigin
    self.relationships = relationships
    self.operations = operations
    self.partition = partition
    self.window = window
    self.group = group
    self.unique = unique
    self.ownsChildren = ownsChildren
    self.isClientOnly = isClientOnly
    self.performs = performs
    self.queries = queries
    self.roles = roles
    self.allowsBlindWrites = allowsBlindWrites
    self.documentation = documentation
    self.connection = connection
    var positions: [String: Int] = [:]
    for (position, attribute) in attributes.enumerated() { positions[attribute.name] = position }
    self.positions = positions
  }

  /// Compares everything that was given; what follows from it is left out.
  public static func == (left: Entity, right: Entity) -> Bool {
    left === right
      || left.name == right.name && left.table == right.table
        && left.attributes == right.attributes && left.key == right.key
        && left.keyOrigin == right.keyOrigin && left.relationships == right.relationships
        && left.operations == right.operations && left.partition == right.partition
        && left.group == right.group && left.unique == right.unique
        && left.ownsChildren == right.ownsChildren && left.isClientOnly == right.isClientOnly
        && left.performs == right.performs && left.queries == right.queries
        && left.roles == right.roles && left.allowsBlindWrites == right.allowsBlindWrites
        && left.documentation == right.documentation && left.connection == right.connection
        && left.window == right.window
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(table)
    hasher.combine(attributes)
  }

  public func position(of attribute: String) -> Int? { positions[attribute] }

  /// The relationship that generated code reaches by this name.
  public func relationship(named name: String) -> Relationship? {
    relationships.first { $0.name == name }
  }

  /// The connection as messages name it.
  public var shownConnection: String { connection.map { "\"\($0)\"" } ?? "the default connection" }

  /// Whether its create is an operation of the business system, and there are no rows.
  public var isOperation: Bool { performs != nil }

  /// The entity without what only devices have.
  public var served: Entity {
    guard servedCount < attributes.count else { return self }
    return Entity(
      name: name, table: table, attributes: Array(attributes.prefix(servedCount)), key: key,
      keyOrigin: keyOrigin, relationships: relationships, operations: operations,
      partition: partition, group: group, unique: unique, ownsChildren: ownsChildren,
      isClientOnly: isClientOnly, performs: performs, queries: queries, roles: roles,
      allowsBlindWrites: allowsBlindWrites, documentation: documentation, connection: connection,
      window: window)
  }

  /// The relationship to the object that these are parts of; nil where they stand alone.
  public var owner: Relationship? { relationships.first(where: \.isComposite) }

  /// Whether at most one object refers to each target by this relationship: one to one.
  public func isOneToOne(_ relationship: Relationship) -> Bool {
    let names = Set(relationship.attributes)
    return ([key] + unique).contains { set in
      set.allSatisfy { names.contains(attributes[$0].name) }
    }
  }

  /// The key of a row of this entity; `values` are in the order of `attributes`.
  public func key(of values: [AttributeValue]) -> ObjectKey { ObjectKey(key.map { values[$0] }) }
}

/// Who makes the key of a new object.
public enum KeyOrigin: String, Sendable, Hashable, CaseIterable {
  /// The app: the key is final when the object is created.
  case app
  /// The business system, when the create is performed; until then the key is temporary.
  case businessSystem
  /// The device, when the object is created: a UUID, which is final at once.
  case device
}

/// What can be done to an object.
public enum OperationKind: String, Sendable, Hashable, CaseIterable {
  case create, update, delete
}

/// One attribute of an entity.
public struct Attribute: Sendable, Hashable {
  /// An identifier: the name of the Swift property, of the device's column and on the wire.
  public let name: String
  /// The name of the column in the business system.
  public let column: String
  public let type: AttributeType
  public let isNullable: Bool
  /// In characters as SQL counts them, Unicode code points, for strings; nil where the business system sets no limit.
  public let maxLength: Int?
  /// Of a decimal: how many digits fit in all, and how many of them after the point; nil where the
  /// business system sets no limit.
  public let precision: Int?
  public let scale: Int?
  /// How the business system stores a value that it has no type for; nil for its own type.
  public let stored: StoredForm?
  /// Its words are kept in the device's full-text index; only for strings.
  public let fullText: Bool
  /// Of a list: the type of its elements, or a complex type's name. Of a complex value: its type.
  public let element: String?
  /// What a new object has where the app gives nothing, canonical; nil: null.
  public let defaultValue: AttributeValue?
  /// Whether it stays on the device: it is neither sent nor downloaded.
  public let isClientOnly: Bool
  /// The values that the business system allows, canonical, in its order; empty where it sets no
  /// list. Only for strings and for byte, short, int and long. A value outside the list is refused
  /// when the app saves it, and kept when it is downloaded.
  public let values: [AttributeValue]
  /// What it means, for people who read the generated property; nil where the model says nothing.
  public let documentation: String?

  public init(
    name: String, column: String, type: AttributeType, isNullable: Bool, maxLength: Int? = nil,
    stored: StoredForm? = nil, fullText: Bool = false, element: String? = nil,
    defaultValue: AttributeValue? = nil, isClientOnly: Bool = false, precision: Int? = nil,
    scale: Int? = nil, values: [AttributeValue] = [], documentation: String? = nil
  ) {
    self.name = name
    self.column = column
    self.type = type
    self.isNullable = isNullable
    self.maxLength = maxLength
    self.precision = precision
    self.scale = scale
    self.values = values
    self.documentation = documentation
    self.stored = stored
    self.fullText = fullText
    self.element = element
    self.defaultValue = defaultValue
    self.isClientOnly = isClientOnly
  }
}

extension Attribute {
  /// Digits of any decimal.
  package static let longestDecimal: Int64 = 38

  /// How many digits a canonical decimal has before its point, where a leading zero is none, and how
  /// many behind it.
  package static func digits(of text: String) -> (before: Int, behind: Int) {
    let parts = text.split(separator: ".")
    let whole = parts.first.map { $0.filter { $0 != "-" } } ?? ""
    return (whole == "0" ? 0 : whole.count, parts.count > 1 ? parts[1].count : 0)
  }

  /// Why a canonical value is not one of those that the model lists, and the cure; nil where it is,
  /// where it is null, and where the model lists none.
  public func unlisted(_ value: AttributeValue) -> (problem: String, cure: String)? {
    guard !values.isEmpty, !value.isNull, !values.contains(value) else { return nil }
    let allowed = values.map(\.shown).joined(separator: ", ")
    return ("\(value.shown) is not one of \(allowed)", "Set one of these values and save again.")
  }

  /// Why a canonical text or decimal is longer than it may be, and the cure; nil where it fits.
  public func misfit(_ text: String) -> (problem: String, cure: String)? {
    if type == .decimal { return misfit(decimal: text) }
    // No text has more characters than bytes.
    guard let maxLength, text.utf8.count > maxLength else { return nil }
    let length = text.unicodeScalars.count
    guard length > maxLength else { return nil }
    return (
      "\(length) characters are more than \(maxLength)",
      "Shorten it to \(maxLength) characters and save again."
    )
  }

  private func misfit(decimal text: String) -> (problem: String, cure: String)? {
    guard precision != nil || scale != nil else { return nil }
    let (before, behind) = Attribute.digits(of: text)
    if let scale, behind > scale {
      return (
        "\(text) has \(behind) digits behind the point, \(scale) fit",
        "Round it to \(scale) digits behind the point and save again."
      )
    }
    guard let precision, before + (scale ?? behind) > precision else { return nil }
    return (
      "\(text) has \(before) digits before the point, \(precision - (scale ?? behind)) fit",
      "Set a smaller number and save again."
    )
  }
}

/// How a business database without date types keeps them.
public enum StoredForm: String, Sendable, Hashable, CaseIterable {
  /// `2013-01-31 23:59:59`, SQLite's own form.
  case space
  /// `2013-01-31T23:59:59`.
  case iso
  /// Seconds since 1970, an integer.
  case unixSeconds
}

/// An entity refers to another: many to one, from this entity's attributes to the target's.
public struct Relationship: Sendable, Hashable {
  public let name: String
  /// Name of the target entity.
  public let target: String
  /// Names of this entity's attributes, in the order of `targetAttributes`.
  public let attributes: [String]
  /// Names of the target's attributes: its key, or attributes that are unique there.
  public let targetAttributes: [String]
  /// The name under which the target reaches the many; nil when it does not.
  public let inverse: String?
  /// These objects are parts of the target: deleted with it, and replayed with it.
  public let isComposite: Bool
  /// Whether users may refer to objects of the target that are not among their own.
  public let allowsAnyTarget: Bool

  public init(
    name: String, target: String, attributes: [String], targetAttributes: [String],
    inverse: String? = nil, isComposite: Bool = false,
    allowsAnyTarget: Bool = false
  ) {
    self.name = name
    self.target = target
    self.attributes = attributes
    self.targetAttributes = targetAttributes
    self.inverse = inverse
    self.isComposite = isComposite
    self.allowsAnyTarget = allowsAnyTarget
  }

  /// Whether it leads to this entity, by the whole key and in the key's order: what follows the key
  /// that the business system gives.
  package func refers(byKeyOf entity: Entity) -> Bool {
    target == entity.name
      && targetAttributes.elementsEqual(entity.key) {
        $0 == entity.attributes[$1].name
      }
  }
}

/// Which partition a row is in.
public enum PartitionRule: Sendable, Hashable {
  /// By the row's own attributes; each is matched with what a subscription gives.
  case columns([PartitionColumn])
  /// The partition of the object that the relationship leads to.
  case through(relationship: String)
}

/// A column of a partition rule and where its value comes from.
public struct PartitionColumn: Sendable, Hashable {
  public let attribute: String
  public let source: PartitionSource

  public init(attribute: String, source: PartitionSource) {
    self.attribute = attribute
    self.source = source
  }
}
