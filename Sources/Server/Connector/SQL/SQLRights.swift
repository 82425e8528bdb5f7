public import FerryModel

/// The rights on tables that replay needs, and no more.
public enum SQLRights {
  /// A row is locked before it is changed or deleted, for which UPDATE is needed.
  public static func privileges(_ entity: Entity) -> Set<String> {
    var privileges: Set<String> = ["SELECT"]
    if entity.operations.contains(.create) { privileges.insert("INSERT") }
    if entity.operations.contains(.update) { privileges.insert("UPDATE") }
    if entity.operations.contains(.delete) { privileges.formUnion(["UPDATE", "DELETE"]) }
    return privileges
  }

  /// Rows that decide the partition of rows which devices change are locked while that is judged.
  public static func parentsThatDecide(_ package: Package) -> [Entity] {
    var parents: [Entity] = []
    for entity in package.served.entities where !entity.operations.isEmpty {
      var child = entity
      var seen: Set<String> = []
      while case .through(let name)? = child.partition, seen.insert(child.name).inserted,
        let relationship = child.relationships.first(where: { $0.name == name }),
        let parent = package.entity(named: relationship.target)
      {
        parents.append(parent)
        child = parent
      }
    }
    return parents
  }

  /// By table, all that a package needs.
  public static func byTable(_ package: Package) -> [String: Set<String>] {
    var rights: [String: Set<String>] = [:]
    for entity in package.served.entities where !entity.isOperation {
      rights[entity.table, default: []].formUnion(privileges(entity))
    }
    for parent in parentsThatDecide(package) { rights[parent.table]?.insert("UPDATE") }
    return rights
  }
}
