import FerryModel

/// In which order the operations of one chain can be performed. Pure.
///
/// Later edits merge into earlier operations, so the order of the changes is not enough: what is
/// created comes before what refers to it, and what is deleted after what referred to it.
package enum ChainMachine {
  /// `members` in the order of the changes; kept where nothing speaks against it.
  package static func ordered(
    _ members: [PendingOperation], in model: Package
  ) -> [PendingOperation] {
    guard members.count > 1 else { return members }
    var created: [Name: Int] = [:]
    var deleted: [Name: Int] = [:]
    for (index, member) in members.enumerated() {
      let name = Name(entity: member.entity, key: member.key)
      if member.kind == .create { created[name] = index }
      if member.kind == .delete { deleted[name] = index }
    }
    // By place: which places come before it.
    var before = [[Int]](repeating: [], count: members.count)
    for (index, member) in members.enumerated() {
      for name in targets(of: member, in: model, \.changed) {
        if let creation = created[name], creation != index { before[index].append(creation) }
      }
      guard member.kind != .create else { continue }
      for name in targets(of: member, in: model, \.base) {
        if let deletion = deleted[name], deletion != index { before[deletion].append(index) }
      }
    }
    return walk(before).map { members[$0] }
  }

  private struct Name: Hashable {
    let entity: String
    let key: Key
  }

  /// The objects that these values refer to by their keys.
  private static func targets(
    of member: PendingOperation, in model: Package,
    _ values: KeyPath<PendingOperation, [Int: Value]>
  ) -> [Name] {
    guard let entity = model.entity(named: member.entity) else { return [] }
    return entity.relationships.compactMap { relationship in
      let own = relationship.attributes.compactMap { name in
        entity.position(of: name).flatMap { member[keyPath: values][$0] }
      }
      guard own.count == relationship.attributes.count else { return nil }
      return Name(entity: relationship.target, key: Key(own))
    }
  }

  /// Each place after those that come before it; a circle is cut where it is met.
  private static func walk(_ before: [[Int]]) -> [Int] {
    var order: [Int] = []
    var seen = [Bool](repeating: false, count: before.count)
    for start in before.indices where !seen[start] {
      seen[start] = true
      var stack: [(place: Int, next: Int)] = [(start, 0)]
      while let (place, next) = stack.last {
        if next < before[place].count {
          stack[stack.count - 1].next += 1
          let earlier = before[place][next]
          if !seen[earlier] {
            seen[earlier] = true
            stack.append((earlier, 0))
          }
        } else {
          order.append(place)
          stack.removeLast()
        }
      }
    }
    return order
  }
}
