/// One named value of an entry or a complex value.
public struct ODataProperty: Sendable, Hashable {
  /// As the metadata declares it, such as `Price`.
  public var name: String
  /// `.null` where the document has an explicit null.
  public var value: EdmValue
  /// The type that the payload or the schema gives; nil where neither names one.
  public var type: EdmTypeReference?
  /// Annotations of V4 JSON that stand beside the property, by term; values as text.
  public var annotations: [String: EdmValue]

  /// Without a type, the value alone decides how it is written.
  public init(
    _ name: String, _ value: EdmValue, type: EdmTypeReference? = nil,
    annotations: [String: EdmValue] = [:]
  ) {
    self.name = name
    self.value = value
    self.type = type
    self.annotations = annotations
  }

  /// The type is how a value is known, not what it is.
  public static func == (left: ODataProperty, right: ODataProperty) -> Bool {
    left.name == right.name && left.value == right.value
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(value)
  }
}

/// The properties of an entry or a complex value, in the order of the document.
///
/// Equal are those with the same values under the same names, in whatever order.
public struct ODataProperties: Sendable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
  private var items: [ODataProperty]

  /// Keeps the order; names are not checked for duplicates.
  public init(_ items: [ODataProperty] = []) { self.items = items }

  public init(dictionaryLiteral elements: (String, EdmValue)...) {
    items = elements.map { ODataProperty($0.0, $0.1) }
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { items.count }
  /// The property at a position.
  public subscript(position: Int) -> ODataProperty { items[position] }

  /// The value of a name; nil where the document did not hold it, `.null` where it was null.
  /// Setting nil removes the property.
  public subscript(name: String) -> EdmValue? {
    get { items.first { $0.name == name }?.value }
    set {
      let index = items.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): items[index].value = value
      case (let index?, nil): items.remove(at: index)
      case (nil, let value?): items.append(ODataProperty(name, value))
      case (nil, nil): break
      }
    }
  }

  /// The property with its type and annotations.
  public func property(_ name: String) -> ODataProperty? { items.first { $0.name == name } }
  /// Adds at the end, without a look for one with the same name.
  public mutating func append(_ property: ODataProperty) { items.append(property) }
  /// In the order of the document.
  public var names: [String] { items.map(\.name) }

  /// The value at a path of names.
  ///
  /// Names are separated by `\`, as the reference writes them, or by `/` (ios/1.O,
  /// `getPropertyValueByPath`).
  public subscript(path path: String) -> EdmValue? {
    var current: ODataProperties = self
    let names = path.split { $0 == "\\" || $0 == "/" }
    for (index, name) in names.enumerated() {
      guard let value = current[String(name)] else { return nil }
      if index == names.count - 1 { return value }
      guard let complex = value.complex else { return nil }
      current = complex.properties
    }
    return nil
  }

  /// Sets the value at a path of names, making complex values on the way (adr/PAX-6,
  /// `putComplexPropertyValue`).
  public mutating func set(_ value: EdmValue, at path: [String]) {
    guard let name = path.first else { return }
    if path.count == 1 {
      self[name] = value
      return
    }
    var inner = self[name]?.complex ?? EdmComplex(ODataProperties())
    inner.properties.set(value, at: Array(path.dropFirst()))
    self[name] = .complex(inner)
  }
}

extension ODataProperties: Hashable {
  public static func == (left: ODataProperties, right: ODataProperties) -> Bool {
    if left.items == right.items { return true }
    guard left.count == right.count else { return false }
    return left.items.sorted { $0.name < $1.name } == right.items.sorted { $0.name < $1.name }
  }

  public func hash(into hasher: inout Hasher) {
    for name in names.sorted() { hasher.combine(name) }
  }
}
