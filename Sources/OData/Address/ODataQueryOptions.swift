/// What stands behind the question mark, or in the parentheses of an expanded property.
///
/// The order in which options were written is not kept; that of custom options and aliases is.
public struct ODataQueryOptions: Sendable, Hashable {
  /// `$filter`: which entities are wanted; nil for all.
  public var filter: ODataExpression?
  /// `$orderby`: the first criterion decides, the next ones break ties.
  public var orderBy: [ODataOrder] = []
  /// `$select`: what is delivered of each entity; empty for everything.
  public var select: [ODataSelectItem] = []
  /// `$expand`: related entities that come along.
  public var expand: [ODataExpandItem] = []
  /// `$search` of V4: words that an entity must match; nil for all.
  public var search: ODataSearch?
  /// `$compute` of V4: values that the service works out, under names of their own.
  public var compute: [ODataComputation] = []
  /// `$top`: the most entities that are wanted; nil for no bound.
  public var top: Int?
  /// `$skip`: entities to pass over at the beginning; nil for none.
  public var skip: Int?
  /// Whether the service counts all that match; `$inlinecount` in V2 and V3.
  public var count: Bool?
  /// `$format`, such as `json`, in place of an `Accept` header.
  public var format: String?
  /// `$skiptoken`: where the next page begins; only the service understands it.
  public var skipToken: String?
  /// `$deltatoken` of V4, `!deltatoken` of SAP's V2.
  public var deltaToken: String?
  /// The identity behind `$entity` and `$ref`.
  public var id: String?
  /// `$index` of 4.01: where a posted member is inserted.
  public var index: Int?
  /// `$schemaversion` of 4.01: the version of the metadata to use.
  public var schemaVersion: String?
  /// How deep an expanded property is followed; only in the options of `$expand`.
  public var levels: ODataLevels?
  /// `@name=value`
  public var aliases: [ODataNamedValue] = []
  /// All that begins with neither `$` nor `@`: `sap-client=100`, parameters of V2 functions.
  public var custom: [ODataCustomOption] = []

  /// No option is set.
  public init() {}

  /// True where the address needs no question mark.
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
  /// A number of levels, 1 for related entities only.
  case exactly(Int)
  /// As deep as the service allows.
  case max
}

/// One criterion of `$orderby`.
public struct ODataOrder: Sendable, Hashable {
  /// Usually a path, such as `Price`.
  public var expression: ODataExpression
  /// `desc`; false for `asc`, the default.
  public var isDescending: Bool

  /// Ascending unless set otherwise.
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
  /// Where it was parsed; empty for what is built.
  public var columns: ODataColumns

  /// Without options, all of the selected property is delivered.
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
    /// The entities themselves; the default.
    case entities
    /// `/$ref`: where they are
    case references
    /// `/$count`: how many there are
    case count
  }

  /// Complex properties, types and the navigation property; the last may be `*` or `$value`.
  public var path: [String]
  /// Entities, their addresses or their number.
  public var content: Content
  /// Those in parentheses, such as `$filter`.
  public var options: ODataQueryOptions
  /// Where it was parsed; empty for what is built.
  public var columns: ODataColumns

  /// Whole entities without conditions, unless set otherwise.
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
  /// Such as `Price mul Quantity`.
  public var expression: ODataExpression
  /// The one behind `as`, for use in other options.
  public var name: String

  /// Written `expression as name`.
  public init(_ expression: ODataExpression, as name: String) {
    self.expression = expression
    self.name = name
  }
}

/// An option that OData does not define.
public struct ODataCustomOption: Sendable, Hashable {
  /// Decoded, such as `sap-client`.
  public var name: String
  /// Nil for a name without `=`.
  public var value: String?

  /// Pass nil for a name without `=`.
  public init(_ name: String, _ value: String?) {
    self.name = name
    self.value = value
  }
}
