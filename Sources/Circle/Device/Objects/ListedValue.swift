import FerryModel

/// A value of an attribute for which the model lists the values, such as `Booking.Cabin`.
///
/// Generated for each such attribute: a static member for each value of the list, and `allCases` in
/// the order of the list. A value that the list does not have is kept as well, because the business
/// system may add values before the app knows them: so a `switch` needs a `default`. Saving a value
/// that is not in the list throws `invalidValue`.
public protocol ListedValue:
  AttributeConvertible, RawRepresentable, Hashable, CaseIterable, CustomStringConvertible
where RawValue: AttributeConvertible & Hashable & CustomStringConvertible {
  /// Takes any value, also one that is not in the list.
  init(_ rawValue: RawValue)
}

extension ListedValue {
  /// Takes any value, also one that is not in the list.
  public init(rawValue: RawValue) { self.init(rawValue) }

  public var value: AttributeValue { rawValue.value }
  public static var attributeDefault: Self { Self(RawValue.attributeDefault) }
  public init?(attributeValue: AttributeValue) {
    guard let raw = RawValue(attributeValue: attributeValue) else { return nil }
    self.init(raw)
  }
  public static func converted(_ value: AttributeValue) -> Self? {
    RawValue.converted(value).map { Self($0) }
  }

  /// The value as the business system has it.
  public var description: String { rawValue.description }
}
