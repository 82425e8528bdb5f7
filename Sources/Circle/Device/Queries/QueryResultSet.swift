public import FerryModel

/// The rows of a query, from one snapshot.
public struct QueryResultSet: Sendable, RandomAccessCollection {
  /// The names of the columns, in the order of the query's items.
  public let columnNames: [String]
  /// The types of the columns; nil if the query does not know it: a column of a plain SQL text.
  public let columnTypes: [AttributeType?]
  package let values: [[AttributeValue]]
  private let places: [String: Int]

  package init(_ columns: [(name: String, type: AttributeType?)], _ values: [[AttributeValue]]) {
    columnNames = columns.map(\.name)
    columnTypes = columns.map(\.type)
    self.values = values
    places = Dictionary(
      columnNames.enumerated().map { ($0.element, $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { values.count }
  /// The row at an index, from 0.
  public subscript(position: Int) -> QueryRow { QueryRow(values: values[position], places: places) }
}

/// One row of a query's result.
public struct QueryRow: Sendable, Hashable {
  public let values: [AttributeValue]
  fileprivate let places: [String: Int]

  /// The value of a column; nil if there is no column with this name.
  public subscript(column: String) -> AttributeValue? { places[column].map { values[$0] } }

  /// The value of a column as a Swift type, as in objects: `row.get("total", as: Decimal?.self)`.
  ///
  /// Numbers and texts are converted if nothing is lost: an average read as `Decimal`, a count as
  /// `String`. `Double` and `Float` use the nearest possible number. Null becomes nil: read a
  /// column that may be null as an optional type.
  ///
  /// A missing column, or a value that the type cannot hold, is a programmer's error. If that
  /// depends on the data, use `value(_:as:)`.
  public func get<Content: AttributeConvertible>(
    _ column: String, as type: Content.Type = Content.self
  ) -> Content {
    do { return try value(column, as: type) } catch { preconditionFailure("\(error)") }
  }

  /// The same for the column at an index, from 0.
  public func get<Content: AttributeConvertible>(
    _ position: Int, as type: Content.Type = Content.self
  ) -> Content {
    do { return try value(position, as: type) } catch { preconditionFailure("\(error)") }
  }

  /// The same as `get`, but throws `invalidQuery` if there is no such column, or if the type cannot
  /// hold the value: a text that is not a number, 2.5 for an `Int`, null for a type that is not
  /// optional.
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

  /// The same for the column at an index, from 0.
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
    _ value: AttributeValue, _ column: String
  ) throws(FerryError) -> Content {
    if value.isNull, !Content(value: .null).value.isNull {
      throw FerryError(
        .invalidQuery, "column \(column) is null, which cannot be read as \(Content.self)",
        hint: "Read it as \(Content.self)?.", attribute: column)
    }
    if let content = Content.converted(value) { return content }
    throw FerryError(
      .invalidQuery, "column \(column) has \(value.kind), which cannot be read as \(Content.self)",
      hint: "Use a type that can hold it, or read the raw value: `row[\"\(column)\"]`.",
      attribute: column)
  }
}

extension AttributeValue {
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
