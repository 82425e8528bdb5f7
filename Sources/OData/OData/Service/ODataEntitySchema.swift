/// The schema of the entries of one collection, as an app works with it.
///
/// Reference: ios/1.O `SDMODataEntitySchema`.
public struct ODataEntitySchema: Sendable {
  /// `sap:content-version` of the entity set; 1 where absent.
  public let contentVersion: Int
  /// From SAP's annotations and the vocabularies of V4.
  public let flags: ODataEntitySchemaFlags
  /// Holds all properties; for results of simple functions it is the value itself, `element`.
  public let root: ODataPropertyInfo
  /// The collection that each navigation property leads to.
  public let navigationMap: [String: String]
  /// The qualified type of the entries.
  public let type: String
  /// What the schema was made from.
  public let metadata: EdmMetadata?

  /// Nil when the metadata does not know the type of the set.
  public init?(of set: EdmEntitySet, in metadata: EdmMetadata, collection: ODataCollection? = nil) {
    guard let type = metadata.entityType(set.entityType) else { return nil }
    let view = metadata.view(of: set)
    var flags: ODataEntitySchemaFlags = [.queryable]
    let isCreatable =
      collection?.attributes.sap("creatable") != nil
      ? collection?.isCreatable : view.isCreatable
    if isCreatable == true { flags.insert(.creatable) }
    if view.isUpdatable && collection?.isUpdatable != false { flags.insert(.updatable) }
    if view.isDeletable && collection?.isDeletable != false { flags.insert(.deletable) }
    if view.isSearchable { flags.insert(.searchable) }
    if view.requiresFilter { flags.insert(.requiresFilter) }
    if metadata.hasStream(type) { flags.insert(.hasMedia) }
    var map: [String: String] = [:]
    for property in metadata.navigationProperties(of: type) {
      map[property.name] = metadata.target(of: property.name, from: set)?.name
    }
    self.init(
      root: .tree(of: type, named: type.name, in: metadata), flags: flags,
      contentVersion: set.sap.contentVersion, navigationMap: map, type: type.qualifiedName,
      metadata: metadata)
  }

  init(
    root: ODataPropertyInfo, flags: ODataEntitySchemaFlags = [], contentVersion: Int = 1,
    navigationMap: [String: String] = [:], type: String, metadata: EdmMetadata?
  ) {
    self.root = root
    self.flags = flags
    self.contentVersion = contentVersion
    self.navigationMap = navigationMap
    self.type = type
    self.metadata = metadata
  }

  /// Paths of what a list shows, by display order.
  public var visibleInListPathsInOrder: [String] {
    ordered(where: \.isVisibleInList, by: \.listDisplayOrder)
  }

  /// Paths of what a detail page shows, by display order.
  public var visibleInDetailPathsInOrder: [String] {
    ordered(where: \.isVisibleInDetail, by: \.detailDisplayOrder)
  }

  private func ordered(
    where isVisible: (ODataPropertyInfo) -> Bool, by order: (ODataPropertyInfo) -> Int?
  ) -> [String] {
    var found: [(path: String, order: Int, index: Int)] = []
    func walk(_ info: ODataPropertyInfo, _ path: String) {
      for child in info.children {
        let own = path.isEmpty ? child.name : path + "\\" + child.name
        guard isVisible(child) else { continue }
        if child.children.isEmpty {
          found.append((own, order(child) ?? Int.max, found.count))
        } else {
          walk(child, own)
        }
      }
    }
    walk(root, "")
    return found.sorted { ($0.order, $0.index) < ($1.order, $1.index) }.map(\.path)
  }

  /// The value objects of an entry's properties, in the order of the schema.
  public func values(of entry: ODataEntry) -> [ODataPropertyValueObject] {
    root.children.map { ODataPropertyValueObject($0, value: entry[$0.name] ?? .null) }
  }

  /// What is wrong with the values of an entry; empty for a valid one. An absent property is
  /// judged only where it is part of the key or may not be null.
  public func problems(of entry: ODataEntry) -> [ODataDiagnostic] {
    problems(of: entry.properties, root, "")
  }

