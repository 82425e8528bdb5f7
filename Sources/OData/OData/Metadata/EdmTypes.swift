/// What limits the values of a property, parameter or term.
public struct EdmFacets: Sendable, Hashable {
  /// Digits after the point.
  public enum Scale: Sendable, Hashable {
    /// `Scale` as a number of digits, such as 2 for cents.
    case fixed(Int)
    /// `Scale="variable"`: any number of digits up to the precision.
    case variable
    /// `Scale="floating"` of 4.01: the point may be anywhere.
    case floating
  }

  /// `Nullable`; where it is absent, true in XML and false in JSON.
  public var isNullable: Bool = true
  /// Nil where there is none, or `Max`.
  public var maxLength: Int?
  /// `Precision`: digits of a decimal, or of a second's fraction; nil for no limit.
  public var precision: Int?
  /// `Scale`; nil where the metadata does not name it.
  public var scale: Scale?
  /// `Unicode`; nil where the metadata does not name it.
  public var isUnicode: Bool?
  /// `FixedLength` of V1 to V3; nil where it is not given.
  public var isFixedLength: Bool?
  /// `SRID` of spatial types, as written: `4326` or `variable`.
  public var srid: String?
  /// `Collation` of V1 to V3, which orders strings; nil for the service's own order.
  public var collation: String?
  /// `DefaultValue`, or `Default` of a term, as text.
  public var defaultValue: String?

  /// Nullable and without limits.
  public init() {}
}

/// A property of an entity or complex type.
///
/// Reference: ios/1.O `SDMODataPropertyInfo` is made of it.
public struct EdmProperty: Sendable, Hashable {
  /// As it is written in payloads and addresses, such as `Price`.
  public var name: String
  /// `Type`, aliases resolved; `Edm.String` where the metadata omits it.
  public var type: EdmTypeReference
  /// Length, digits, default and whether null is allowed.
  public var facets: EdmFacets
  /// Part of the ETag.
  public var isConcurrencyToken: Bool
  /// Where Atom puts the value (FC_*), if not into `m:properties`.
  public var mappings: [EdmFeedMapping]
  /// Attributes of foreign namespaces, such as `sap:label`.
  public var attributes: EdmAttributes
  /// Vocabulary annotations inside the element; those with a target elsewhere are in the schema.
  public var annotations: [EdmAnnotation]
  /// Text of the `Documentation` element of V1 to V3; nil without one.
  public var documentation: String?

  /// Nullable, without feed mappings, and no part of the ETag.
  public init(_ name: String, _ type: EdmTypeReference, facets: EdmFacets = EdmFacets()) {
    self.name = name
    self.type = type
    self.facets = facets
    isConcurrencyToken = false
    mappings = []
    attributes = EdmAttributes()
    annotations = []
  }

  /// SAP's annotations of V2, read from `attributes`.
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }
}

/// A customised place in a feed, as V2 and V3 metadata declare it.
public struct EdmFeedMapping: Sendable, Hashable {
  /// `SyndicationTitle`, or a path of elements and an attribute such as `geo/@lat`.
  public var targetPath: String
  /// The part of a complex property; nil for the property itself.
  public var sourcePath: String?
  /// `FC_KeepInContent`: the value is in `m:properties` too. True where absent.
  public var keepsInContent: Bool
  /// `text`, `html` or `xhtml`.
  public var contentKind: String?
  /// `FC_NsPrefix`, such as `geo`; nil for elements of Atom itself.
  public var namespacePrefix: String?
  /// `FC_NsUri`: the address of the custom element's namespace.
  public var namespace: String?

