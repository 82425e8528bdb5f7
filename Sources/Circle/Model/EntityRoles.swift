/// What a role may be needed for.
public enum Permission: String, Sendable, Hashable, CaseIterable {
  /// To have the entity's objects on a device, and to change them at all.
  case read
  case create, update, delete
  /// To perform an operation of the business system (`performs`).
  case perform
}

/// The roles that may do something with the objects of an entity.
///
/// Roles come on top of partitions: who has the role still needs the object in a partition of their
/// own. Names are compared byte for byte.
public struct EntityRoles: Sendable, Hashable {
  private let named: [Permission: [String]]

  /// Permissions that are left out need no role.
  public init(_ named: [Permission: [String]] = [:]) { self.named = named }

  /// Users who have one of these may do it; nil where it takes no role of its own.
  public subscript(permission: Permission) -> [String]? { named[permission] }

  /// Whether the model names no role for anything.
  public var isEmpty: Bool { named.isEmpty }

  /// All that are named, in the order of the permissions, each once.
  package var all: [String] {
    var seen: Set<ExactText> = []
    return Permission.allCases.flatMap { named[$0] ?? [] }.filter {
      seen.insert(ExactText($0)).inserted
    }
  }
}

extension Entity {
  /// The permission that an operation of this kind takes.
  public func permission(for kind: OperationKind) -> Permission {
    switch kind {
    case .create: isOperation ? .perform : .create
    case .update: .update
    case .delete: .delete
    }
  }
}
