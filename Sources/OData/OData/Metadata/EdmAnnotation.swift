/// A statement of a vocabulary about a part of the schema.
public struct EdmAnnotation: Sendable, Hashable {
  /// The qualified term, aliases resolved.
  public var term: String
  /// Tells several annotations with one term apart, such as `Phone`; nil without one.
  public var qualifier: String?
  /// True where the document gives no value.
  public var value: EdmExpression
  /// Annotations of the annotation.
  public var annotations: [EdmAnnotation]

  /// A tag, whose value is true, unless a value is given.
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
  /// Applies to all annotations of the group; nil without one.
  public var qualifier: String?
  /// In the order of the document.
  public var annotations: [EdmAnnotation]

  /// Without a qualifier unless given.
  public init(target: String, qualifier: String? = nil, annotations: [EdmAnnotation] = []) {
    self.target = target
    self.qualifier = qualifier
    self.annotations = annotations
  }
}

/// The value of an annotation: constant, or an expression that a client may evaluate.
public indirect enum EdmExpression: Sendable, Hashable {
  /// `<Null/>`: the annotation has no value on purpose.
  case null
  /// `Bool`, such as `<Annotation Term="…" Bool="false"/>`.
  case boolean(Bool)
  /// `Int`, in 64 bits.
  case integer(Int64)
  /// `Float`, as a double.
  case float(Double)
  /// `String`, also where JSON leaves open whether it is a path.
  case string(String)
  /// A constant of another primitive type.
  case constant(EdmValue)
  /// Qualified members.
  case enumeration([String])
  /// `Path`: the value of a property, such as `Address/City`.
  case path(String)
  /// `PropertyPath`: the property itself, not its value.
  case propertyPath(String)
  /// `NavigationPropertyPath`: the relation itself, such as `Items`.
  case navigationPropertyPath(String)
  /// `AnnotationPath`: another annotation, such as `@UI.LineItem`.
  case annotationPath(String)
  /// `ModelElementPath` of 4.01: any part of the metadata.
  case modelElementPath(String)
  /// `<Collection>`; elements in the order of the document.
  case collection([EdmExpression])
  /// `<Record>`; the type is nil where the term implies it.
  case record(type: String?, [EdmPropertyValue], annotations: [EdmAnnotation])
  /// `<Apply>`: a client-side function such as `odata.concat`, with its operands.
  case apply(function: String, [EdmExpression])
  /// `If`, `And`, `Or`, `Not`, `Eq`, `Cast`, `IsOf`, `LabeledElement`, `UrlRef`, …, with the name
  /// or type that the element carries.
  case operation(String, name: String?, [EdmExpression])
  /// A form that is not known, kept as its text.
  case unknown(String)

  /// The value of a string constant; nil for any other kind, such as paths.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The value of a Boolean constant; nil for any other kind.
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
  /// Those of a collection; empty for any other kind.
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
  /// A property of the record's type, such as `Insertable`.
  public var name: String
  /// True where the document gives no value.
  public var value: EdmExpression
  /// Those nested inside the `PropertyValue` element.
  public var annotations: [EdmAnnotation]

  /// Without annotations unless given.
  public init(name: String, value: EdmExpression, annotations: [EdmAnnotation] = []) {
    self.name = name
    self.value = value
    self.annotations = annotations
  }
}
