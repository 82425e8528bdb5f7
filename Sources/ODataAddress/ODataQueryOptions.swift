/// What stands behind the question mark, or in the parentheses of an expanded property.
///
/// The order in which options were written is not kept; that of custom options and aliases is.
public struct ODataQueryOptions: Sendable, Hashable {
  public var filter: ODataExpression?
  public var orderBy: [ODataOrder] = []
  public var select: [ODataSelectItem] = []
  public var expand: [ODataExpandItem] = []
  public var search: ODataSearch?
  public var compute: [ODataComputation] = []
  public var top: Int?
  public var skip: Int?
  /// Whether the service counts all that match; `$inlinecount` in V2 and V3.
  public var count: Bool?
  public var format: String?
  public var skipToken: String?
  /// `$deltatoken` of V4, `!deltatoken` of SAP's V2.
  public var deltaToken: String?
  /// The identity behind `$entity` and `$ref`.
  public var id: String?
  public var index: Int?
  public var schemaVersion: String?
  /// How deep an expanded property is followed; only in the options of `$expand`.
  public var levels: ODataLevels?
  /// `@name=value`
  public var aliases: [ODataNamedValue] = []
  /// All that begins with neither `$` nor `@`: `sap-client=100`, parameters of V2 functions.
  public var custom: [ODataCustomOption] = []

  public init() {}

  public var isEmpty: Bool { self == ODataQueryOptions() }

  /// The value of a custom option.
  public subscript(custom name: String) -> String? {
    custom.first { $0.name == name }?.value
  }

  /// The value of an option of SAP Gateway: `sap("client")` is that of `sap-client`.
  public func sap(_ name: String) -> String? { self[custom: "sap-\(name)"] }

  /// What `@name` stands for.
  public func alias(_ name: String) -> ODataExpression? {
    aliases.first { $0.name == name }?.value
  }
}

/// How deep `$levels` goes.
public enum ODataLevels: Sendable, Hashable {
  case exactly(Int)
  case max
}

/// One criterion of `$orderby`.
public struct ODataOrder: Sendable, Hashable {
  public var expression: ODataExpression
  public var isDescending: Bool

  public init(_ expression: ODataExpression, isDescending: Bool = false) {
    self.expression = expression
    self.isDescending = isDescending
  }
}

/// One item of `$select`.
public struct ODataSelectItem: Sendable, Hashable {
  /// Properties, types, annotations; the last may be `*`, or `NS.*` for all operations.
  public var path: [String]
  /// The parameters that tell overloads of a function apart; nil where none are named.
  public var parameters: [String]?
  /// Options of 4.01 for the members of a selected property.
  public var options: ODataQueryOptions
  public var columns: ODataColumns

  public init(
    _ path: [String], parameters: [String]? = nil,
    options: ODataQueryOptions = ODataQueryOptions(), columns: ODataColumns = ODataColumns()
  ) {
    self.path = path
    self.parameters = parameters
    self.options = options
    self.columns = columns
  }
}

/// One item of `$expand`.
public struct ODataExpandItem: Sendable, Hashable {
  /// What is delivered of the related entities.
  public enum Content: Sendable, Hashable {
    case entities
    /// `/$ref`: where they are
    case references
    /// `/$count`: how many there are
    case count
  }

  /// Complex properties, types and the navigation property; the last may be `*` or `$value`.
  public var path: [String]
  public var content: Content
  public var options: ODataQueryOptions
  public var columns: ODataColumns

  public init(
    _ path: [String], content: Content = .entities,
    options: ODataQueryOptions = ODataQueryOptions(), columns: ODataColumns = ODataColumns()
  ) {
    self.path = path
    self.content = content
    self.options = options
    self.columns = columns
  }
}

/// One item of `$compute`.
public struct ODataComputation: Sendable, Hashable {
  public var expression: ODataExpression
  public var name: String

  public init(_ expression: ODataExpression, as name: String) {
    self.expression = expression
    self.name = name
  }
}

/// An option that OData does not define.
public struct ODataCustomOption: Sendable, Hashable {
  public var name: String
  /// Nil for a name without `=`.
  public var value: String?

  public init(_ name: String, _ value: String?) {
    self.name = name
    self.value = value
  }
}
