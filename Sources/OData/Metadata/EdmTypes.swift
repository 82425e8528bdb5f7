/// What limits the values of a property, parameter or term.
public struct EdmFacets: Sendable, Hashable {
  /// Digits after the point.
  public enum Scale: Sendable, Hashable {
    case fixed(Int)
    case variable
    case floating
  }

  public var isNullable: Bool = true
  /// Nil where there is none, or `Max`.
  public var maxLength: Int?
  public var precision: Int?
  public var scale: Scale?
  public var isUnicode: Bool?
  public var isFixedLength: Bool?
  public var srid: String?
  public var collation: String?
  public var defaultValue: String?

  public init() {}
}

/// A property of an entity or complex type.
///
/// Reference: ios/1.O `SDMODataPropertyInfo` is made of it.
public struct EdmProperty: Sendable, Hashable {
  public var name: String
  public var type: EdmTypeReference
  public var facets: EdmFacets
  /// Part of the ETag.
  public var isConcurrencyToken: Bool
  /// Where Atom puts the value (FC_*), if not into `m:properties`.
  public var mappings: [EdmFeedMapping]
  public var attributes: EdmAttributes
  public var annotations: [EdmAnnotation]
  public var documentation: String?

  public init(_ name: String, _ type: EdmTypeReference, facets: EdmFacets = EdmFacets()) {
    self.name = name
    self.type = type
    self.facets = facets
    isConcurrencyToken = false
    mappings = []
    attributes = EdmAttributes()
    annotations = []
  }

  public var sap: SAPAnnotations { SAPAnnotations(attributes) }
}

/// A customised place in a feed, as V2 and V3 metadata declare it.
public struct EdmFeedMapping: Sendable, Hashable {
  /// `SyndicationTitle`, or a path of elements and an attribute such as `geo/@lat`.
  public var targetPath: String
  /// The part of a complex property; nil for the property itself.
  public var sourcePath: String?
  public var keepsInContent: Bool
  /// `text`, `html` or `xhtml`.
  public var contentKind: String?
  public var namespacePrefix: String?
  public var namespace: String?

  public init(
    targetPath: String, sourcePath: String? = nil, keepsInContent: Bool = true,
    contentKind: String? = nil, namespacePrefix: String? = nil, namespace: String? = nil
  ) {
    self.targetPath = targetPath
    self.sourcePath = sourcePath
    self.keepsInContent = keepsInContent
    self.contentKind = contentKind
    self.namespacePrefix = namespacePrefix
    self.namespace = namespace
  }
}

/// A way from one entity to others.
public struct EdmNavigationProperty: Sendable, Hashable {
  public var name: String
  /// The type on the other side; nil where the association is missing.
  public var type: EdmTypeReference?
  public var isNullable: Bool
  public var partner: String?
  public var containsTarget: Bool
  public var onDelete: String?
  /// Dependent and principal property.
  public var constraints: [EdmReferentialConstraint]
  /// Qualified association of V1 to V3.
  public var relationship: String?
  public var fromRole: String?
  public var toRole: String?
  public var attributes: EdmAttributes
  public var annotations: [EdmAnnotation]

  public init(_ name: String, _ type: EdmTypeReference?) {
    self.name = name
    self.type = type
    isNullable = true
    containsTarget = false
    constraints = []
    attributes = EdmAttributes()
    annotations = []
  }

  public var sap: SAPAnnotations { SAPAnnotations(attributes) }
}

/// A dependent property and the principal property it equals.
public struct EdmReferentialConstraint: Sendable, Hashable {
  public var property: String
  public var referencedProperty: String

  public init(property: String, referencedProperty: String) {
    self.property = property
    self.referencedProperty = referencedProperty
  }
}

/// A property that is part of a key: a path, and the alias that addresses use for it.
public struct EdmKeyReference: Sendable, Hashable {
  public var name: String
  public var alias: String?

  public init(name: String, alias: String? = nil) {
    self.name = name
    self.alias = alias
  }
}

/// An entity or complex type.
public struct EdmStructuredType: Sendable, Hashable {
  /// Entities have keys, complex values have not.
  public enum Kind: Sendable, Hashable { case entity, complex }

  public var kind: Kind
  public var namespace: String
  public var name: String
  /// Qualified.
  public var baseType: String?
  public var isAbstract: Bool
  public var isOpen: Bool
  public var hasStream: Bool
  /// Only what this type declares; `EdmMetadata.keys(of:)` asks the base types too.
  public var keys: [EdmKeyReference]
  public var properties: [EdmProperty]
  public var navigationProperties: [EdmNavigationProperty]
  /// Feed mappings that stand on the type, by the property they are for.
  public var mappings: [String: [EdmFeedMapping]]
  public var attributes: EdmAttributes
  public var annotations: [EdmAnnotation]
  public var documentation: String?

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

  public var qualifiedName: String { "\(namespace).\(name)" }
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }
}

/// A type whose values are named integers.
public struct EdmEnumType: Sendable, Hashable {
  /// One name and its integer.
  public struct Member: Sendable, Hashable {
    public var name: String
    public var value: Int64
    public var annotations: [EdmAnnotation]

    public init(name: String, value: Int64, annotations: [EdmAnnotation] = []) {
      self.name = name
      self.value = value
      self.annotations = annotations
    }
  }

