public import FerryModel

/// The rows that a query gave, as they were in one snapshot.
public struct QueryResultSet: Sendable, RandomAccessCollection {
  /// In the order of the query's items.
  public let columnNames: [String]
  /// Of each column; nil where the query does not say: a column of a plain SQL text.
  public let columnTypes: [AttributeType?]
  package let values: [[Value]]
  private let places: [String: Int]

  package init(_ columns: [(name: String, type: AttributeType?)], _ values: [[Value]]) {
    columnNames = columns.map(\.name)
    columnTypes = columns.map(\.type)
    self.values = values
    places = Dictionary(
      columnNames.enumerated().map { ($0.element, $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { values.count }
  /// A row by its place, from 0.
  public subscript(position: Int) -> QueryRow { QueryRow(values: values[position], places: places) }
}

/// One row of a query's result.
public struct QueryRow: Sendable, Hashable {
  public let values: [Value]
  fileprivate let places: [String: Int]

  /// The value of a column; nil where the query has none of that name.
  public subscript(column: String) -> Value? { places[column].map { values[$0] } }

  /// The value of a column under a Swift type, as objects have it: `row.get("total", as: Decimal?.self)`.
  ///
  /// A column that the query does not have is a programmer's error.
  public func get<Content: AttributeConvertible>(
    _ column: String, as type: Content.Type = Content.self
  ) -> Content {
    guard let place = places[column] else {
      preconditionFailure("no column \(column) among \(places.keys.sorted())")
    }
    return Content(value: values[place])
  }

  public func get<Content: AttributeConvertible>(
    _ position: Int, as type: Content.Type = Content.self
  ) -> Content { Content(value: values[position]) }
}
