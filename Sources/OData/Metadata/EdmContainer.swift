/// A set of entities that can be addressed.
public struct EdmEntitySet: Sendable, Hashable {
  public var name: String
  /// Qualified.
  public var entityType: String
  public var isInServiceDocument: Bool
  /// Path of a navigation property and the set (or path) it leads to.
  public var bindings: [EdmNavigationBinding]
  public var attributes: EdmAttributes
  public var annotations: [EdmAnnotation]
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }

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
  public var path: String
  public var target: String

  public init(path: String, target: String) {
    self.path = path
    self.target = target
  }
}

/// One entity that is addressed by name.
public struct EdmSingleton: Sendable, Hashable {
  public var name: String
  public var type: String
  public var isNullable: Bool
  public var bindings: [EdmNavigationBinding]
  public var annotations: [EdmAnnotation]

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
    public var role: String
    public var entitySet: String

    public init(role: String, entitySet: String) {
      self.role = role
      self.entitySet = entitySet
    }
  }
  public var name: String
  /// Qualified.
  public var association: String
  public var ends: [End]
  public var attributes: EdmAttributes

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
  public var name: String
  /// V4: the qualified function.
  public var function: String?
  public var entitySet: String?
  public var isInServiceDocument: Bool
  public var returnType: EdmReturnType?
  /// `GET`, `POST` …; nil where nothing is said (V3 then tells by `isSideEffecting`).
  public var method: String?
  public var isSideEffecting: Bool
  public var isBindable: Bool
  public var parameters: [EdmParameter]
  public var attributes: EdmAttributes
  public var annotations: [EdmAnnotation]
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }

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
  public var name: String
  /// Qualified.
  public var action: String
  public var entitySet: String?
  public var annotations: [EdmAnnotation]

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
  public var namespace: String
  public var name: String
  /// The qualified container that this one adds to.
  public var extends: String?
  public var isDefault: Bool
  public var entitySets: [EdmEntitySet] = []
  public var singletons: [EdmSingleton] = []
  public var associationSets: [EdmAssociationSet] = []
  public var functionImports: [EdmFunctionImport] = []
  public var actionImports: [EdmActionImport] = []
  public var attributes: EdmAttributes = EdmAttributes()
  public var annotations: [EdmAnnotation] = []
  public var qualifiedName: String { "\(namespace).\(name)" }

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
  public var namespace: String
  public var alias: String?
  public var entityTypes: [EdmStructuredType] = []
  public var complexTypes: [EdmStructuredType] = []
  public var enumTypes: [EdmEnumType] = []
  public var typeDefinitions: [EdmTypeDefinition] = []
  public var associations: [EdmAssociation] = []
  public var functions: [EdmOperation] = []
  public var actions: [EdmOperation] = []
  public var terms: [EdmTerm] = []
  public var containers: [EdmContainer] = []
  public var targetedAnnotations: [EdmTargetedAnnotations] = []
  public var annotations: [EdmAnnotation] = []
  public var attributes: EdmAttributes = EdmAttributes()
  public var sap: SAPAnnotations { SAPAnnotations(attributes) }

  public init(namespace: String, alias: String? = nil) {
    self.namespace = namespace
    self.alias = alias
  }
}

/// Another document that this one leans on.
public struct EdmReference: Sendable, Hashable {
  /// A namespace that is taken from the other document.
  public struct Include: Sendable, Hashable {
    public var namespace: String
    public var alias: String?

    public init(namespace: String, alias: String? = nil) {
      self.namespace = namespace
      self.alias = alias
    }
  }
  public var uri: String
  public var includes: [Include]
  /// Namespaces of terms whose annotations are meant to be taken from there.
  public var includedAnnotations: [String]

  public init(uri: String, includes: [Include] = [], includedAnnotations: [String] = []) {
    self.uri = uri
    self.includes = includes
    self.includedAnnotations = includedAnnotations
  }
}
