import FerryModel
import FerrySQLite

extension Record {
  /// The object that a many-to-one relationship leads to; nil when it refers to none, or to one
  /// that is not on the device.
  public func related<Object: BusinessObject>(_ name: String) throws(FerryError) -> Object? {
    guard let relationship = entity.relationship(named: name) else {
      preconditionFailure("\(entity.name) has no relationship \(name)")
    }
    let own = relationship.attributes.compactMap { self[$0] }
    guard !own.contains(.null) else { return nil }
    return try store.records(
      Object.entity, "WHERE \(matching(relationship.targetAttributes))", own
    ).first.map(Object.init(record:))
  }

  /// The objects that refer to this one by their relationship `name`, by their surrogate keys.
  public func referring<Object: BusinessObject>(by name: String) throws(FerryError) -> [Object] {
    guard let relationship = Object.entity.relationship(named: name) else {
      preconditionFailure("\(Object.entity.name) has no relationship \(name)")
    }
    let own = relationship.targetAttributes.compactMap { self[$0] }
    return try store.records(
      Object.entity, "WHERE \(matching(relationship.attributes)) ORDER BY _id", own
    ).map(Object.init(record:))
  }
}
