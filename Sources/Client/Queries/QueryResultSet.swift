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
  /// Numbers and texts become one another where nothing is lost: an average read as `Decimal`, a
  /// count as `String`. `Double` and `Float` take the nearest number they can hold. Null reads as
  /// nil, or as the type's zero where it has no nil.
  ///
  /// A column that the query does not have, or one that holds what the type cannot, is a
  /// programmer's error; where values decide that, ask for `value(_:as:)`.
  public func get<Content: AttributeConvertible>(
    _ column: String, as type: Content.Type = Content.self
  ) -> Content {
    do { return try value(column, as: type) } catch { preconditionFailure("\(error)") }
  }

  /// The same of a column by its place, from 0.
  public func get<Content: AttributeConvertible>(
    _ position: Int, as type: Content.Type = Content.self
  ) -> Content {
    do { return try value(position, as: type) } catch { preconditionFailure("\(error)") }
  }

  /// The same as `get`, but `invalidQuery` where the row has no such column, and where the column
  /// holds what the type cannot: text that is no number, 2.5 for an `Int`.
  public func value<Content: AttributeConvertible>(
    _ column: String, as type: Content.Type = Content.self
  ) throws(FerryError) -> Content {
    guard let place = places[column] else {
      throw FerryError(
        .invalidQuery, "the rows have no column \(column)",
        hint: NearestWord.cure(column, among: places.keys.sorted()))
    }
    return try converted(values[place], column)
  }

  /// The same of a column by its place, from 0.
  public func value<Content: AttributeConvertible>(
    _ position: Int, as type: Content.Type = Content.self
  ) throws(FerryError) -> Content {
    guard values.indices.contains(position) else {
      throw FerryError(
        .invalidQuery, "the rows have \(values.count) columns and none at \(position)",
        hint: "The first is at 0.")
    }
    let name = places.first { $0.value == position }?.key
    return try converted(values[position], name ?? "at \(position)")
  }

  private func converted<Content: AttributeConvertible>(
    _ value: Value, _ column: String
  ) throws(FerryError) -> Content {
    if let content = Content.converted(value) { return content }
    throw FerryError(
      .invalidQuery, "column \(column) holds \(value.kind), which is no \(Content.self)",
      hint: "Ask for a type that can hold it, or for the value as it is: `row[\"\(column)\"]`.",
      attribute: column)
  }
}

extension Value {
  /// What kind of value it is; what it is stays the app's.
  fileprivate var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer: "a whole number"
    case .double: "a double"
    case .text: "a text"
    case .bytes: "bytes"
    }
  }
}
