import FerryHTTP

/// A function that a service offers by name, ready to be called and its result to be read.
///
/// Reference: ios/1.O `SDMODataFunctionImport`.
public struct ODataFunctionImport: Sendable {
  /// Shape of the result; the values are the reference's, none of the last two is complex.
  public struct Flags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// 1: any number of results, not one.
    public static let returnsCollection = Flags(rawValue: 1)
    /// 2: the result has no properties.
    public static let simpleType = Flags(rawValue: 2)
    /// 4: the result is an entity or a feed.
    public static let entitySet = Flags(rawValue: 4)
  }

  /// As the address of a call writes it, such as `GetNearest`.
  public let name: String
  /// From the metadata; else `POST` for a V1 to V3 call with side effects, and `GET`.
  public let httpMethod: String
  /// By name; of two with one name the first.
  public let parameters: [String: EdmParameter]
  /// In the order of the metadata.
  public let parameterNames: [String]
  /// Empty where nothing is returned.
  public let flags: Flags
  /// The qualified entity type that it acts on.
  public let actionFor: String?
  /// Nil where nothing is returned.
  public let returnType: EdmTypeReference?
  /// The schema of the entries that results become; nil where nothing is returned. A simple result
  /// has one property, `element`.
  public let returnTypeSchema: ODataEntitySchema?
  /// Decides how the address writes the values.
  public let version: ODataVersion

  /// For an import of V4, the unbound function supplies parameters and result.
  public init(_ declaration: EdmFunctionImport, in metadata: EdmMetadata) {
    name = declaration.name
    version = metadata.version
    var declared = declaration.parameters
    var result = declaration.returnType
    if let function = declaration.function,
      let operation = metadata.operations(function).first(where: { !$0.isBound })
    {
      declared = operation.parameters
      result = result ?? operation.returnType
    }
    parameterNames = declared.map(\.name)
    parameters = Dictionary(declared.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    httpMethod =
      declaration.method ?? (version == .v4 || !declaration.isSideEffecting ? "GET" : "POST")
    actionFor = declaration.sap.actionFor.map { metadata.resolve($0) }
    returnType = result?.type
    var flags: Flags = []
    var schema: ODataEntitySchema?
    if let type = result?.type {
      if type.isCollection { flags.insert(.returnsCollection) }
      if let structured = metadata.structuredType(type.name) {
        if structured.kind == .entity { flags.insert(.entitySet) }
        if structured.kind == .entity, let name = declaration.entitySet,
          let set = metadata.entitySet(name)
        {
          schema = ODataEntitySchema(of: set, in: metadata)
        } else {
          schema = ODataEntitySchema(
            root: .tree(of: structured, named: structured.name, in: metadata),
            type: structured.qualifiedName, metadata: metadata)
        }
      } else {
        flags.insert(.simpleType)
        // The generated schema: its root is the value itself, and holds it under its own name.
        var root = ODataPropertyInfo("element", type: EdmTypeReference(type.name))
        root.children = [ODataPropertyInfo("element", type: EdmTypeReference(type.name))]
        schema = ODataEntitySchema(root: root, type: type.name, metadata: metadata)
      }
    }
    self.flags = flags
    returnTypeSchema = schema
  }

  /// The value objects to fill in before calling, one for each parameter that goes in.
  public var writableParameters: [String: ODataPropertyValueObject] {
    parameters.filter { $0.value.mode != .out }.mapValues { parameter in
      var info = ODataPropertyInfo(parameter.name, type: parameter.type)
      if !parameter.facets.isNullable { info.flags.remove(.nullable) }
      info.maxLength = parameter.facets.maxLength
      info.precision = parameter.facets.precision
      info.scale = parameter.facets.scale
      return ODataPropertyValueObject(info)
    }
  }

  /// The address of the call. Throws `missing` where a parameter that may not be null has no
  /// value, and `invalidValue` where a value is not valid.
  public func url(
    base: String, parameters values: [String: EdmValue]
  ) throws(ODataError) -> String {
    var parts: [String] = []
    for name in parameterNames {
      guard let parameter = parameters[name], parameter.mode != .out else { continue }
      guard let value = values[name] else {
        if parameter.facets.isNullable { continue }
        throw ODataError(.missing, "\(self.name) needs a value for \(name)")
      }
      if case .invalid(let text, let type) = value {
        throw ODataError(.invalidValue, "\"\(text)\" is not an \(type.rawValue)")
      }
      parts.append("\(name)=" + PercentEncoding.encode(value.literal(version), keeping: "'(),:"))
    }
    let root = base.hasSuffix("/") ? base : base + "/"
    if version == .v4 { return root + name + "(" + parts.joined(separator: ",") + ")" }
    return root + name + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
  }

  /// Reads a result of any kind as entries: nothing, a simple value, a complex value, a collection
  /// of either, an entry, or a feed.
  ///
  /// Reference: ios/PAR-5.
  public func entries(
    of bytes: [UInt8], limits: ODataLimits = .standard
  ) throws(ODataError) -> [ODataEntry] {
    guard let type = returnType, !bytes.isEmpty else { return [] }
    let options = ODataReadOptions(
      metadata: returnTypeSchema?.metadata, type: flags.contains(.simpleType) ? nil : type.name,
      limits: limits)
    if flags.contains(.entitySet) { return try ODataFeed.read(bytes, options).entries }
    var values: [EdmValue] = []
    if !ODataSniff.isJSON(bytes) {
      values = try Self.xmlValues(bytes, type: type, options)
    } else {
      for item in try ODataFeed.read(bytes, options).items {
        switch item {
        case .value(let value): values += self.unwrapped(value)
        case .entry(let entry):
          values += self.unwrapped(.complex(EdmComplex(type: entry.type, entry.properties)))
        default: break
        }
      }
    }
    return values.map { value in
      var entry = ODataEntry(type: returnTypeSchema?.type)
      if let complex = value.complex {
        entry.properties = complex.properties
      } else {
        entry.properties = ODataProperties([
          ODataProperty("element", retyped(value), type: type.element)
        ])
      }
      return entry
    }
  }

  private static func xmlValues(
    _ bytes: [UInt8], type: EdmTypeReference, _ options: ODataReadOptions
  ) throws(ODataError) -> [EdmValue] {
    if HTMLPage.isHTML(bytes) { throw HTMLPage.refusal }
    let (tree, _) = try XMLTree.read(bytes, limits: options.limits)
    let root = tree.root
    if let page = HTMLPage.error(root) { throw page }
    if root.local == "error" { throw ODataErrorDocument(atom: root).thrown(at: root.place) }
    if root.is(.atom, "feed") || root.is(.atom, "entry") {
      return try ODataFeed.read(bytes, options).entries.map {
        .complex(EdmComplex(type: $0.type, $0.properties))
      }
    }
    let value = try AtomEntryReader(context: ODataReadContext(options)).value(root, type: type)
    if let list = value.collection { return list }
    return value.isNull ? [] : [value]
  }

  /// `{"d": {"Name": …}}` of V2 wraps the value in the name of the function.
  private func unwrapped(_ value: EdmValue) -> [EdmValue] {
    var value = value
    if let complex = value.complex, complex.properties.count == 1,
      let inner = complex[name] ?? complex["results"]
    {
      value = inner
    }
    if let list = value.collection { return list }
    return value.isNull ? [] : [value]
  }

  /// A value that JSON brought without its type.
  private func retyped(_ value: EdmValue) -> EdmValue {
    guard let primitive = returnType?.primitive, value.primitive != primitive else { return value }
    return EdmValue(text: value.text, type: primitive) ?? value
  }
}

