import FerryOData

/// The functions that every service has, by the name of V4.
public enum ODataFunction: String, Sendable, Hashable, CaseIterable {
  /// Whether the first holds the second; `substringof` with swapped sides in V2 and V3.
  case contains
  /// Whether the first text begins with the second.
  case startsWith = "startswith"
  /// Whether the first text ends with the second.
  case endsWith = "endswith"
  /// Characters of a text.
  case length
  /// Where the second text begins in the first, from 0; -1 where it does not.
  case indexOf = "indexof"
  /// Only of V2 and V3.
  case replace
  /// From a position on, counted from 0, with an optional length.
  case substring
  /// The text in lower case.
  case toLower = "tolower"
  /// The text in upper case.
  case toUpper = "toupper"
  /// Without blanks at both ends.
  case trim
  /// The first text followed by the second.
  case concat
  /// Whether a text matches a regular expression; V4.01.
  case matchesPattern
  /// Whether the first collection has all members of the second; V4.01.
  case hasSubset = "hassubset"
  /// As `hassubset`, with members in the same order; V4.01.
  case hasSubsequence = "hassubsequence"
  /// Of a date, such as 2024.
  case year
  /// Of a date, 1 to 12.
  case month
  /// Of a date, 1 to 31.
  case day
  /// Of a time, 0 to 23.
  case hour
  /// Of a time, 0 to 59.
  case minute
  /// Of a time, 0 to 59, without the fraction.
  case second
  /// The fraction of a second, at least 0 and less than 1; V4.
  case fractionalSeconds = "fractionalseconds"
  /// A duration as a number of seconds; V4.
  case totalSeconds = "totalseconds"
  /// The day of a date and time; V4.
  case date
  /// The time of day of a date and time; V4.
  case time
  /// Minutes east of UTC; V4.
  case totalOffsetMinutes = "totaloffsetminutes"
  /// The earliest time that the service knows; V4.
  case minDateTime = "mindatetime"
  /// The latest time that the service knows; V4.
  case maxDateTime = "maxdatetime"
  /// The present time of the service; V4.
  case now
  /// The nearest whole number.
  case round
  /// The next whole number below, or the number itself.
  case floor
  /// The next whole number above, or the number itself.
  case ceiling
  /// The shortest distance between two points; V3 and V4.
  case geoDistance = "geo.distance"
  /// The length of a line; V3 and V4.
  case geoLength = "geo.length"
  /// Whether a point is in an area; V3 and V4.
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
