/// One attribute of one entity with its Swift type: `Order.Attributes.total`.
///
/// Generated for every attribute, so that a query that names none or compares it with a value of
/// another type does not compile.
public struct AttributeOf<Object: BusinessObject, Content: AttributeConvertible>: Sendable, Hashable
{
  /// As the model has it, which is the Swift property and the device's column.
  public let name: String
  /// Place in the entity's attributes, by which generated code reads a record.
  public let position: Int

  public init(_ name: String, _ position: Int) {
    self.name = name
    self.position = position
  }
}

/// One way from an entity's objects to those of another: `Order.Attributes.lines`.
public struct RelationshipOf<Object: BusinessObject, Target: BusinessObject>: Sendable, Hashable {
  /// As it is called on `Object`.
  public let name: String
  /// Where it leads from one to many: the name under which each of the many leads back.
  public let inverse: String?

  /// From the many to the one.
  public init(_ name: String) {
    self.name = name
    inverse = nil
  }

  /// From the one to those whose relationship `inverse` leads to it.
  public init(_ name: String, inverseOf inverse: String) {
    self.name = name
    self.inverse = inverse
  }
}
