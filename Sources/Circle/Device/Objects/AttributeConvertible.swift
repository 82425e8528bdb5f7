import FerryJSON
import FerryModel
import FerryText

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Swift type that an attribute can have.
public protocol AttributeConvertible: Sendable {
  /// The canonical value.
  var value: AttributeValue { get }
  /// Reads a value of this type; nil for any other, and for null unless the type is optional.
  init?(attributeValue: AttributeValue)
  /// What an attribute of this type has while nothing was set: zero, an empty text, the first day.
  static var attributeDefault: Self { get }
  /// Reads a value of another kind too, where it loses nothing: a whole number that came as a text or
  /// as a `double`, a decimal that came as a `double`. Nil for what this type cannot hold. Null reads
  /// as `attributeDefault`.
  static func converted(_ value: AttributeValue) -> Self?
  /// Whether its value is JSON, which stands in other JSON as it is.
  static var isStructured: Bool { get }
}

extension AttributeConvertible {
  public static var isStructured: Bool { false }

  /// Reads what the device stores, which the model has checked. What is not of this type, and null
  /// where none is allowed, reads as `attributeDefault`.
  package init(value: AttributeValue) {
    self = Self(attributeValue: value) ?? Self.attributeDefault
  }
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
    return StructuredText.list(text).map { Self(value: $0) }
  }
}

extension Bool: AttributeElement {
  public var value: AttributeValue { .boolean(self) }
  public static var attributeDefault: Bool { false }
  public init?(attributeValue: AttributeValue) {
    guard case .boolean(let holds) = attributeValue else { return nil }
    self = holds
  }
}

extension FixedWidthInteger where Self: SignedInteger & Sendable {
  public var value: AttributeValue { .integer(Int64(self)) }
  public static var attributeDefault: Self { 0 }
  public init?(attributeValue: AttributeValue) {
    guard case .integer(let number) = attributeValue else { return nil }
    self.init(exactly: number)
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
  public static var attributeDefault: UInt8 { 0 }
  public init?(attributeValue: AttributeValue) {
    guard case .integer(let number) = attributeValue else { return nil }
    self.init(exactly: number)
  }
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
  public static var attributeDefault: Double { 0 }
  public init?(attributeValue: AttributeValue) {
    switch attributeValue {
    case .double(let number): self = number
    case .integer(let number): self = Double(number)
    // Inside a list or a complex value, which are JSON.
    case .text("NaN"): self = .nan
    case .text("INF"): self = .infinity
    case .text("-INF"): self = -.infinity
    default: return nil
    }
  }
}

extension Float: AttributeElement {
  public var value: AttributeValue { .double(Double(self)) }
  public static var attributeDefault: Float { 0 }
  public init?(attributeValue: AttributeValue) {
    guard let number = Double(attributeValue: attributeValue) else { return nil }
    self = Float(number)
  }
}

extension String: AttributeElement {
  public var value: AttributeValue { .text(self) }
  public static var attributeDefault: String { "" }
  public init?(attributeValue: AttributeValue) {
    guard case .text(let text) = attributeValue else { return nil }
    self = text
  }
}

extension Array: AttributeConvertible where Element: AttributeElement {
  public static var isStructured: Bool { Element.isListStructured }
  public var value: AttributeValue { Element.value(of: self) }
  public static var attributeDefault: [Element] { [] }
  public init?(attributeValue: AttributeValue) {
    switch attributeValue {
    case .text, .bytes: self = Element.list(from: attributeValue)
    default: return nil
    }
  }
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
  public static var attributeDefault: BigInteger { 0 }
  public init?(attributeValue: AttributeValue) {
    guard case .text(let text) = attributeValue else { return nil }
    self.init(text)
  }
}

/// Exact for every decimal of the model, which has at most 38 digits. What may have more is a string
/// in the model.
extension Decimal: AttributeElement {
  public var value: AttributeValue {
    AttributeType.decimal.canonical(.text(description)) ?? .text(description)
  }
  public static var attributeDefault: Decimal { 0 }
  public init?(attributeValue: AttributeValue) {
    guard case .text(let text) = attributeValue else { return nil }
    guard text != "NaN" else {
      self = .nan
      return
    }
    // `Decimal(string:)` reads as far as it can, and rounds what is too long.
    let isNumber = text.utf8.allSatisfy { ($0 ^ 0x30) < 10 || $0 == 0x2D || $0 == 0x2E }
    guard isNumber, let number = Decimal(string: text),
      text.utf8.count <= 38 || number.value == attributeValue
    else { return nil }
    self = number
  }
}

extension LocalDate: AttributeElement {
  public var value: AttributeValue { .text(description) }
  public static var attributeDefault: LocalDate { zero }
  public init?(attributeValue: AttributeValue) {
    guard case .text(let text) = attributeValue else { return nil }
    self.init(text)
  }

  /// The first day.
  private static let zero: LocalDate = LocalDate("0001-01-01").unsafelyUnwrapped
}

extension LocalTime: AttributeElement {
  public var value: AttributeValue { .text(description) }
  public static var attributeDefault: LocalTime { midnight }
  public init?(attributeValue: AttributeValue) {
    guard case .text(let text) = attributeValue else { return nil }
    self.init(text)
  }

  private static let midnight: LocalTime = LocalTime("00:00:00").unsafelyUnwrapped
}

extension LocalDateTime: AttributeElement {
  public var value: AttributeValue { .text(description) }
  public static var attributeDefault: LocalDateTime {
    LocalDateTime(date: .attributeDefault, time: .attributeDefault)
  }
  public init?(attributeValue: AttributeValue) {
    guard case .text(let text) = attributeValue else { return nil }
    self.init(text)
  }
}

extension Optional: AttributeConvertible where Wrapped: AttributeConvertible {
  public static var isStructured: Bool { Wrapped.isStructured }
  public var value: AttributeValue { self?.value ?? .null }
  public static var attributeDefault: Wrapped? { nil }
  public init?(attributeValue: AttributeValue) {
    if attributeValue.isNull {
      self = nil
    } else {
      guard let wrapped = Wrapped(attributeValue: attributeValue) else { return nil }
      self = wrapped
    }
  }
}
