import FerryOData

/// The functions that every service has, by the name of V4.
public enum ODataFunction: String, Sendable, Hashable, CaseIterable {
  /// Whether the first holds the second; `substringof` with swapped sides in V2 and V3.
  case contains
  case startsWith = "startswith"
  case endsWith = "endswith"
  case length
  case indexOf = "indexof"
  /// Only of V2 and V3.
  case replace
  case substring
  case toLower = "tolower"
  case toUpper = "toupper"
  case trim
  case concat
  case matchesPattern
  case hasSubset = "hassubset"
  case hasSubsequence = "hassubsequence"
  case year, month, day, hour, minute, second
  case fractionalSeconds = "fractionalseconds"
  case totalSeconds = "totalseconds"
  case date, time
  case totalOffsetMinutes = "totaloffsetminutes"
  case minDateTime = "mindatetime"
  case maxDateTime = "maxdatetime"
  case now
  case round, floor, ceiling
  case geoDistance = "geo.distance"
  case geoLength = "geo.length"
  case geoIntersects = "geo.intersects"

  /// How many arguments it takes.
  public var arity: ClosedRange<Int> {
    switch self {
    case .contains, .startsWith, .endsWith, .indexOf, .concat, .matchesPattern, .hasSubset,
      .hasSubsequence, .geoDistance, .geoIntersects:
      2...2
    case .replace: 3...3
    case .substring: 2...3
    case .minDateTime, .maxDateTime, .now: 0...0
    default: 1...1
    }
  }

  /// Whether a version has it.
  public func isOffered(by version: ODataVersion) -> Bool {
    switch self {
    case .startsWith, .endsWith, .length, .indexOf, .substring, .toLower, .toUpper, .trim, .concat,
      .year, .month, .day, .hour, .minute, .second, .round, .floor, .ceiling, .contains:
      true
    case .replace: version < .v4
    case .geoDistance, .geoLength, .geoIntersects: version >= .v3
    default: version >= .v4
    }
  }

  /// The name in an address of a version.
  public func name(in version: ODataVersion) -> String {
    self == .contains && version < .v4 ? "substringof" : rawValue
  }

  private static let lowercased: [String: ODataFunction] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

  /// By its name in either case, as 4.01 allows.
  init?(anyCase name: String) {
    guard let found = Self.lowercased[name.lowercased()] else { return nil }
    self = found
  }
}
