/// A relation between two types, as V1 to V3 declare it.
public struct EdmAssociation: Sendable, Hashable {
  /// One side of an association.
  public struct End: Sendable, Hashable {
    /// `Role`; the last part of the type where the metadata omits it.
    public var role: String
    /// Qualified.
    public var type: String
    /// `0..1`, `1` or `*`.
    public var multiplicity: String
    /// The `Action` of `OnDelete`, such as `Cascade`; nil without the element.
    public var onDelete: String?

    /// Deleting has no effect on the other side unless given.
    public init(role: String, type: String, multiplicity: String, onDelete: String? = nil) {
      self.role = role
      self.type = type
      self.multiplicity = multiplicity
      self.onDelete = onDelete
    }
  }

  /// Properties of the dependent side that repeat the principal's.
  public struct Constraint: Sendable, Hashable {
    /// The end whose key is repeated; `""` where the metadata names none.
    public var principalRole: String
    /// Names of the principal's key properties, in order.
    public var principalProperties: [String]
    /// The end that repeats the key; `""` where the metadata names none.
    public var dependentRole: String
    /// Names that pair, by position, with the principal's.
    public var dependentProperties: [String]

    /// Both lists pair by position.
    public init(
      principalRole: String, principalProperties: [String] = [], dependentRole: String,
      dependentProperties: [String] = []
    ) {
      self.principalRole = principalRole
      self.principalProperties = principalProperties
      self.dependentRole = dependentRole
      self.dependentProperties = dependentProperties
    }
  }

  /// That of the schema that declares it.
  public var namespace: String
  /// Without its namespace, such as `ProductCategory`.
  public var name: String
  /// Two in valid metadata, in the order of the document.
  public var ends: [End]
  /// The `ReferentialConstraint`; nil where no properties repeat a key.
  public var constraint: Constraint?
  /// Attributes of foreign namespaces.
  public var attributes: EdmAttributes
  /// As navigation properties name it in `Relationship`.
  public var qualifiedName: String { "\(namespace).\(name)" }

  /// Without ends or a constraint unless given.
  public init(
    namespace: String, name: String, ends: [End] = [], constraint: Constraint? = nil,
    attributes: EdmAttributes = EdmAttributes()
  ) {
    self.namespace = namespace
    self.name = name
    self.ends = ends
    self.constraint = constraint
    self.attributes = attributes
  }
}
