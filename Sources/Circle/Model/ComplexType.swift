/// A value of several parts that an attribute can have: an address, an amount with its currency.
///
/// It stands in one column as JSON, and has no key and no life of its own.
public struct ComplexType: Sendable, Hashable {
  /// An identifier: the name of the Swift type.
  public let name: String
  /// Its parts, which have a name, a type and their limits; they stand in no column of their own,
  /// and `column` is the name.
  public let attributes: [Attribute]

  public init(name: String, attributes: [Attribute]) {
    self.name = name
    self.attributes = attributes
  }
}
