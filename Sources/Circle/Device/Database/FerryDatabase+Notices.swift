import FerryModel

/// Sessions that the server begins, group by group.
extension FerryDatabase {
  /// Whether and how often the server notifies this device of something new in a synchronization
  /// group. Throws `invalidQuery` for a group that the model does not have.
  public func notices(of group: String) throws(FerryError) -> GroupNotices {
    try checkGroup(group)
    return try store.withSnapshot { transaction throws(FerryError) in
      try GroupNotices.of(group, transaction)
    }
  }

  /// Changes these notices; the choice is kept over restarts, and the server gets it when the
  /// channel opens next, which is soon. It applies to replication-based databases: in a
  /// message-based one the rows arrive by themselves.
  ///
  /// `notAllowed` where the operator's template has locked it, `invalidQuery` for an unknown group,
  /// `invalidValue` for a negative interval.
  public func setNotices(_ notices: GroupNotices, of group: String) throws(FerryError) {
    try checkGroup(group)
    guard notices.intervalMinutes >= 0 else {
      throw FerryError(
        .invalidValue, "\(notices.intervalMinutes) minutes are no interval",
        hint: "Write 0 for notices at once, or more.")
    }
    try store.withTransaction { transaction throws(FerryError) in
      guard try !GroupNotices.of(group, transaction).isLocked else {
        throw FerryError(
          .notAllowed, "notices of the group \(group) are set by the operator",
          hint: "Ask the administrator to change the connection template.")
      }
      try GroupNotices.keep(notices, of: group, transaction)
    }
    act { session in session.noticesChanged() }
  }

  private func checkGroup(_ group: String) throws(FerryError) {
    let groups = store.model.groups.map(\.name)
    guard groups.contains(group) else {
      throw FerryError(
        .invalidQuery, "\(store.model.id) has no synchronization group \(group)",
        hint: NearestWord.cure(group, among: groups))
    }
  }
}
