/// An entity or complex type.
public struct EdmStructuredType: Sendable, Hashable {
  /// Entities have keys, complex values have not.
  public enum Kind: Sendable, Hashable {
    /// An `EntityType` element: instances have keys and addresses.
    case entity
    /// A `ComplexType` element: instances exist only inside entities.
    case complex
  }

  /// Which of the two elements declared it.
  public var kind: Kind
  /// That of the schema, such as `NorthwindModel`.
  public var namespace: String
  /// Without its namespace, such as `Product`.
  public var name: String
  /// Qualified.
  public var baseType: String?
  /// `Abstract`: no instance has exactly this type. False where absent.
  public var isAbstract: Bool
  /// `OpenType`: instances may have properties that are not declared.
  public var isOpen: Bool
  /// `HasStream` or `m:HasStream`: its entities are media link entries.
  public var hasStream: Bool
  /// Only what this type declares; `EdmMetadata.keys(of:)` asks the base types too.
  public var keys: [EdmKeyReference]
  /// Those this type declares, without inherited ones, in the order of the metadata.
  public var properties: [EdmProperty]
  /// Those this type declares, without inherited ones.
  public var navigationProperties: [EdmNavigationProperty]
  /// Feed mappings that stand on the type, by the property they are for.
  public var mappings: [String: [EdmFeedMapping]]
  /// Attributes of foreign namespaces, such as `sap:semantics`.
  public var attributes: EdmAttributes
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]
  /// Text of the `Documentation` element of V1 to V3; nil without one.
  public var documentation: String?

  /// Neither abstract nor open, without base type, keys or properties.
  public init(_ kind: Kind, namespace: String, name: String) {
    self.kind = kind
    self.namespace = namespace
    self.name = name
    isAbstract = false
    isOpen = false
    hasStream = false
    keys = []
    properties = []
    navigationProperties = []
    mappings = [:]
    attributes = EdmAttributes()
    annotations = []
  }

  /// With the namespace, such as `NorthwindModel.Product`.
  public var qualifiedName: String { "\(namespace).\(name)" }
  /// SAP's annotations of V2, read from `attributes`.
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }
}
