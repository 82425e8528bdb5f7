import FerryModel

/// A row that the business system holds but the model cannot take.
public struct RejectedRow: Sendable, Equatable {
  public let entity: String
  /// The key as far as it can be told.
  public let key: String
  public let attribute: String
  /// What is wrong and what to do.
  public let reason: String

  public init(entity: String, key: String, attribute: String, reason: String) {
    self.entity = entity
    self.key = key
    self.attribute = attribute
    self.reason = reason
  }
}

extension RejectedRow {
  /// Nil where the values are a row of the entity: as many, canonical, and null only where the model
  /// allows it.
  public init?(_ values: [AttributeValue], of entity: Entity, key: ObjectKey) {
    func row(_ attribute: String, _ reason: String) -> RejectedRow {
      RejectedRow(entity: entity.name, key: key.text, attribute: attribute, reason: reason)
    }
    guard values.count == entity.attributes.count else {
      self = row("", "it has \(values.count) values; the model has \(entity.attributes.count)")
      return
    }
    for (attribute, value) in zip(entity.attributes, values) {
      if value.isNull, !attribute.isNullable {
        self = row(
          attribute.name, "it is null; let the model allow null, or correct the row")
        return
      }
      if attribute.type.canonical(value) != value {
        self = row(attribute.name, "\(value.shown) is not a canonical \(attribute.type.rawValue)")
        return
      }
    }
    return nil
  }

  /// A row of an SQL table whose column `place` has what the attribute at `position` cannot take.
  /// `shown`: the value for people, nil for NULL. `keyValues`: nil where a part of the key does not
  /// fit either.
  public init(
    _ entity: Entity, keyValues: [AttributeValue?], at position: Int, shown: String?, place: String
  ) {
    let type = entity.attributes[position].type
    let reason =
      if let shown {
        type.isBig
          ? "it is no \(type.rawValue), but \(shown); correct it in \(place)"
          : "\(shown) is no \(type.rawValue); correct it in \(place), "
            + "or make the attribute a string in the model"
      } else {
        "it is empty and the model says it never is; fill it in \(place), "
          + "or make the attribute nullable in the model"
      }
    self.init(entity, keyValues: keyValues, at: position, reason: reason)
  }

  public init(
    _ entity: Entity, keyValues: [AttributeValue?], at position: Int, reason: String
  ) {
    self.init(
      entity: entity.name, key: ObjectKey(keyValues.compactMap { $0 }).text,
      attribute: entity.attributes[position].name, reason: reason)
  }
}
