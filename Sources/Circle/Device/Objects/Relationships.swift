import FerryModel
import FerrySQLite

extension ObjectRecord {
  /// The object that a many-to-one relationship refers to; nil if there is none, or if it is not on
  /// the device. It is read now, unless it was prefetched and the reference is unchanged since.
  public func related<Object: BusinessObject>(_ name: String) throws(FerryError) -> Object? {
    if let there: Object? = known(name) { return there }
    let found: [Object] = try read(Way(to: name, from: entity), "")
    return found.first
  }

  /// The objects that refer to this one by their relationship `name`, in the order of their keys; those
  /// whose key the business system has not given yet come last. Read now, unless they were read
  /// together with this one.
  public func referring<Object: BusinessObject>(by name: String) throws(FerryError) -> [Object] {
    if let there: [Object] = knownReferring(by: name) { return there }
    return try read(Way(back: name, from: Object.entity, to: entity), Object.entity.orderByKey)
  }

  /// What `related` returns without reading: what was prefetched, or nil of a reference to nothing.
  /// `.none` where it must be read.
  func known<Object: BusinessObject>(_ name: String) -> Object?? {
    let way = Way(to: name, from: entity)
    let own = way.key(of: self)
    if let known = prefetched(on: way, own) { return .some(known.first.map(Object.init(record:))) }
    return own.contains(.null) ? .some(nil) : .none
  }

  /// What `referring` returns without reading.
  func knownReferring<Object: BusinessObject>(by name: String) -> [Object]? {
    let way = Way(back: name, from: Object.entity, to: entity)
    return prefetched(on: way, way.key(of: self))?.map(Object.init(record:))
  }

  /// Also of a copy that is older than a key: it leads where the key that replaced its own does.
  private func read<Object: BusinessObject>(
    _ way: Way, _ order: String
  ) throws(FerryError) -> [Object] {
    let store = try store
    let records = Records(store)
    return try records.read { connection throws(SQLiteError) in
      let own = try FormerKeys(store, connection).key(of: self, on: way)
      return try records.objects(
        Object.entity, "WHERE \(matching(way.columns))\(order)", own, connection,
        Object.init(record:))
    }
  }

  /// Sets the relationship to another object by copying its key; nil: it refers to no object.
  ///
  /// Throws `objectNotSaved` if the other object has no key yet: a new object gets one by `create`.
  public mutating func refer(by name: String, to other: ObjectRecord?) throws(FerryError) {
    let way = Way(to: name, from: entity)
    let key = way.columns.map { other?[$0] ?? .null }
    if let other, let missing = zip(way.columns, key).first(where: { $1.isNull })?.0 {
      throw FerryError(
        .objectNotSaved,
        "\(entity.name).\(name) cannot refer to a \(other.entity.name) without \(missing)",
        hint: "Call create on it first: a new object has no key before.", entity: entity.name,
        attribute: name)
    }
    for (position, value) in zip(way.own, key) { values[position] = value }
    prefetched[way.name] = nil
  }

  /// Forgets prefetched objects: the next call reads them again.
  public mutating func clearRelationshipObjects() { prefetched = [:] }
}

/// From an object to others: which of its attributes are equal to which of theirs.
struct Way {
  /// Under which a record keeps what it leads to.
  let name: String
  /// Positions in the entity that it starts from.
  let own: [Int]
  /// Columns of the entity that it leads to.
  let columns: [String]
  /// Types of those.
  let types: [AttributeType]

  /// From the many to the one.
  init(to name: String, from entity: Entity) {
    guard let relationship = entity.relationship(named: name) else {
      preconditionFailure("\(entity.name) has no relationship \(name)")
    }
    self.name = name
    own = relationship.attributes.compactMap(entity.position(of:))
    columns = relationship.targetAttributes
    types = own.map { entity.attributes[$0].type }
  }

  /// From the one to those of `child` whose relationship leads to it.
  init(back name: String, from child: Entity, to entity: Entity) {
    guard let relationship = child.relationship(named: name) else {
      preconditionFailure("\(child.name) has no relationship \(name)")
    }
    self.name = "\(child.name).\(name)"
    own = relationship.targetAttributes.compactMap(entity.position(of:))
    columns = relationship.attributes
    types = own.map { entity.attributes[$0].type }
  }

  func key(of record: ObjectRecord) -> [AttributeValue] { own.map { record.value(at: $0) } }
}

extension Entity {
  /// Puts rows in the order of their keys. New ones, whose key the business system will give, come
  /// last, as they were created.
  var orderByKey: String {
    var order = key.map { quoted(attributes[$0].name) }
    if keyOrigin == .businessSystem {
      order = ["_pending = 'C'", "iif(_pending = 'C', _id, 0)"] + order
    }
    return " ORDER BY \(order.joined(separator: ", "))"
  }
}
