/// A set of entities that can be addressed.
public struct EdmEntitySet: Sendable, Hashable {
  /// As it is written in addresses, such as `Products`.
  public var name: String
  /// Qualified.
  public var entityType: String
  /// `IncludeInServiceDocument`; true where the metadata omits it.
  public var isInServiceDocument: Bool
  /// Path of a navigation property and the set (or path) it leads to.
  public var bindings: [EdmNavigationBinding]
  /// Attributes of foreign namespaces, such as `sap:creatable`.
  public var attributes: EdmAttributes
  /// Vocabulary annotations inside the element, such as `InsertRestrictions`.
  public var annotations: [EdmAnnotation]
  /// SAP's annotations of V2, read from `attributes`.
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }

  /// Listed in the service document, without bindings, unless set otherwise.
  public init(
    name: String, entityType: String, isInServiceDocument: Bool = true,
    bindings: [EdmNavigationBinding] = [], attributes: EdmAttributes = EdmAttributes(),
    annotations: [EdmAnnotation] = []
  ) {
    self.name = name
    self.entityType = entityType
    self.isInServiceDocument = isInServiceDocument
    self.bindings = bindings
    self.attributes = attributes
    self.annotations = annotations
  }
}

/// Where a navigation property leads within a container.
public struct EdmNavigationBinding: Sendable, Hashable {
  /// The navigation property, such as `Category` or `NS.Special/Category`.
  public var path: String
  /// The set or singleton, such as `Categories`; with its container if that is another.
  public var target: String

  /// Neither is checked here; both are kept as the metadata writes them.
  public init(path: String, target: String) {
    self.path = path
    self.target = target
  }
}

/// One entity that is addressed by name.
public struct EdmSingleton: Sendable, Hashable {
  /// As it is written in addresses, such as `Me`.
  public var name: String
  /// The qualified entity type, aliases resolved.
  public var type: String
  /// `Nullable`: the service may have no such entity. False where absent.
  public var isNullable: Bool
  /// Sets that its navigation properties lead to.
  public var bindings: [EdmNavigationBinding]
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]

  /// Always present and without bindings, unless set otherwise.
  public init(
    name: String, type: String, isNullable: Bool = false, bindings: [EdmNavigationBinding] = [],
    annotations: [EdmAnnotation] = []
  ) {
    self.name = name
    self.type = type
    self.isNullable = isNullable
    self.bindings = bindings
    self.annotations = annotations
  }
}

/// Which sets an association of V1 to V3 joins.
public struct EdmAssociationSet: Sendable, Hashable {
  /// A role and the set that plays it.
  public struct End: Sendable, Hashable {
    /// An end of the association; `""` where the metadata omits it.
    public var role: String
    /// A set of the same container, such as `Products`.
    public var entitySet: String

    /// Both as the `End` element writes them.
    public init(role: String, entitySet: String) {
      self.role = role
      self.entitySet = entitySet
    }
  }
  /// Unique in its container; no address uses it.
  public var name: String
  /// Qualified.
  public var association: String
  /// Two in valid metadata, one for each role of the association.
  public var ends: [End]
  /// Attributes of foreign namespaces, such as `sap:creatable`.
  public var attributes: EdmAttributes

  /// Without ends unless given.
  public init(
    name: String, association: String, ends: [End] = [], attributes: EdmAttributes = EdmAttributes()
  ) {
    self.name = name
    self.association = association
    self.ends = ends
    self.attributes = attributes
  }
}

/// A function that V1 to V3 offer by name, or the import of a function of V4.
public struct EdmFunctionImport: Sendable, Hashable {
  /// As a call writes it, such as `GetNearest`.
  public var name: String
  /// V4: the qualified function.
  public var function: String?
  /// The set of the entities that it returns; nil for other results.
  public var entitySet: String?
  /// `IncludeInServiceDocument` of V4; false where the metadata omits it.
  public var isInServiceDocument: Bool
  /// Nil without a result, and in V4, where the function declares it.
  public var returnType: EdmReturnType?
  /// `GET`, `POST` …; nil where nothing is said (V3 then tells by `isSideEffecting`).
  public var method: String?
  /// `IsSideEffecting`, true before V4 where the metadata omits it.
  public var isSideEffecting: Bool
  /// `IsBindable` of V3: the first parameter may be an entity in the address.
  public var isBindable: Bool
  /// In the order of the metadata; empty in V4, where the function declares them.
  public var parameters: [EdmParameter]
  /// Attributes of foreign namespaces, such as `sap:action-for`.
  public var attributes: EdmAttributes
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]
  /// SAP's annotations of V2, read from `attributes`.
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }

  /// Without side effects and listed in the service document, unless set otherwise.
  public init(
    name: String, function: String? = nil, entitySet: String? = nil,
    isInServiceDocument: Bool = true, returnType: EdmReturnType? = nil, method: String? = nil,
    isSideEffecting: Bool = false, isBindable: Bool = false, parameters: [EdmParameter] = [],
    attributes: EdmAttributes = EdmAttributes(), annotations: [EdmAnnotation] = []
  ) {
    self.name = name
    self.function = function
    self.entitySet = entitySet
    self.isInServiceDocument = isInServiceDocument
    self.returnType = returnType
    self.method = method
    self.isSideEffecting = isSideEffecting
    self.isBindable = isBindable
    self.parameters = parameters
    self.attributes = attributes
    self.annotations = annotations
  }
}

