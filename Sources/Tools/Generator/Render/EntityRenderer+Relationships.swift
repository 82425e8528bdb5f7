import FerryModel

/// From an object to those that it refers to, and to those that refer to it: each for transactions,
/// and as an asynchronous form that leaves the caller's actor to read.
extension EntityRenderer {
  /// Where a relationship leads, and what changes it.
  func toOne(_ relationship: Relationship) -> [String] {
    [toOne(relationship, .plain), toOne(relationship, .async), setter(relationship)]
      .compactMap { $0 }
  }

  private func toOne(_ relationship: Relationship, _ form: ReadingForm) -> String {
    """
    /// The object that \(relationship.attributes.joined(separator: ", ")) refers to, if it is on the device.\(form.note)
    public \(form.isolation)func \(relationship.name)() \(form.effects) -> \(relationship.target)? {
      \(form.call) record.related(\(SwiftLiteral.text(relationship.name)))
    }
    """
  }

  /// Refers to another object from now on; only where that changes no key.
  private func setter(_ relationship: Relationship) -> String? {
    let positions = relationship.attributes.compactMap(entity.position(of:))
    guard let target = package.entity(named: relationship.target),
      !positions.contains(where: entity.key.contains) || entity.keyOrigin == .app
    else { return nil }
    let isOptional = positions.allSatisfy { entity.attributes[$0].isNullable }
    let name = relationship.name.prefix(1).uppercased() + relationship.name.dropFirst()
    let mark = isOptional ? "?" : ""
    return """
      /// Makes \(relationship.attributes.joined(separator: ", ")) refer to this object; nothing is saved yet.
      /// `objectNotSaved` for a new one, which has no key before `create`.
      public mutating func set\(name)(_ target: \(target.name)\(mark)) throws(Ferry.FerryError) {
        try record.refer(by: \(SwiftLiteral.text(relationship.name)), to: target\(mark).record)
      }
      """
  }

  var inverses: [String] {
    referring.flatMap { other, relationship, inverse in
      [ReadingForm.plain, .async].map { form in
        other.isOneToOne(relationship)
          ? toOther(other, relationship, inverse, form) : toMany(other, relationship, inverse, form)
      }
    }
  }

  private func toOther(
    _ other: Entity, _ relationship: Relationship, _ inverse: String, _ form: ReadingForm
  ) -> String {
    """
    /// The object on the device whose \(relationship.name) is this one, if there is one.\(form.note)
    public \(form.isolation)func \(inverse)() \(form.effects) -> \(other.name)? {
      let found: [\(other.name)] = \(form.call) record.referring(by: \(SwiftLiteral.text(relationship.name)))
      return found.first
    }
    """
  }

  private func toMany(
    _ other: Entity, _ relationship: Relationship, _ inverse: String, _ form: ReadingForm
  ) -> String {
    """
    /// The objects on the device whose \(relationship.name) is this one.\(form.note)
    public \(form.isolation)func \(inverse)() \(form.effects) -> [\(other.name)] {
      \(form.call) record.referring(by: \(SwiftLiteral.text(relationship.name)))
    }
    """
  }

  /// The relationships that lead here and have a name for the way back.
  var referring: [(entity: Entity, relationship: Relationship, inverse: String)] {
    package.entities.flatMap { other in
      other.relationships.compactMap { relationship in
        guard relationship.target == entity.name, let inverse = relationship.inverse else {
          return nil
        }
        return (other, relationship, inverse)
      }
    }
  }
}