  public var namespace: String
  public var name: String
  public var underlyingType: EdmPrimitive
  public var isFlags: Bool
  public var members: [Member]
  public var annotations: [EdmAnnotation]
  public var qualifiedName: String { "\(namespace).\(name)" }

  public init(
    namespace: String, name: String, underlyingType: EdmPrimitive = .int32, isFlags: Bool = false,
    members: [Member] = [], annotations: [EdmAnnotation] = []
  ) {
    self.namespace = namespace
    self.name = name
    self.underlyingType = underlyingType
    self.isFlags = isFlags
    self.members = members
    self.annotations = annotations
  }
}

/// Another name for a primitive type, with facets of its own.
public struct EdmTypeDefinition: Sendable, Hashable {
  public var namespace: String
  public var name: String
  public var underlyingType: EdmTypeReference
  public var facets: EdmFacets
  public var annotations: [EdmAnnotation]
  public var qualifiedName: String { "\(namespace).\(name)" }

  public init(
    namespace: String, name: String, underlyingType: EdmTypeReference,
    facets: EdmFacets = EdmFacets(), annotations: [EdmAnnotation] = []
  ) {
    self.namespace = namespace
    self.name = name
    self.underlyingType = underlyingType
    self.facets = facets
    self.annotations = annotations
  }
}

/// A relation between two types, as V1 to V3 declare it.
public struct EdmAssociation: Sendable, Hashable {
  /// One side of an association.
  public struct End: Sendable, Hashable {
    public var role: String
    /// Qualified.
    public var type: String
    /// `0..1`, `1` or `*`.
    public var multiplicity: String
    public var onDelete: String?

    public init(role: String, type: String, multiplicity: String, onDelete: String? = nil) {
      self.role = role
      self.type = type
      self.multiplicity = multiplicity
      self.onDelete = onDelete
    }
  }

  /// Properties of the dependent side that repeat the principal's.
  public struct Constraint: Sendable, Hashable {
    public var principalRole: String
    public var principalProperties: [String]
    public var dependentRole: String
    public var dependentProperties: [String]

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

  public var namespace: String
  public var name: String
  public var ends: [End]
  public var constraint: Constraint?
  public var attributes: EdmAttributes
  public var qualifiedName: String { "\(namespace).\(name)" }

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

/// A parameter of a function, action or function import.
public struct EdmParameter: Sendable, Hashable {
  /// Which way a parameter goes.
  public enum Mode: String, Sendable, Hashable { case `in` = "In", out = "Out", inOut = "InOut" }

  public var name: String
  public var type: EdmTypeReference
  public var mode: Mode
  public var facets: EdmFacets
  public var attributes: EdmAttributes
  public var annotations: [EdmAnnotation]

  public init(
    name: String, type: EdmTypeReference, mode: Mode = .in, facets: EdmFacets = EdmFacets(),
    attributes: EdmAttributes = EdmAttributes(), annotations: [EdmAnnotation] = []
  ) {
    self.name = name
    self.type = type
    self.mode = mode
    self.facets = facets
    self.attributes = attributes
    self.annotations = annotations
  }
}

/// What a function or action gives back.
public struct EdmReturnType: Sendable, Hashable {
  public var type: EdmTypeReference
  public var facets: EdmFacets
  public var annotations: [EdmAnnotation] = []

  public init(
    type: EdmTypeReference, facets: EdmFacets = EdmFacets(), annotations: [EdmAnnotation] = []
  ) {
    self.type = type
    self.facets = facets
    self.annotations = annotations
  }
}

/// A function or action of V4; one per overload.
public struct EdmOperation: Sendable, Hashable {
  public var isFunction: Bool
  public var namespace: String
  public var name: String
  public var isBound: Bool
  public var isComposable: Bool
  public var entitySetPath: String?
  public var parameters: [EdmParameter]
  public var returnType: EdmReturnType?
  public var annotations: [EdmAnnotation]
  public var qualifiedName: String { "\(namespace).\(name)" }

  public init(
    isFunction: Bool = false, namespace: String, name: String, isBound: Bool = false,
    isComposable: Bool = false, entitySetPath: String? = nil, parameters: [EdmParameter] = [],
    returnType: EdmReturnType? = nil, annotations: [EdmAnnotation] = []
  ) {
    self.isFunction = isFunction
    self.namespace = namespace
    self.name = name
    self.isBound = isBound
    self.isComposable = isComposable
    self.entitySetPath = entitySetPath
    self.parameters = parameters
    self.returnType = returnType
    self.annotations = annotations
  }
}

/// A term that annotations use.
public struct EdmTerm: Sendable, Hashable {
  public var namespace: String
  public var name: String
  public var type: EdmTypeReference
  public var baseTerm: String?
  public var appliesTo: [String]
  public var facets: EdmFacets
  public var annotations: [EdmAnnotation]
  public var qualifiedName: String { "\(namespace).\(name)" }

  public init(
    namespace: String, name: String, type: EdmTypeReference, baseTerm: String? = nil,
    appliesTo: [String] = [], facets: EdmFacets = EdmFacets(), annotations: [EdmAnnotation] = []
  ) {
    self.namespace = namespace
    self.name = name
    self.type = type
    self.baseTerm = baseTerm
    self.appliesTo = appliesTo
    self.facets = facets
    self.annotations = annotations
  }
}
