/// How entries are read.
public struct ODataReadOptions: Sendable {
  /// Gives values their types; without it the payload's own marks are all there is.
  public var metadata: EdmMetadata?
  /// The qualified type of the entries, where the payload does not name it.
  public var type: String?
  /// Whether inlined entries and feeds are read or passed over.
  public var readsInline: Bool
  /// Whether a value that is none of its type is refused; else it is kept as `.invalid` and listed.
  public var isStrict: Bool
  /// Where the document came from: what relative links stand beside, unless the document itself
  /// says otherwise (`xml:base`, an absolute context of JSON that stands before them).
  public var base: String?
  /// Whether relative links are made absolute where a base is known; true unless changed.
  public var resolvesLinks: Bool = true
  /// The version, where the document leaves it open: plain JSON of V2 looks like that of V4.
  public var version: ODataVersion?
  /// What no document may pass; `standard` unless changed.
  public var limits: ODataLimits

  /// Lenient, with inline entries, and without metadata, unless set otherwise.
  public init(
    metadata: EdmMetadata? = nil, type: String? = nil, readsInline: Bool = true,
    isStrict: Bool = false, base: String? = nil, version: ODataVersion? = nil,
    limits: ODataLimits = .standard
  ) {
    self.metadata = metadata
    self.type = type.map { metadata?.resolve($0) ?? $0 }
    self.readsInline = readsInline
    self.isStrict = isStrict
    self.base = base
    self.version = version
    self.limits = limits
  }

  /// The type of the entries of a set.
  public init(metadata: EdmMetadata, set: String, readsInline: Bool = true, isStrict: Bool = false)
  {
    self.init(
      metadata: metadata, type: metadata.entitySet(set)?.entityType, readsInline: readsInline,
      isStrict: isStrict)
  }
}

/// What the schema says of the members of one type, ready to be asked for each value.
final class ODataTypeIndex {
  enum Member {
    case property(EdmProperty, primitive: EdmPrimitive?)
    case navigation(EdmNavigationProperty)
  }

  let name: String
  let members: [String: Member]
  let isOpen: Bool
  let mapped: [(property: EdmProperty, mapping: EdmFeedMapping)]

  init(_ type: EdmStructuredType, in metadata: EdmMetadata) {
    name = type.qualifiedName
    isOpen = metadata.isOpen(type)
    var members: [String: Member] = [:]
    var mapped: [(EdmProperty, EdmFeedMapping)] = []
    for level in metadata.lineage(of: type) {
      for property in level.properties {
        members[property.name] = .property(
          property, primitive: metadata.primitive(property.type.name))
        for mapping in property.mappings + (level.mappings[property.name] ?? []) {
          mapped.append((property, mapping))
        }
      }
      for property in level.navigationProperties {
        members[property.name] = .navigation(property)
      }
    }
    self.members = members
    self.mapped = mapped
  }
}

/// What both readers share: types by name, and the list of what was not as it should be.
final class ODataReadContext {
  let options: ODataReadOptions
  private var indexes: [String: ODataTypeIndex?] = [:]
  private(set) var diagnostics: EdmDiagnostics
  let base: ODataGround?
  private var lastBase: (own: String, outer: ODataGround?, base: ODataGround?)?

  init(_ options: ODataReadOptions) {
    self.options = options
    diagnostics = EdmDiagnostics(limit: options.limits.diagnostics)
    base = options.resolvesLinks ? options.base.flatMap { ODataGround($0) } : nil
  }

  /// A base that a document names, which may be relative to the one outside; asked for once each.
  func base(_ own: String, in outer: ODataGround?) -> ODataGround? {
    guard options.resolvesLinks else { return nil }
    if let last = lastBase, last.own == own, last.outer === outer { return last.base }
    let base = ODataGround(outer?.resolve(own) ?? own) ?? outer
    lastBase = (own, outer, base)
    return base
  }

