import FerryJSON
import FerryModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Swift type that an attribute can have.
public protocol AttributeConvertible: Sendable {
  /// The canonical value.
  var value: AttributeValue { get }
  /// Reads a value of the attribute's type; a null where none is allowed reads as the type's zero.
  init(value: AttributeValue)
  /// Reads a value of another kind too, where it loses nothing: a whole number that came as a text or
  /// as a `double`, a decimal that came as a `double`. Nil for what this type cannot hold. Null reads
  /// as it does for `init(value:)`.
  static func converted(_ value: AttributeValue) -> Self?
  /// Whether its value is JSON, which stands in other JSON as it is.
  static var isStructured: Bool { get }
}

extension AttributeConvertible {
  public static var isStructured: Bool { false }
}

/// A Swift type that the elements of a list can have.
public protocol AttributeElement: AttributeConvertible {
  /// The canonical value of a list of these.
  static func value(of list: [Self]) -> AttributeValue
  /// Reads a list; what is none reads as the empty one.
  static func list(from value: AttributeValue) -> [Self]
  /// Whether a list of these is JSON.
  static var isListStructured: Bool { get }
}

extension AttributeElement {
  public static var isListStructured: Bool { true }

  public static func value(of list: [Self]) -> AttributeValue {
    var writer = JSONWriter()
    writer.array(list) { writer, element in
      writer.raw(StructuredText.json(element.value, isStructured: isStructured))
    }
    return .text(writer.text)
  }

  public static func list(from value: AttributeValue) -> [Self] {
    guard case .text(let text) = value else { return [] }
    return StructuredText.list(text).map(Self.init(value:))
  }
}

extension Bool: AttributeElement {
  public var value: AttributeValue { .boolean(self) }
  public init(value: AttributeValue) { self = value == .boolean(true) }
}

extension FixedWidthInteger where Self: SignedInteger & Sendable {
  public var value: AttributeValue { .integer(Int64(self)) }
  public init(value: AttributeValue) {
    if case .integer(let number) = value {
      self = Self(truncatingIfNeeded: number)
    } else {
      self = 0
    }
  }
}

extension Int8: AttributeElement {}
extension Int16: AttributeElement {}
extension Int32: AttributeElement {}
extension Int64: AttributeElement {}
extension Int: AttributeElement {}

/// For lists of bytes, which are binary values and no JSON; no attribute is a single one.
extension UInt8: AttributeElement {
  public static var isListStructured: Bool { false }
  public var value: AttributeValue { .integer(Int64(self)) }
  public init(value: AttributeValue) { self = UInt8(truncatingIfNeeded: Int64(value: value)) }
  public static func value(of list: [UInt8]) -> AttributeValue { .bytes(list) }

  public static func list(from value: AttributeValue) -> [UInt8] {
    switch value {
    case .bytes(let bytes): bytes
    case .text(let text): Base64.decode(text) ?? []
    default: []
    }
  }
}

extension Double: AttributeElement {
  public var value: AttributeValue { .double(self) }
  public init(value: AttributeValue) {
    switch value {
    case .double(let number): self = number
    case .integer(let number): self = Double(number)
    // Inside a list or a complex value, which are JSON.
    case .text("NaN"): self = .nan
    case .text("INF"): self = .infinity
    case .text("-INF"): self = -.infinity
    default: self = 0
    }
  }
}

extension Float: AttributeElement {
  public var value: AttributeValue { .double(Double(self)) }
  public init(value: AttributeValue) { self = Float(Double(value: value)) }
}

extension String: AttributeElement {
  public var value: AttributeValue { .text(self) }
  public init(value: AttributeValue) {
    if case .text(let text) = value { self = text } else { self = "" }
  }
}

extension Array: AttributeConvertible where Element: AttributeElement {
  public static var isStructured: Bool { Element.isListStructured }
  public var value: AttributeValue { Element.value(of: self) }
  public init(value: AttributeValue) { self = Element.list(from: value) }
}

/// A list, for who does not know of what.
protocol ElementsConvertible {
  /// Nil where the whole is one value: bytes.
  var elements: [AttributeValue]? { get }
}

extension Array: ElementsConvertible where Element: AttributeElement {
  var elements: [AttributeValue]? { Element.isListStructured ? map(\.value) : nil }
}

extension BigInteger: AttributeElement {
  public var value: AttributeValue { .text(description) }
  public init(value: AttributeValue) { self = BigInteger(String(value: value)) ?? 0 }
}

/// Exact for every decimal of the model, which has at most 38 digits. What may have more is a string
/// in the model.
extension Decimal: AttributeElement {
  public var value: AttributeValue {
    AttributeType.decimal.canonical(.text(description)) ?? .text(description)
  }
  public init(value: AttributeValue) {
    switch value {
    case .text("NaN"): self = .nan
    case .text(let text): self = Decimal(string: text) ?? 0
    default: self = 0
    }
  }
}

extension LocalDate: AttributeElement {
  public var value: AttributeValue { .text(description) }
  public init(value: AttributeValue) { self = LocalDate(String(value: value)) ?? .zero }

  /// What an impossible null reads as: the first day.
  private static let zero: LocalDate = LocalDate("0001-01-01").unsafelyUnwrapped
}

extension LocalTime: AttributeElement {
  public var value: AttributeValue { .text(description) }
  public init(value: AttributeValue) { self = LocalTime(String(value: value)) ?? .midnight }

  private static let midnight: LocalTime = LocalTime("00:00:00").unsafelyUnwrapped
}

extension LocalDateTime: AttributeElement {
  public var value: AttributeValue { .text(description) }
  public init(value: AttributeValue) {
    let text = String(value: value)
    self =
      LocalDateTime(text)
      ?? LocalDateTime(date: LocalDate(value: .null), time: LocalTime(value: .null))
  }
}

extension Optional: AttributeConvertible where Wrapped: AttributeConvertible {
  public static var isStructured: Bool { Wrapped.isStructured }
  public var value: AttributeValue { self?.value ?? .null }
  public init(value: AttributeValue) { self = value.isNull ? nil : Wrapped(value: value) }
}
