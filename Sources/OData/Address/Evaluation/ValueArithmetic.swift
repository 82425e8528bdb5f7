import FerryOData

/// Calculations between values.
enum ValueArithmetic {
  static func negate(_ value: EdmValue) throws(AddressFault) -> EdmValue {
    if value.isNull { return .null }
    if var moment = Moment(value), moment.kind == .duration {
      moment.picoseconds = -moment.picoseconds
      return moment.value ?? .null
    }
    switch Number(value) {
    case .binary(let number): return .double(-number)
    case .narrow(let number): return .single(-number)
    case .decimal(var number):
      if !number.digits.isEmpty { number.isNegative.toggle() }
      return .decimal(number.value)
    case .whole: return try compute(.subtract, .int32(0), value)
    case nil:
      throw AddressFault(
        .typeMismatch, "\(ValueOrder.name(value)) has no negative", hint: "negate a number")
    }
  }

  static func compute(
    _ operation: ODataArithmetic, _ left: EdmValue, _ right: EdmValue
  ) throws(AddressFault) -> EdmValue {
    if left.isNull || right.isNull { return .null }
    if let a = Number(left), let b = Number(right) {
      return try numbers(operation, a, b, isNarrow: isNarrow(left) && isNarrow(right))
    }
    if let result = try moments(operation, left, right) { return result }
    throw AddressFault(
      .typeMismatch,
      "\(operation.rawValue) of \(ValueOrder.name(left)) and \(ValueOrder.name(right))",
      hint: "cast one of them")
  }

  private static func isNarrow(_ value: EdmValue) -> Bool {
    if case .int64 = value { false } else { value.integer != nil }
  }

  private static func impossible(_ operation: ODataArithmetic) -> AddressFault {
    AddressFault(
      .evaluation,
      "\(operation.rawValue) has no exact result: zero to the right, or too many digits",
      hint: "change the values, or cast to Edm.Double")
  }

  private static func numbers(
    _ operation: ODataArithmetic, _ a: Number, _ b: Number, isNarrow: Bool
  ) throws(AddressFault) -> EdmValue {
    if case .whole(let x) = a, case .whole(let y) = b, operation != .divideBy {
      return try whole(operation, x, y, isNarrow)
    }
    if let x = a.decimal, let y = b.decimal {
      if operation == .divideBy, y.digits.isEmpty {
        // URL Conventions 4.01, 5.1.1.2: this division knows infinity.
        return .double(x.digits.isEmpty ? .nan : x.isNegative ? -.infinity : .infinity)
      }
      guard let result = DecimalNumber.compute(operation, x, y) else {
        throw impossible(operation)
      }
      return .decimal(result.value)
    }
    if let x = a.narrowed(beside: b), let y = b.narrowed(beside: a) {
      return .single(binary(operation, x, y))
    }
    return .double(binary(operation, a.binary, b.binary))
  }

  private static func binary<Width: BinaryFloatingPoint>(
    _ operation: ODataArithmetic, _ x: Width, _ y: Width
  ) -> Width {
    switch operation {
    case .add: x + y
    case .subtract: x - y
    case .multiply: x * y
    case .divide, .divideBy: x / y
    case .modulo: x.truncatingRemainder(dividingBy: y)
    }
  }

  private static func whole(
    _ operation: ODataArithmetic, _ x: Int64, _ y: Int64, _ isNarrow: Bool
  ) throws(AddressFault) -> EdmValue {
    let result: (partialValue: Int64, overflow: Bool)
    switch operation {
    case .add: result = x.addingReportingOverflow(y)
    case .subtract: result = x.subtractingReportingOverflow(y)
    case .multiply: result = x.multipliedReportingOverflow(by: y)
    case .divide, .divideBy: result = x.dividedReportingOverflow(by: y)
    case .modulo: result = x.remainderReportingOverflow(dividingBy: y)
    }
    guard !result.overflow else { throw impossible(operation) }
    if isNarrow, let narrow = Int32(exactly: result.partialValue) { return .int32(narrow) }
    return .int64(result.partialValue)
  }

  private static func moments(
    _ operation: ODataArithmetic, _ left: EdmValue, _ right: EdmValue
  ) throws(AddressFault) -> EdmValue? {
    if let span = Moment(left), span.kind == .duration, let factor = Number(right) {
      return try scaled(operation, span, factor)
    }
    if let span = Moment(right), span.kind == .duration, let factor = Number(left),
      operation == .multiply
    {
      return try scaled(operation, span, factor)
    }
    guard var a = Moment(left), let b = Moment(right) else { return nil }
    switch (operation, a.kind == b.kind, b.kind) {
    case (.subtract, true, .duration), (.subtract, false, .duration):
      a.picoseconds -= b.picoseconds
    case (.add, _, .duration): a.picoseconds += b.picoseconds
    case (.subtract, true, _):
      a.picoseconds -= b.picoseconds
      a.kind = .duration
    default: return nil
    }
    guard a.kind != .timeOfDay else { return nil }
    guard let value = a.value else { throw impossible(operation) }
    return value
  }

  private static func scaled(
    _ operation: ODataArithmetic, _ span: Moment, _ factor: Number
  ) throws(AddressFault) -> EdmValue? {
    guard operation == .multiply || operation == .divide || operation == .divideBy else {
      return nil
    }
    guard let factor = factor.decimal ?? DecimalNumber(EdmDecimal("\(factor.binary)") ?? 0),
      let result = DecimalNumber.compute(
        operation, DecimalNumber(span.picoseconds, exponent: 0), factor),
      let whole = Int128(result.rounded(.round).value.plainText() ?? "")
    else { throw impossible(operation) }
    var scaled = span
    scaled.picoseconds = whole
    guard let value = scaled.value else { throw impossible(operation) }
    return value
  }
}