  func index(_ name: String?) -> ODataTypeIndex? {
    guard let name, let metadata = options.metadata else { return nil }
    if let found = indexes[name] { return found }
    let made = metadata.structuredType(name).map { ODataTypeIndex($0, in: metadata) }
    indexes[name] = .some(made)
    return made
  }

  func report(_ message: String, _ place: ODataPlace, _ consequence: String) throws(ODataError) {
    let diagnostic = ODataDiagnostic(message, at: place, consequence: consequence)
    if options.isStrict { throw ODataError(strict: diagnostic) }
    diagnostics.add(diagnostic)
  }

  func add(_ diagnostic: ODataDiagnostic) { diagnostics.add(diagnostic) }

  func invalid(
    _ text: String, _ type: EdmPrimitive, _ place: ODataPlace
  ) throws(ODataError) -> EdmValue {
    let shown = text.utf8.count > 60 ? text.prefix(40) + "…" : text[...]
    let message = "\"\(shown)\" is not an \(type.rawValue)"
    if options.isStrict { throw ODataError(.invalidValue, message, at: place) }
    diagnostics.add(
      ODataDiagnostic(message, at: place, consequence: "the text is kept as an invalid value"))
    return .invalid(text, type)
  }

  /// What is known of a type that a payload marks, asked for once per name.
  struct Resolved {
    let type: EdmTypeReference
    /// A primitive type whose values are texts.
    let plain: EdmPrimitive?
  }

  /// The marks of a feed are few, and each comes again and again: those met last are looked at
  /// first, by their bytes, before a string is made.
  private var marks: [(text: [UInt8], resolved: Resolved)] = []
  private var lastMark = 0

  func resolved(_ mark: UnsafeBufferPointer<UInt8>) -> Resolved {
    let count = marks.count
    for step in 0..<count {
      let place = lastMark + step < count ? lastMark + step : lastMark + step - count
      if marks[place].text.count == mark.count, marks[place].text.elementsEqual(mark) {
        lastMark = place + 1 < count ? place + 1 : 0
        return marks[place].resolved
      }
    }
    let type = marked(String(decoding: mark, as: UTF8.self))
    var plain: EdmPrimitive?
    if !type.isCollection, !isEnum(type.name) {
      plain = type.primitive ?? options.metadata?.primitive(type.name)
      if plain?.isSpatial == true { plain = nil }
    }
    let made = Resolved(type: type, plain: plain)
    if count < 64 { marks.append((Array(mark), made)) }
    return made
  }

  func isEnum(_ name: String) -> Bool { options.metadata?.enumType(name) != nil }

  /// The type that a context address such as `…$metadata#Products(Name)/$entity` speaks of.
  func type(context: String?) -> String? {
    guard let metadata = options.metadata, let context, let hash = context.lastIndex(of: "#") else {
      return nil
    }
    let rest = context[context.index(after: hash)...]
    let path = rest.prefix { $0 != "(" }.split(separator: "/").filter { !$0.hasPrefix("$") }
    guard let first = path.first else { return nil }
    // A type after the set is a cast: all entries are of it.
    if path.count > 1, let last = path.last, metadata.structuredType(String(last)) != nil {
      return metadata.resolve(String(last))
    }
    if path.count == 1 {
      return metadata.entitySet(String(first))?.entityType
        ?? metadata.singleton(String(first))?.type
    }
    return nil
  }

  /// `Int32`, `#NS.Type`, `#Collection(String)`, `Edm.Int32` as a payload marks a type.
  func marked(_ text: String) -> EdmTypeReference {
    var text = text[...]
    if let hash = text.lastIndex(of: "#") { text = text[text.index(after: hash)...] }
    var reference = EdmTypeReference(text: String(text))
    if let primitive = EdmPrimitive(name: reference.name) {
      reference.name = primitive.rawValue
    } else if let metadata = options.metadata {
      reference.name = metadata.resolve(reference.name)
    }
    return reference
  }
}
