import FerryModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Swift type that an attribute can have.
public protocol AttributeConvertible: Sendable {
  /// The canonical value.
  var value: Value { get }
  /// Reads a value of the attribute's type; a null where none is allowed reads as the type's zero.
  init(value: Value)
}

extension Bool: AttributeConvertible {
  public var value: Value { .boolean(self) }
  public init(value: Value) { self = value == .boolean(true) }
}

extension FixedWidthInteger where Self: SignedInteger & Sendable {
  public var value: Value { .integer(Int64(self)) }
  public init(value: Value) {
    if case .integer(let number) = value {
      self = Self(truncatingIfNeeded: number)
    } else {
      self = 0
    }
  }
}

extension Int8: AttributeConvertible {}
extension Int16: AttributeConvertible {}
extension Int32: AttributeConvertible {}
extension Int64: AttributeConvertible {}
extension Int: AttributeConvertible {}

extension Double: AttributeConvertible {
  public var value: Value { .double(self) }
  public init(value: Value) {
    if case .double(let number) = value { self = number } else { self = 0 }
  }
}

extension Float: AttributeConvertible {
  public var value: Value { .double(Double(self)) }
  public init(value: Value) { self = Float(Double(value: value)) }
}

extension String: AttributeConvertible {
  public var value: Value { .text(self) }
  public init(value: Value) {
    if case .text(let text) = value { self = text } else { self = "" }
  }
}

extension Array: AttributeConvertible where Element == UInt8 {
  public var value: Value { .bytes(self) }
  public init(value: Value) {
    if case .bytes(let bytes) = value { self = bytes } else { self = [] }
  }
}

extension Decimal: AttributeConvertible {
  public var value: Value {
    AttributeType.decimal.canonical(.text(description)) ?? .text(description)
  }
  public init(value: Value) {
    if case .text(let text) = value { self = Decimal(string: text) ?? 0 } else { self = 0 }
  }
}

extension LocalDate: AttributeConvertible {
  public var value: Value { .text(description) }
  public init(value: Value) { self = LocalDate(String(value: value)) ?? .zero }

  /// What an impossible null reads as: the first day.
  private static let zero: LocalDate = LocalDate("0001-01-01").unsafelyUnwrapped
}

extension LocalTime: AttributeConvertible {
  public var value: Value { .text(description) }
  public init(value: Value) { self = LocalTime(String(value: value)) ?? .midnight }

  private static let midnight: LocalTime = LocalTime("00:00:00").unsafelyUnwrapped
}

extension LocalDateTime: AttributeConvertible {
  public var value: Value { .text(description) }
  public init(value: Value) {
    let text = String(value: value)
    self =
      LocalDateTime(text)
      ?? LocalDateTime(date: LocalDate(value: .null), time: LocalTime(value: .null))
  }
}

extension Optional: AttributeConvertible where Wrapped: AttributeConvertible {
  public var value: Value { self?.value ?? .null }
  public init(value: Value) { self = value.isNull ? nil : Wrapped(value: value) }
}
