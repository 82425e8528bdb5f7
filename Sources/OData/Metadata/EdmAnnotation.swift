/// A statement of a vocabulary about a part of the schema.
public struct EdmAnnotation: Sendable, Hashable {
  /// The qualified term, aliases resolved.
  public var term: String
  public var qualifier: String?
  public var value: EdmExpression
  /// Annotations of the annotation.
  public var annotations: [EdmAnnotation]

  public init(
    term: String, qualifier: String? = nil, value: EdmExpression = .boolean(true),
    annotations: [EdmAnnotation] = []
  ) {
    self.term = term
    self.qualifier = qualifier
    self.value = value
    self.annotations = annotations
  }
}

/// Annotations that stand apart from what they speak of.
public struct EdmTargetedAnnotations: Sendable, Hashable {
  /// The path of the target, such as `NS.Type/Property` (aliases resolved).
  public var target: String
  public var qualifier: String?
  public var annotations: [EdmAnnotation]

  public init(target: String, qualifier: String? = nil, annotations: [EdmAnnotation] = []) {
    self.target = target
    self.qualifier = qualifier
    self.annotations = annotations
  }
}

/// The value of an annotation: constant, or an expression that a client may evaluate.
public indirect enum EdmExpression: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case float(Double)
  case string(String)
  /// A constant of another primitive type.
  case constant(EdmValue)
  /// Qualified members.
  case enumeration([String])
  case path(String)
  case propertyPath(String)
  case navigationPropertyPath(String)
  case annotationPath(String)
  case modelElementPath(String)
  case collection([EdmExpression])
  case record(type: String?, [EdmPropertyValue], annotations: [EdmAnnotation])
  case apply(function: String, [EdmExpression])
  /// `If`, `And`, `Or`, `Not`, `Eq`, `Cast`, `IsOf`, `LabeledElement`, `UrlRef`, …, with the name
  /// or type that the element carries.
  case operation(String, name: String?, [EdmExpression])
  /// A form that is not known, kept as its text.
  case unknown(String)

  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  /// Any of the paths, or a plain string in its place, as JSON leaves open.
  public var anyPath: String? {
    switch self {
    case .path(let path), .propertyPath(let path), .navigationPropertyPath(let path),
      .annotationPath(let path), .modelElementPath(let path), .string(let path):
      path
    default: nil
    }
  }
  public var elements: [EdmExpression] {
    if case .collection(let elements) = self { elements } else { [] }
  }
  /// The value of a record's property.
  public subscript(property: String) -> EdmExpression? {
    guard case .record(_, let properties, _) = self else { return nil }
    return properties.first { $0.name == property }?.value
  }
}

/// One property of a record expression.
public struct EdmPropertyValue: Sendable, Hashable {
  public var name: String
  public var value: EdmExpression
  public var annotations: [EdmAnnotation]

  public init(name: String, value: EdmExpression, annotations: [EdmAnnotation] = []) {
    self.name = name
    self.value = value
    self.annotations = annotations
  }
}
