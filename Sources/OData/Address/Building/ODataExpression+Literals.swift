import FerryOData

// Literals of Swift are literals of OData, so that keys and lists read well:
// `.key(["OrderID": 1, "Number": "a"])`.

extension ODataExpression: ExpressibleByIntegerLiteral {
  /// The smallest of `Edm.Int32` and `Edm.Int64` that holds the number.
  public init(integerLiteral value: Int64) { self = .literal(EdmValue(number: value)) }
}

extension ODataExpression: ExpressibleByFloatLiteral {
  public init(floatLiteral value: Double) { self = .literal(.double(value)) }
}

extension ODataExpression: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self = .literal(.string(value)) }
}

extension ODataExpression: ExpressibleByBooleanLiteral {
  public init(booleanLiteral value: Bool) { self = .literal(.boolean(value)) }
}

extension ODataExpression: ExpressibleByNilLiteral {
  /// Null.
  public init(nilLiteral: ()) { self = .literal(.null) }
}

extension EdmValue {
  /// The smallest of `Edm.Int32` and `Edm.Int64` that holds the number.
  init(number: Int64) {
    self = Int32(exactly: number).map { .int32($0) } ?? .int64(number)
  }
}
