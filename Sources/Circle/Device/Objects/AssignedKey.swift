import FerryModel

/// A key that the business system assigns, or a reference to such a key.
///
/// A new object has no final key until the business system accepts it. Until then `assigned` is nil,
/// and the description is `new`, so that a temporary key never reaches a screen. The value can be used
/// all the same: it finds the object, and other objects can refer to it.
///
/// ```swift
/// let visit = try await Visit(customerID: 7, note: "first call", in: database).save()
/// print(visit.visitID)                      // new
/// let line = Line(visitID: visit.visitID, text: "a lift", in: database)
/// if let number = visit.visitID.assigned { print("visit \(number)") }
/// ```
/// A copy that was read before the business system assigned the key keeps what it has: read the object
/// again, or follow it with `live`.
public struct AssignedKey<Key: AttributeConvertible & Hashable & CustomStringConvertible>:
  AttributeConvertible, Hashable, CustomStringConvertible
{
  /// What the device stores: the assigned key, or a temporary one.
  public let value: AttributeValue

  /// A key that is known, for example from a link.
  public init(_ key: Key) { value = key.value }

  package init(value: AttributeValue) { self.value = value }

  public init?(attributeValue: AttributeValue) {
    switch attributeValue {
    case .integer, .text: value = attributeValue
    default: return nil
    }
  }

  /// A key that the business system has not assigned.
  public static var attributeDefault: Self { Self(value: .null) }

  public static func converted(_ value: AttributeValue) -> Self? {
    value.isNull ? Self(value: value) : Key.converted(value).map { Self($0) }
  }

  /// The key; nil until the business system assigns it.
  public var assigned: Key? {
    value.isNull || Self.isTemporary(value) ? nil : Key(value: value)
  }

  /// The key as a text, and `new` until the business system assigns it.
  public var description: String { assigned?.description ?? "new" }
}

extension AssignedKey {
  private static func isTemporary(_ value: AttributeValue) -> Bool {
    let type: AttributeType = if case .text = value { .string } else { .long }
    return type.isTemporaryKey(value)
  }
}

/// Assigned keys in their order, and after them those that are not assigned yet.
extension AssignedKey: Comparable where Key: Comparable {
  public static func < (left: Self, right: Self) -> Bool {
    switch (left.assigned, right.assigned) {
    case (let left?, let right?): left < right
    case (_?, nil): true
    case (nil, _?): false
    case (nil, nil): ObjectKey([left.value]) < ObjectKey([right.value])
    }
  }
}

extension AssignedKey: ExpressibleByIntegerLiteral where Key: ExpressibleByIntegerLiteral {
  public init(integerLiteral key: Key.IntegerLiteralType) { self.init(Key(integerLiteral: key)) }
}

extension AssignedKey: ExpressibleByUnicodeScalarLiteral where Key == String {
  public init(unicodeScalarLiteral key: String) { self.init(key) }
}

extension AssignedKey: ExpressibleByExtendedGraphemeClusterLiteral where Key == String {
  public init(extendedGraphemeClusterLiteral key: String) { self.init(key) }
}

extension AssignedKey: ExpressibleByStringLiteral where Key == String {
  public init(stringLiteral key: String) { self.init(key) }
}
