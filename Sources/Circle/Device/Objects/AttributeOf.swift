/// One attribute of one entity with its Swift type: `Order.Attributes.total`.
///
/// Generated for every attribute, so that a query that names none or compares it with a value of
/// another type does not compile.
public struct AttributeOf<Object: BusinessObject, Content: AttributeConvertible>: Sendable, Hashable
{
  /// The attribute's name in the model, which is also the Swift property and the device's column.
  public let name: String
  /// The index in the entity's attributes, with which generated code reads a record.
  public let position: Int

  public init(_ name: String, _ position: Int) {
    self.name = name
    self.position = position
  }
}

/// One relationship from an entity's objects to those of another: `Order.Attributes.lines`.
public struct RelationshipOf<Object: BusinessObject, Target: BusinessObject>: Sendable, Hashable {
  /// The name of the relationship on `Object`.
  public let name: String
  /// If the relationship leads from one object to many: the name of the relationship that leads
  /// back.
  public let inverse: String?

  /// A relationship from many objects to one.
  public init(_ name: String) {
    self.name = name
    inverse = nil
  }

  /// A relationship from one object to all objects whose relationship `inverse` refers to it.
  public init(_ name: String, inverseOf inverse: String) {
    self.name = name
    self.inverse = inverse
  }
}