  /// Kept in the content as well, and for the whole property, unless set otherwise.
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
  /// The segment that leads to the related entities, such as `Items`.
  public var name: String
  /// The type on the other side; nil where the association is missing.
  public var type: EdmTypeReference?
  /// `Nullable` of V4: false means that a related entity always exists.
  public var isNullable: Bool
  /// `Partner` of V4: the navigation property that leads back.
  public var partner: String?
  /// `ContainsTarget`: related entities exist only below this one.
  public var containsTarget: Bool
  /// The `Action` of `OnDelete`, such as `Cascade` or `None`; nil without the element.
  public var onDelete: String?
  /// Dependent and principal property.
  public var constraints: [EdmReferentialConstraint]
  /// Qualified association of V1 to V3.
  public var relationship: String?
  /// `FromRole`: the end of the association that declares this property.
  public var fromRole: String?
  /// `ToRole`: the end of the association that the property leads to.
  public var toRole: String?
  /// Attributes of foreign namespaces, such as `sap:creatable`.
  public var attributes: EdmAttributes
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]

  /// Nullable, without a partner, and not containing its target.
  public init(_ name: String, _ type: EdmTypeReference?) {
    self.name = name
    self.type = type
    isNullable = true
    containsTarget = false
    constraints = []
    attributes = EdmAttributes()
    annotations = []
  }

  /// SAP's annotations of V2, read from `attributes`.
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }
}

/// A dependent property and the principal property it equals.
public struct EdmReferentialConstraint: Sendable, Hashable {
  /// `Property`: the dependent one, such as `CategoryID` of a product.
  public var property: String
  /// `ReferencedProperty`: the principal one, such as `ID` of the category.
  public var referencedProperty: String

  /// Both are names without a type in front.
  public init(property: String, referencedProperty: String) {
    self.property = property
    self.referencedProperty = referencedProperty
  }
}

/// A property that is part of a key: a path, and the alias that addresses use for it.
public struct EdmKeyReference: Sendable, Hashable {
  /// `Name` of the `PropertyRef`, such as `ID` or the path `Info/ID`.
  public var name: String
  /// `Alias`; nil when addresses use the name.
  public var alias: String?

  /// Without an alias, addresses use the name.
  public init(name: String, alias: String? = nil) {
    self.name = name
    self.alias = alias
  }
}

/// A type whose values are named integers.
public struct EdmEnumType: Sendable, Hashable {
  /// One name and its integer.
  public struct Member: Sendable, Hashable {
    /// As literals write it, such as `Red`.
    public var name: String
    /// The integer; for flags usually a power of two.
    public var value: Int64
    /// Vocabulary annotations inside the `Member` element.
    public var annotations: [EdmAnnotation]

    /// Without annotations unless given.
    public init(name: String, value: Int64, annotations: [EdmAnnotation] = []) {
      self.name = name
      self.value = value
      self.annotations = annotations
    }
  }

  /// That of the schema that declares it.
  public var namespace: String
  /// Without its namespace, such as `Color`.
  public var name: String
  /// `UnderlyingType`, an integer type; `Edm.Int32` by default.
  public var underlyingType: EdmPrimitive
  /// `IsFlags`: values may combine several members.
  public var isFlags: Bool
  /// In the order of the metadata.
  public var members: [Member]
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]
  /// As literals write it in front, such as `NS.Color`.
  public var qualifiedName: String { "\(namespace).\(name)" }

  /// On `Edm.Int32` and with one member per value, unless set otherwise.
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
  /// That of the schema that declares it.
  public var namespace: String
  /// Without its namespace, such as `Weight`.
  public var name: String
  /// The primitive type that values have in payloads, such as `Edm.Decimal`.
  public var underlyingType: EdmTypeReference
  /// Limits that hold wherever the definition is used.
  public var facets: EdmFacets
  /// Vocabulary annotations inside the element, such as a unit.
  public var annotations: [EdmAnnotation]
  /// As properties name it in `Type`, such as `NS.Weight`.
  public var qualifiedName: String { "\(namespace).\(name)" }

  /// Nullable and without limits unless facets are given.
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

/// A term that annotations use.
public struct EdmTerm: Sendable, Hashable {
  /// Such as `Org.OData.Core.V1`.
  public var namespace: String
  /// Without its namespace, such as `Description`.
  public var name: String
  /// The type that values of an annotation have; aliases are resolved.
  public var type: EdmTypeReference
  /// `BaseTerm`: the term that must be applied too; nil without one.
  public var baseTerm: String?
  /// `AppliesTo`, such as `EntitySet` and `Property`; empty where anything may have it.
  public var appliesTo: [String]
  /// Limits of the annotation's value, with its default.
  public var facets: EdmFacets
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]
  /// As annotations name it in `Term`.
  public var qualifiedName: String { "\(namespace).\(name)" }

  /// Applies to anything unless set otherwise.
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
