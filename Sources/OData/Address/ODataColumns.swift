/// Where in the address the parts of something stood; counted from 1.
///
/// It is how a thing was found, not what it is: any two are equal, so that what was built equals
/// what was parsed.
public struct ODataColumns: Sendable, Hashable {
  /// One for each part; empty for what was built.
  public var values: [Int32]

  /// Empty for what is built in code.
  public init(_ values: [Int32] = []) { self.values = values }

  /// The column of a part; nil for what was built.
  public subscript(index: Int) -> Int? {
    values.indices.contains(index) ? Int(values[index]) : nil
  }

  public static func == (left: ODataColumns, right: ODataColumns) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
}