/// A link that performs something when it is called (ios/1.O `SDMODataActionLink`).
public struct ODataActionLink: Sendable, Hashable {
  /// As the entry brought it.
  public let link: ODataLink
  /// The link is not checked for its role.
  public init(_ link: ODataLink) { self.link = link }

  /// `POST` where the link names none.
  public var httpMethod: String { link.method ?? "POST" }

  /// The parameters that stand in the address, with their values.
  public var defaultParameterValues: [String: String] {
    var found: [String: String] = [:]
    for (name, value) in pairs { found[name] = value }
    return found
  }

  /// Names from the query of the address, decoded and in order.
  public var parameters: [String] { pairs.map(\.0) }

  private var pairs: [(String, String)] {
    guard let mark = link.href.firstIndex(of: "?") else { return [] }
    return link.href[link.href.index(after: mark)...].split(separator: "&").map { part in
      let sides = part.split(separator: "=", maxSplits: 1)
      return (ODataURL.decoded(sides[0]), sides.count > 1 ? ODataURL.decoded(sides[1]) : "")
    }
  }

  /// The address with some parameters given other values, or added.
  public func url(_ values: [String: String]) -> String {
    let head = link.href.prefix { $0 != "?" }
    var all = pairs
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      if let index = all.firstIndex(where: { $0.0 == name }) {
        all[index].1 = value
      } else {
        all.append((name, value))
      }
    }
    guard !all.isEmpty else { return String(head) }
    return head + "?"
      + all.map {
        "\(PercentEncoding.encode($0.0, keeping: "$"))=\(PercentEncoding.encode($0.1, keeping: "'(),:"))"
      }
      .joined(separator: "&")
  }
}
