import FerryServer

/// What an operator may do in the control center; each may do what those before it may.
package enum AdminRole: String, Sendable, Comparable, CaseIterable {
  /// Looks, without the values of business rows.
  case viewer
  /// Sees values, and decides about operations.
  case `operator`
  /// Decides about devices and loads.
  case administrator

  private var rank: Int { AdminRole.allCases.firstIndex(of: self) ?? 0 }

  package static func < (left: AdminRole, right: AdminRole) -> Bool { left.rank < right.rank }
}

/// Somebody who has proved to be an operator.
package struct Operator: Sendable, Equatable {
  package let name: String
  package let role: AdminRole
  /// Differs once the sessions have to end.
  package let stamp: String

  package init(name: String, role: AdminRole, stamp: String = "") {
    self.name = name
    self.role = role
    self.stamp = stamp
  }

  /// Nil where the user has no role of the control center.
  init?(_ record: UserRecord) {
    guard let role = record.roles.compactMap(AdminRole.init).max() else { return nil }
    self.init(name: record.name, role: role, stamp: record.stamp)
  }
}