/// An action that can be called by name, from V4 on.
public struct EdmActionImport: Sendable, Hashable {
  /// As it is written in the address that is posted to.
  public var name: String
  /// Qualified.
  public var action: String
  /// The set of the entities that it returns; nil for other results.
  public var entitySet: String?
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]

  /// Without a set unless given.
  public init(
    name: String, action: String, entitySet: String? = nil, annotations: [EdmAnnotation] = []
  ) {
    self.name = name
    self.action = action
    self.entitySet = entitySet
    self.annotations = annotations
  }
}

/// What a service offers.
public struct EdmContainer: Sendable, Hashable {
  /// That of the schema that declares it.
  public var namespace: String
  /// Without its namespace, such as `NorthwindEntities`.
  public var name: String
  /// The qualified container that this one adds to.
  public var extends: String?
  /// `m:IsDefaultEntityContainer` of V1 to V3: its sets need no prefix in addresses.
  public var isDefault: Bool
  /// In the order of the metadata, without those of `extends`.
  public var entitySets: [EdmEntitySet] = []
  /// Empty before V4.
  public var singletons: [EdmSingleton] = []
  /// Empty in V4, which binds navigation properties instead.
  public var associationSets: [EdmAssociationSet] = []
  /// Functions that are called by name; those of V4 refer to a declaration.
  public var functionImports: [EdmFunctionImport] = []
  /// Empty before V4.
  public var actionImports: [EdmActionImport] = []
  /// Attributes of foreign namespaces, such as `sap:supported-formats`.
  public var attributes: EdmAttributes = EdmAttributes()
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation] = []
  /// As targets of annotations name it, such as `NS.Container`.
  public var qualifiedName: String { "\(namespace).\(name)" }

  /// Empty, not the default one, and extending no other, unless set otherwise.
  public init(
    namespace: String, name: String, extends: String? = nil, isDefault: Bool = false,
    entitySets: [EdmEntitySet] = [], singletons: [EdmSingleton] = [],
    associationSets: [EdmAssociationSet] = [], functionImports: [EdmFunctionImport] = [],
    actionImports: [EdmActionImport] = [], attributes: EdmAttributes = EdmAttributes(),
    annotations: [EdmAnnotation] = []
  ) {
    self.namespace = namespace
    self.name = name
    self.extends = extends
    self.isDefault = isDefault
    self.entitySets = entitySets
    self.singletons = singletons
    self.associationSets = associationSets
    self.functionImports = functionImports
    self.actionImports = actionImports
    self.attributes = attributes
    self.annotations = annotations
  }
}

/// The parts of one namespace.
public struct EdmSchema: Sendable, Hashable {
  /// The first part of every qualified name in it, such as `NorthwindModel`.
  public var namespace: String
  /// A short form that names may have instead of the namespace; nil without one.
  public var alias: String?
  /// In the order of the metadata.
  public var entityTypes: [EdmStructuredType] = []
  /// In the order of the metadata.
  public var complexTypes: [EdmStructuredType] = []
  /// From V3 on.
  public var enumTypes: [EdmEnumType] = []
  /// Empty before V4.
  public var typeDefinitions: [EdmTypeDefinition] = []
  /// Empty in V4, whose navigation properties name their type.
  public var associations: [EdmAssociation] = []
  /// One element for each overload.
  public var functions: [EdmOperation] = []
  /// One element for each overload; empty before V4.
  public var actions: [EdmOperation] = []
  /// `Term` of V4 and `ValueTerm` of V3.
  public var terms: [EdmTerm] = []
  /// Usually one in the whole document.
  public var containers: [EdmContainer] = []
  /// Each `Annotations` element with its `Target`.
  public var targetedAnnotations: [EdmTargetedAnnotations] = []
  /// Those about the schema itself.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of foreign namespaces, such as `sap:schema-version`.
  public var attributes: EdmAttributes = EdmAttributes()
  /// SAP's annotations of V2, read from `attributes`.
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }

  /// Empty until its lists are filled.
  public init(namespace: String, alias: String? = nil) {
    self.namespace = namespace
    self.alias = alias
  }
}

/// Another document that this one leans on.
public struct EdmReference: Sendable, Hashable {
  /// A namespace that is taken from the other document.
  public struct Include: Sendable, Hashable {
    /// As the other document declares it, such as `Org.OData.Core.V1`.
    public var namespace: String
    /// A short form for use in this document; nil without one.
    public var alias: String?

    /// Without an alias, names carry the whole namespace.
    public init(namespace: String, alias: String? = nil) {
      self.namespace = namespace
      self.alias = alias
    }
  }
  /// Where the other document is, `Uri` or `Url`; it is not fetched. `""` where absent.
  public var uri: String
  /// The `Include` elements; empty where only annotations are taken.
  public var includes: [Include]
  /// Namespaces of terms whose annotations are meant to be taken from there.
  public var includedAnnotations: [String]

  /// Takes nothing from the document unless given.
  public init(uri: String, includes: [Include] = [], includedAnnotations: [String] = []) {
    self.uri = uri
    self.includes = includes
    self.includedAnnotations = includedAnnotations
  }
}
