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
}

public struct EdmNavigationBinding: Sendable, Hashable {
  public var path: String
  public var target: String
}

/// One entity that is addressed by name.
public struct EdmSingleton: Sendable, Hashable {
  public var name: String
  public var type: String
  public var isNullable: Bool
  public var bindings: [EdmNavigationBinding]
  public var annotations: [EdmAnnotation]
}

/// Which sets an association of V1 to V3 joins.
public struct EdmAssociationSet: Sendable, Hashable {
  public struct End: Sendable, Hashable {
    public var role: String
    public var entitySet: String
  }
  public var name: String
  /// Qualified.
  public var association: String
  public var ends: [End]
  public var attributes: EdmAttributes
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
}

public struct EdmActionImport: Sendable, Hashable {
  public var name: String
  /// Qualified.
  public var action: String
  public var entitySet: String?
  public var annotations: [EdmAnnotation]
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
  public struct Include: Sendable, Hashable {
    public var namespace: String
    public var alias: String?
  }
  public var uri: String
  public var includes: [Include]
  /// Namespaces of terms whose annotations are meant to be taken from there.
  public var includedAnnotations: [String]
}
