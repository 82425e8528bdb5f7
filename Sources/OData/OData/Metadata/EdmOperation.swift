/// A parameter of a function, action or function import.
public struct EdmParameter: Sendable, Hashable {
  /// Which way a parameter goes.
  public enum Mode: String, Sendable, Hashable {
    /// The caller passes a value; the default.
    case `in` = "In"
    /// The service returns a value.
    case out = "Out"
    /// The caller passes a value, and the service returns another.
    case inOut = "InOut"
  }

  /// As the call writes it, such as `city` in `?city='Rome'`.
  public var name: String
  /// `Type`, aliases resolved.
  public var type: EdmTypeReference
  /// `Mode` of V1 to V3; `in` where absent.
  public var mode: Mode
  /// Limits of a passed value, and whether null may be passed.
  public var facets: EdmFacets
  /// Attributes of foreign namespaces, such as `sap:label`.
  public var attributes: EdmAttributes
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]

  /// An input that may be null, unless set otherwise.
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
  /// One value or a collection; aliases are resolved.
  public var type: EdmTypeReference
  /// Nullable without limits where the type is only an attribute.
  public var facets: EdmFacets
  /// Vocabulary annotations inside the `ReturnType` element.
  public var annotations: [EdmAnnotation] = []

  /// Nullable and without annotations unless given.
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
  /// True for a `Function`, which changes nothing; false for an `Action`.
  public var isFunction: Bool
  /// That of the schema that declares it.
  public var namespace: String
  /// Without its namespace, such as `Approve`.
  public var name: String
  /// `IsBound`: the first parameter is the entity or collection it is called on.
  public var isBound: Bool
  /// `IsComposable`: further path segments or options may follow the call.
  public var isComposable: Bool
  /// `EntitySetPath`: from the binding parameter to the set of the results.
  public var entitySetPath: String?
  /// In order; the first is the binding parameter of a bound operation.
  public var parameters: [EdmParameter]
  /// Nil for an action without a result.
  public var returnType: EdmReturnType?
  /// Vocabulary annotations inside the element.
  public var annotations: [EdmAnnotation]
  /// As a bound call writes it, such as `NS.Approve`.
  public var qualifiedName: String { "\(namespace).\(name)" }

  /// An unbound action without a result, unless set otherwise.
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