  private func problems(
    of properties: ODataProperties, _ info: ODataPropertyInfo, _ path: String
  ) -> [ODataDiagnostic] {
    var found: [ODataDiagnostic] = []
    for child in info.children {
      let own = path + "/" + child.name
      guard let value = properties[child.name] else {
        if child.isKey {
          found.append(
            ODataDiagnostic(
              "the key property \(child.name) is missing", at: ODataPlace(path: own),
              consequence: "the entry cannot be addressed"))
        }
        continue
      }
      if let problem = ODataPropertyValueObject(child, value: value).problem {
        found.append(
          ODataDiagnostic(problem, at: ODataPlace(path: own), consequence: "a service refuses it"))
      } else if let complex = value.complex {
        found += problems(of: complex.properties, child, own)
      }
    }
    return found
  }
}

/// The value of one property with its own validation.
///
/// Reference: ios/1.O `SDMODataPropertyValueObject`.
public struct ODataPropertyValueObject: Sendable, Hashable {
  /// What the value is checked against.
  public let info: ODataPropertyInfo
  /// Any value may be set; `problem` names what is wrong with it.
  public var value: EdmValue
  /// When true, every value is taken as valid.
  public var isValidationDisabled: Bool = false

  /// Null until a value is set.
  public init(_ info: ODataPropertyInfo, value: EdmValue = .null) {
    self.info = info
    self.value = value
  }

  /// That of the metadata, whatever the value is.
  public var type: EdmTypeReference { info.type }
  /// The text of the value.
  public var text: String { value.text }
  /// As text from the metadata; the object never sets it by itself.
  public var defaultValue: String? { info.defaultValue }
  /// True without a problem, or when validation is off.
  public var isValid: Bool { isValidationDisabled || problem == nil }

  /// The text with `&`, `<`, `>` and quotes written so that a page shows them.
  public var htmlEncodedText: String {
    var encoded = ""
    for character in text {
      switch character {
      case "&": encoded += "&amp;"
      case "<": encoded += "&lt;"
      case ">": encoded += "&gt;"
      case "\"": encoded += "&quot;"
      case "'": encoded += "&#39;"
      default: encoded.append(character)
      }
    }
    return encoded
  }

  /// Sets the value from its text; one that is none of the type is kept and not valid.
  public mutating func setText(_ text: String) {
    let primitive = info.type.primitive ?? .string
    value = EdmValue(text: text, type: primitive) ?? .invalid(text, primitive)
  }

  /// Why the value is not valid, as a sentence; nil for a valid one.
  public var problem: String? {
    let name = info.name
    switch value {
    case .null: return info.isNullable ? nil : "\(name) may not be null"
    case .invalid(let text, let type): return "\"\(text.prefix(40))\" is not an \(type.rawValue)"
    case .string(let text):
      if let limit = info.maxLength, text.unicodeScalars.count > limit {
        return "\(name) is longer than \(limit) characters"
      }
    case .binary(let bytes):
      if let limit = info.maxLength, bytes.count > limit {
        return "\(name) is longer than \(limit) bytes"
      }
    case .decimal(let number): return problem(of: number)
    default: break
    }
    if info.type.isCollection {
      return value.collection == nil ? "\(name) is not a collection" : nil
    }
    if let expected = info.type.primitive, let found = value.primitive, expected != found,
      !(expected.isSpatial && found.isSpatial && expected.isGeometry == found.isGeometry)
    {
      return "\(name) is \(found.rawValue), not \(expected.rawValue)"
    }
    return nil
  }

  private func problem(of number: EdmDecimal) -> String? {
    guard let text = number.plainText() else { return nil }
    let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
    var whole = parts.first.map { $0.drop { $0 == "0" } } ?? ""
    if whole.isEmpty { whole = "" }
    var fraction = parts.count > 1 ? parts[1] : ""
    while fraction.last == "0" { fraction.removeLast() }
    if case .fixed(let scale)? = info.scale, fraction.count > scale {
      return "\(info.name) has more than \(scale) digits after the point"
    }
    if let precision = info.precision, precision > 0, whole.count + fraction.count > precision {
      return "\(info.name) has more than \(precision) digits"
    }
    return nil
  }
}
