import FerryModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// A column of a query may hold another kind of value than the app asks for: an average is a double
// also of decimals, a count is a whole number, and a plain SQL text says nothing of types.

extension AttributeConvertible {
  /// Takes what reads back as it is.
  public static func converted(_ value: AttributeValue) -> Self? {
    let read = Self(value: value)
    return value.isNull || read.value == value ? read : nil
  }
}

extension AttributeConvertible where Self: FixedWidthInteger & SignedInteger {
  public static func converted(_ value: AttributeValue) -> Self? {
    switch value {
    case .null: 0
    case .boolean(let holds): holds ? 1 : 0
    case .integer(let number): Self(exactly: number)
    case .double(let number): Self(exactly: number)
    case .text(let text): AttributeType.integer.canonical(value) == value ? Self(text) : nil
    case .bytes: nil
    }
  }
}

extension Bool {
  public static func converted(_ value: AttributeValue) -> Bool? {
    switch value {
    case .null: false
    case .boolean(let holds): holds
    case .integer(0), .integer(1): value == .integer(1)
    default: nil
    }
  }
}

extension Double {
  /// Converts a number; one that a double cannot hold becomes the nearest one that it can.
  public static func converted(_ value: AttributeValue) -> Double? {
    switch value {
    case .null: 0
    case .integer(let number): Double(number)
    case .double(let number): number
    case .text(let text): AttributeType.decimal.canonical(value) == nil ? nil : Double(text)
    case .boolean, .bytes: nil
    }
  }
}

extension Float {
  public static func converted(_ value: AttributeValue) -> Float? {
    Double.converted(value).map { Float($0) }
  }
}

extension String {
  public static func converted(_ value: AttributeValue) -> String? {
    switch value {
    case .null: ""
    case .text(let text): text
    case .integer, .double:
      (AttributeType.decimal.canonical(value) ?? AttributeType.string.canonical(value))
        .flatMap { String(attributeValue: $0) }
    case .boolean, .bytes: nil
    }
  }
}

extension BigInteger {
  public static func converted(_ value: AttributeValue) -> BigInteger? {
    switch value {
    case .null: 0
    case .boolean, .bytes: nil
    default: String.converted(value).flatMap { BigInteger($0) }
    }
  }
}

extension Decimal {
  public static func converted(_ value: AttributeValue) -> Decimal? {
    if value.isNull { return 0 }
    guard let exact = AttributeType.decimal.canonical(value) else { return nil }
    let number = Decimal(value: exact)
    return number.value == exact ? number : nil
  }
}

extension Array where Element: AttributeElement {
  public static func converted(_ value: AttributeValue) -> [Element]? {
    let read = Element.list(from: value)
    guard isStructured, !value.isNull else {
      return value.isNull || read.value == value ? read : nil
    }
    return AttributeType.list.canonical(value) == nil ? nil : read
  }
}

extension ComplexValue {
  public static func converted(_ value: AttributeValue) -> Self? {
    AttributeType.complex.canonical(value) == nil ? nil : Self(value: value)
  }
}

extension Optional where Wrapped: AttributeConvertible {
  public static func converted(_ value: AttributeValue) -> Wrapped?? {
    value.isNull ? .some(nil) : Wrapped.converted(value).map { .some($0) }
  }
}
