import FerryModel

/// A personalization key of the package, with its name and type; generated packages declare their
/// keys.
public struct PersonalizationKey<Member: AttributeConvertible>: Sendable {
  public let name: String

  public init(_ name: String) { self.name = name }
}

extension FerryDatabase {
  // Synchronization parameters.

  /// Saves a set of parameters: the next synchronization also brings the rows that it asks for.
  /// Several sets bring the union of their rows; saving the same set twice changes nothing.
  ///
  /// `unknownName` for a parameter that the model does not have, `invalidValue` for a value of another
  /// type, `tooLarge` for a set more than the 200 that are taken, or more bytes
  /// than `hello` carries; a user's claims may allow fewer values than the model, which
  /// then bring nothing.
  public func save(_ parameters: some SynchronizationParameters) throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try ParameterTable(transaction).save(parameters.parameterSet)
    }
    if isNew { parametersChanged() }
  }

  /// Removes a saved set. With the next synchronization, rows that no other set asks for leave the
  /// device; pending changes stay.
  public func remove(_ parameters: some SynchronizationParameters) throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try ParameterTable(transaction).remove(parameters.parameterSet)
    }
    if isNew { parametersChanged() }
  }

  /// Removes all saved sets; each parameter has its default again.
  public func purgeParameters() throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try ParameterTable(transaction).removeAll()
    }
    if isNew { parametersChanged() }
  }

  /// The saved sets, in the order in which they were saved.
  public func savedParameters() throws(FerryError) -> [ParameterSet] {
    try store.withSnapshot { transaction throws(FerryError) in
      try ParameterTable(transaction).sets().map(\.set)
    }
  }

  /// The saved sets in the package's own type, in the order in which they were saved:
  /// `try database.savedParameters(as: Travel.SynchronizationParameters.self)`.
  public func savedParameters<Saved: SynchronizationParameters>(
    as type: Saved.Type
  ) throws(FerryError) -> [Saved] {
    try savedParameters().map(Saved.init)
  }

  // Personalization keys.

  /// The value of a personalization key; its default where none was set.
  public func value<Member>(of key: PersonalizationKey<Member>) throws(FerryError) -> Member {
    let value = try store.withSnapshot { transaction throws(FerryError) in
      try ParameterTable(transaction).personalization(key.name)
    }
    return Member(value: value)
  }

  /// Sets a personalization key; nil as an optional type restores the default. The value of a key
  /// of the kind server reaches all of the user's devices with their next synchronization.
  ///
  /// `unknownName` for a key that the model does not have, `invalidValue` for a value of another type,
  /// `tooLarge` if keys and parameters would have more than 65,536 bytes; nothing is changed then.
  public func set<Member>(
    _ key: PersonalizationKey<Member>, to member: Member
  ) throws(FerryError) {
    let isNew = try store.withTransaction { transaction throws(FerryError) in
      try ParameterTable(transaction).setPersonalization(key.name, member.value)
    }
    if isNew { parametersChanged() }
  }
}
