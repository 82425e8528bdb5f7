/// One step of a resource path.
///
/// Without metadata nobody can tell a set from a function, or a type from a function with a
/// namespace; so a segment says what is written, and `ODataResolvedAddress` what it means.
public enum ODataSegment: Sendable, Hashable {
  /// A set, singleton, property, function, action or type; qualified where it has a dot.
  case name(String)
  /// What stands in parentheses behind a name: a key, or the parameters of a function.
  case predicate(ODataPredicate)
  /// A segment that is no name: a key as its own segment, or the ordinal of a member.
  case keySegment(String)
  /// `$count`
  case count
  /// `$value`
  case value
  /// `$ref` of V4
  case ref
  /// `$links` of V2 and V3
  case links
  /// `$filter(…)`
  case filter(ODataExpression)
  /// `$each`
  case each
  /// `$query`
  case query
  /// `$metadata`
  case metadata
  /// `$batch`
  case batch
  /// `$entity`, with the identity in the option `$id`
  case entity
  /// `$all`
  case all
  /// `$crossjoin(A,B)`
  case crossjoin([String])
}

/// What stands in parentheses.
public enum ODataPredicate: Sendable, Hashable {
  /// `(1)`
  case value(ODataExpression)
  /// `(A=1,B=2)`; none for `()`
  case named([ODataNamedValue])
}

/// A key property or a parameter with its value.
public struct ODataNamedValue: Sendable, Hashable {
  /// A key property, a parameter, or an alias without its `@`.
  public var name: String
  /// A literal, or an alias such as `@p`.
  public var value: ODataExpression

  /// Written `name=value`.
  public init(_ name: String, _ value: ODataExpression) {
    self.name = name
    self.value = value
  }
}
