import FerryModel

/// In which order the operations of one chain can be performed. Pure.
///
/// Later edits merge into earlier operations, so the order of the changes is not enough: what is
/// created comes before what refers to it, and what is deleted after what referred to it.
package enum ChainMachine {
  package struct Name: Hashable {
    let entity: String
    let key: ObjectKey

    package init(entity: String, key: ObjectKey) {
      self.entity = entity
      self.key = key
    }
  }

  /// A reference that an operation makes, or one that it ends.
  package struct Reference {
    let target: Name
    /// The attributes that refer.
    let positions: [Int]
    let isMade: Bool

    package init(target: Name, positions: [Int], isMade: Bool) {
      self.target = target
      self.positions = positions
      self.isMade = isMade
    }
  }

  /// One that is performed before another, since `referrer` refers so.
  private struct Edge {
    let before: Int
    let after: Int
    let referrer: Int
    let positions: [Int]
  }

  /// `members` in the order of the changes; kept where nothing speaks against it. `references` has
  /// those of each.
  ///
  /// A circle is cut at a reference that may be empty: a create goes without it, and an update behind
  /// it sets it; before a delete an update empties it. One of the two has the sequence 0: it is new.
  /// Its id follows from that of the other: a device that was set back cuts the circle again, and what
  /// it sends is no other form of what the server knows.
  package static func ordered(
    _ members: [PendingOperation], _ references: [[Reference]], in model: Package,
    partID: (OperationID) -> OperationID = \.part
  ) -> [PendingOperation] {
    guard members.count > 1 else { return members }
    var edges = edges(members, references)
    var emptied: [Int: [Int]] = [:]
    while let circle = circle(edges, members.count) {
      let cut = circle.lazy.compactMap { edge -> (Int, [Int])? in
        let positions = empties(edge, members, model)
        return positions.isEmpty ? nil : (edge.referrer, positions)
      }.first
      guard let (place, positions) = cut else { break }
      emptied[place, default: []] += positions
      edges.removeAll { edge in
        edge.referrer == place && edge.positions.contains(where: positions.contains)
      }
    }
    var before = [[Int]](repeating: [], count: members.count)
    for edge in edges { before[edge.after].append(edge.before) }
    var (first, middle, last): ([PendingOperation], [PendingOperation], [PendingOperation]) =
      ([], [], [])
    for place in walk(before) {
      guard let positions = emptied[place] else {
        middle.append(members[place])
        continue
      }
      let (change, helper) = parted(members[place], positions, partID(members[place].id))
      middle.append(change)
      if change.kind == .create { last.append(helper) } else { first.append(helper) }
    }
    let ordered = first + middle + last
    assert(
      Set(members.map(\.id)).isSubset(of: ordered.map(\.id))
        && Set(ordered.map(\.id)).count == ordered.count,
      "a change was lost or doubled when its chain was put in order")
    return ordered
  }

  private static func edges(
    _ members: [PendingOperation], _ references: [[Reference]]
  ) -> [Edge] {
    var created: [Name: Int] = [:]
    var deleted: [Name: Int] = [:]
    for (index, member) in members.enumerated() {
      let name = Name(entity: member.entity, key: member.key)
      if member.kind == .create { created[name] = index }
      if member.kind == .delete { deleted[name] = index }
    }
    var edges: [Edge] = []
    for (index, own) in references.enumerated() {
      for reference in own {
        let other = reference.isMade ? created[reference.target] : deleted[reference.target]
        guard let other, other != index else { continue }
        edges.append(
          Edge(
            before: reference.isMade ? other : index, after: reference.isMade ? index : other,
            referrer: index, positions: reference.positions))
      }
    }
    return edges
  }

  /// The attributes by which a create or a delete can go without a reference.
  private static func empties(
    _ edge: Edge, _ members: [PendingOperation], _ model: Package
  ) -> [Int] {
    let member = members[edge.referrer]
    guard member.kind != .update, let entity = model.entity(named: member.entity),
      entity.operations.contains(.update)
    else { return [] }
    return edge.positions.filter { entity.attributes[$0].isNullable && !entity.key.contains($0) }
  }

  /// A create or a delete without the references in these attributes, and the update that sets or
  /// empties them. Of one object the order of the sequences is that in which they are performed.
  private static func parted(
    _ member: PendingOperation, _ positions: [Int], _ id: OperationID
  ) -> (PendingOperation, helper: PendingOperation) {
    var change = member
    var helper = PendingOperation(
      sequence: 0, id: id, entity: member.entity, object: member.object, kind: .update,
      key: member.key, isTemporary: member.isTemporary, changed: [:], base: [:],
      chain: member.chain, state: member.state, wanted: member.wanted, counter: member.counter,
      root: member.root, owners: member.owners)
    for position in positions {
      if member.kind == .create {
        helper.changed[position] = change.changed.removeValue(forKey: position)
        helper.base[position] = .null
      } else {
        helper.changed[position] = .null
        helper.base[position] = change.base[position]
        change.base[position] = .null
      }
    }
    if member.kind == .delete { swap(&change.sequence, &helper.sequence) }
    return (change, helper)
  }

  /// The edges of a circle; nil where there is none.
  private static func circle(_ edges: [Edge], _ count: Int) -> [Edge]? {
    var from = [[Edge]](repeating: [], count: count)
    for edge in edges { from[edge.before].append(edge) }
    var isDone = [Bool](repeating: false, count: count)
    for start in 0..<count where !isDone[start] {
      var path: [(place: Int, next: Int)] = [(start, 0)]
      while let (place, next) = path.last {
        guard next < from[place].count else {
          isDone[place] = true
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let edge = from[place][next]
        if let met = path.firstIndex(where: { $0.place == edge.after }) {
          return path[met...].map { from[$0.place][$0.next - 1] }
        }
        if !isDone[edge.after] { path.append((edge.after, 0)) }
      }
    }
    return nil
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

extension OperationID {
  /// The id of what a circle parts from a change with this id. Each id has its own.
  fileprivate var part: OperationID {
    let digits = Array(text)
    let halves = [digits[..<16], digits[16...]].map { UInt64(String($0), radix: 16) ?? 0 }
    let moved = [halves[0] &+ 0xD1B5_4A32_D192_ED03, halves[1] &+ 0x9E37_79B9_7F4A_7C15]
    let text = moved.map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
    return OperationID(text) ?? self
  }
}
