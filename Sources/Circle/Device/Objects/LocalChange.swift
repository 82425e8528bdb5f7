import FerryModel

/// What the app did to one object inside a transaction.
package struct LocalChange: Equatable {
  package let entity: Entity
  package let kind: OperationKind
  /// Nil for a create.
  package let object: Int64?
  /// What the app saw before: the object at its last load or save. What differs in `after` is what
  /// the app changed, and nothing else is; an import may have changed the row since.
  package var seen: [AttributeValue]
  /// Nil for a delete.
  package var after: [AttributeValue]?
  /// It was created before, under this temporary key, by a transaction that was undone.
  package var keepsTemporaryKey: Bool = false

  /// The object's values as they are now with what the app changed: its copy may be older. Nil for a
  /// delete.
  func applied(to now: [AttributeValue]) -> [AttributeValue]? {
    guard let after else { return nil }
    return now.indices.map { after[$0] != seen[$0] ? after[$0] : now[$0] }
  }
}

extension ObjectRecord {
  /// Checks what is to be saved against the model: every attribute of a new object, and those of
  /// another that the app changed.
  package func change(_ kind: OperationKind) throws(FerryError) -> LocalChange {
    guard entity.operations.contains(kind) else {
      throw FerryError(
        .operationNotAllowed, "the model allows no \(kind.rawValue) of \(entity.name)",
        hint: "Add the operation to the model if the business system may take it.",
        entity: entity.name)
    }
    guard kind != .delete else {
      return LocalChange(entity: entity, kind: kind, object: object, seen: loaded, after: nil)
    }
    var after = values
    let seen = loaded
    let types = try store.model.complexTypes
    for (position, attribute) in entity.attributes.enumerated() {
      let (value, misfit) = AttributeCheck.canonical(
        after[position], of: attribute, types: types,
        isGiven: entity.isGiven(position))
      // What the app left as it was is not its fault: a newer model may ask for more, and the
      // business system may have values that no list has yet.
      if kind == .create || value != seen[position] {
        let misfit = misfit ?? AttributeCheck.unlisted(value, attribute)
        if let misfit { throw invalid(attribute, value, misfit) }
      }
      after[position] = value
    }
    return LocalChange(
      entity: entity, kind: kind, object: object, seen: seen, after: after,
      keepsTemporaryKey: undoneKeyIsTemporary ?? false)
  }

  private func invalid(
    _ attribute: Attribute, _ value: AttributeValue, _ misfit: AttributeCheck
  ) -> FerryError {
    let place = attribute.name + misfit.part
    // The key of an object that was never saved is the usual reason.
    let isReference = entity.relationships.contains { $0.attributes.contains(attribute.name) }
    return FerryError(
      .invalidValue, "\(entity.name).\(place) cannot be saved: \(misfit.problem)",
      hint: isReference && value.isNull
        ? "Set the key of an object. A new object has one after its first save." : misfit.cure,
      entity: entity.name, attribute: place)
  }
}
