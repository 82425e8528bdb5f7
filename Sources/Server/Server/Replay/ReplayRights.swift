import FerryConnector
import FerryModel

/// Judges by the cache, before the business system is asked, whether a chain may be performed: what
/// the model allows, and that each object lies in the user's partitions before and after. The row
/// itself is judged in the business transaction (`JudgedRights.judge`).
struct ReplayRights {
  let cache: CacheReader
  /// The user's rights for each operation.
  let rights: [JudgedRights]
  /// Places of objects that the chain itself creates, by how children call them.
  private var created: [Parent: Place] = [:]

  /// How the children of one relationship call a parent.
  private struct Parent: Hashable {
    /// Position of the parent's entity in the package.
    let entity: Int
    /// The attributes by which it is called.
    let attributes: [Int]
    let key: ObjectKey
  }

  init(cache: CacheReader, rights: [JudgedRights]) {
    self.cache = cache
    self.rights = rights
  }

  /// The first of the open operations that may not be performed, and why. Each is judged by the
  /// rights with which it arrived and by those of now: what a later member of its group arrived with
  /// does not count.
  mutating func refusal(
    _ operations: [ConnectorOperation], open: Set<Int>
  ) throws(StoreError) -> (Int, Refusal)? {
    for (index, operation) in operations.enumerated() {
      if let refusal = try refusal(operation, rights[index]), open.contains(index) {
        return (index, refusal)
      }
    }
    return nil
  }

  private mutating func refusal(
    _ operation: ConnectorOperation, _ rights: JudgedRights
  ) throws(StoreError) -> Refusal? {
    let entity = operation.entity
    guard rights.isUserThere else {
      return Refusal(code: 403, message: "This user may no longer change anything.")
    }
    guard entity.operations.contains(operation.kind) else {
      return Refusal(
        code: 405, message: "\(entity.name) has no \(operation.kind.rawValue) operation.")
    }
    if let refusal = rights.missingRole(for: operation.kind, of: entity) { return refusal }
    guard let position = cache.rules.position(of: entity.name) else {
      return Refusal(code: 422, message: "There is no entity \(entity.name).")
    }
    var values = [AttributeValue](repeating: .null, count: entity.attributes.count)
    if operation.kind != .create {
      // A row that is not there is refused as one of somebody else is, so that keys cannot be
      // tried; only who had it last is told that it was deleted.
      guard let key = operation.key, let row = try cache.row(RowName(position, key)) else {
        return .notTheUsers(entity)
      }
      let numbers =
        row.isDeleted
        ? try cache.store.partitions(ofRow: row.id) : [row.partition].compactMap { $0 }
      var isTheUsers = false
      for number in numbers {
        guard let place = try cache.place(of: number) else { continue }
        isTheUsers = isTheUsers || rights.include(place)
      }
      guard isTheUsers else { return .notTheUsers(entity) }
      guard !row.isDeleted else {
        return Refusal(code: 404, message: "There is no \(entity.name) \(key.text).")
      }
      values = try cache.values(of: row)
    }
    guard operation.kind != .delete else { return nil }
    for (index, value) in operation.changed where values.indices.contains(index) {
      values[index] = value
    }
    if operation.kind == .create, let key = operation.key?.values(of: entity) {
      for (index, value) in zip(entity.key, key) { values[index] = value }
    }
    var place = createdPlace(position, values)
    if place == nil { place = try cache.place(of: position, values: values) }
    guard let place, rights.include(place) else { return .notTheUsers(entity) }
    if operation.kind == .create { remember(position, values, place) }
    return nil
  }

  private func createdPlace(_ position: Int, _ values: [AttributeValue]) -> Place? {
    guard cache.rules.windows.include(position, values),
      case .parent(let path) = cache.rules.rules[position].path,
      let name = path.parentKey(of: values),
      let place = created[
        Parent(entity: path.target, attributes: path.targetPositions, key: name)]
    else { return nil }
    return cache.rules.place(of: position, at: place)
  }

  private mutating func remember(_ position: Int, _ values: [AttributeValue], _ place: Place) {
    for child in cache.rules.children[position] {
      guard case .parent(let path) = cache.rules.rules[child].path, let name = path.name(of: values)
      else { continue }
      let parent = Parent(entity: path.target, attributes: path.targetPositions, key: name)
      created[parent] = place
    }
  }
}
