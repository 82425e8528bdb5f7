import Ferry
import FerryModel

/// What the app was told, and what the device has.
extension DeviceWatch {
  /// Invariant 1: what the app was told is done is there and nothing else has changed; where it was
  /// told that nothing was done, or took it back, all is as before; after a crash it is one of both.
  func checkDeeds(_ current: [Int64: PendingOperation], _ snapshot: Snapshot) throws {
    guard case .app = cause else { return }
    let isAsBefore = current == operations
    switch deeds.end {
    case .died where isAsBefore: return
    case .died, .done: break
    case .undone:
      guard !isAsBefore else { return }
      throw failure(1, "the app was told that nothing was done, and \(changes(current))")
    }
    guard !deeds.isEmpty else {
      if isAsBefore { return }
      throw failure(1, "the app took all back, and \(changes(current))")
    }
    try checkUntouched(current)
    try checkMade(current)
    for (object, values) in deeds.shown.sorted(by: { $0.key.text < $1.key.text }) {
      try checkShown(object, values, snapshot.row(object))
    }
    try checkCancelled(current)
    try checkSubmitted(current)
  }

  /// What was not changed is what it was; it may go another way, with others or sooner.
  func checkUntouched(_ current: [Int64: PendingOperation]) throws {
    let mayMove = deeds.submitted != nil || !deeds.cancelled.isEmpty
    let unmade = deeds.submitted == nil ? [] : unmade(current)
    for (sequence, old) in operations.sorted(by: { $0.key < $1.key })
    where !deeds.touched.contains(old.name) && !isTaken(old) {
      let lost = references(of: old, to: unmade)
      if isUnmade(old, unmade), current[sequence] == nil { continue }
      if try isJoined(old, current) { continue }
      guard let new = current[sequence] else {
        throw failure(1, "\(shown(old)) is gone and the app did not touch it")
      }
      let isSame =
        new.id == old.id && new.kind == old.kind && new.key == old.key
        && new.changed == old.changed.filter { !lost.contains($0.key) }
        && (new.base == old.base || !lost.isEmpty)
        && new.isTemporary == old.isTemporary && (new.state == old.state || mayMove)
      guard isSame else {
        throw failure(1, "\(shown(old)) became \(shown(new)) and the app did not touch it")
      }
    }
    for (sequence, new) in current.sorted(by: { $0.key < $1.key })
    where operations[sequence] == nil && !deeds.touched.contains(new.name) && !isMade(new) {
      throw failure(1, "\(shown(new)) is there and the app did not make it")
    }
  }

  /// Creates that left nothing, since they were to be sent with their deletes; those that named them
  /// went with them, and so on.
  func unmade(_ current: [Int64: PendingOperation]) -> [PendingOperation] {
    let gone = operations.values.filter { current[$0.sequence] == nil && !$0.isInFlight }
    let creates = gone.filter { $0.kind == .create }.sorted { $0.sequence < $1.sequence }
    var unmade = creates.filter { create in
      gone.contains { $0.kind == .delete && $0.name == create.name }
    }
    for create in creates where !references(of: create, to: unmade).isEmpty {
      unmade.append(create)
    }
    return unmade
  }

  /// Whether it is of one of these new objects, or names one.
  func isUnmade(_ operation: PendingOperation, _ unmade: [PendingOperation]) -> Bool {
    // What is on its way ends with its answer.
    guard !operation.isInFlight else { return false }
    let named = references(of: operation, to: unmade)
    // What else an update has changed stays.
    return unmade.contains { $0.name == operation.name }
      || !named.isEmpty
        && (operation.kind != .update || named.isSuperset(of: operation.changed.keys))
  }

  /// Positions of the attributes by which a change refers to one of these new objects.
  private func references(
    of operation: PendingOperation, to creates: [PendingOperation]
  ) -> Set<Int> {
    var positions: Set<Int> = []
    let model = SimulatedBusiness.package
    guard !creates.isEmpty, let entity = model.entity(named: operation.entity) else { return [] }
    for relationship in entity.relationships {
      let places = relationship.attributes.compactMap(entity.position(of:))
      let values = places.compactMap { operation.changed[$0] }
      let isNamed = creates.contains {
        $0.entity == relationship.target && $0.key == ObjectKey(values)
          && ($0.isTemporary || values.contains(where: isTemporary))
      }
      if isNamed { positions.formUnion(places) }
    }
    return positions
  }

  /// Whether it is one of the changes that are one since the app submitted: the one that waits for an
  /// answer, and what the app changed since. All are looked at with the first.
  private func isJoined(
    _ old: PendingOperation, _ current: [Int64: PendingOperation]
  ) throws -> Bool {
    guard deeds.submitted != nil,
      let join = JoinCheck(of: old, before: operations.values, now: current)
    else { return false }
    guard old == join.first else { return true }
    let new = current[old.sequence]
    guard join.allows(new) else {
      let all = join.changes.map(shown).joined(separator: " and ")
      throw failure(1, "\(all) became \(new.map(shown) ?? "nothing")")
    }
    return true
  }

  /// Whether it is what the app was making when its process died.
  private func isMade(_ new: PendingOperation) -> Bool {
    guard let making = deeds.making, case .died = deeds.end else { return false }
    return new.entity == making.entity.name && new.kind == .create
  }

  /// Whether it is the delete of the object that the app was making again when its process died.
  private func isTaken(_ old: PendingOperation) -> Bool {
    guard let making = deeds.making, case .died = deeds.end else { return false }
    return old.entity == making.entity.name && old.kind == .delete
      && old.key == making.entity.key(of: making.values)
  }

  private func checkMade(_ current: [Int64: PendingOperation]) throws {
    guard let making = deeds.making else { return }
    for (sequence, new) in current.sorted(by: { $0.key < $1.key })
    where operations[sequence] == nil && isMade(new) {
      for (position, value) in making.given.sorted(by: { $0.key < $1.key })
      where new.changed[position] != value {
        throw failure(
          1, "\(shown(new)) is there without \(making.entity.attributes[position].name)")
      }
    }
  }

  private func checkShown(
    _ object: ObjectNumber, _ values: [Int: AttributeValue]?, _ row: VisibleRow?
  ) throws {
    guard let values else {
      // A create is taken back by its delete: what others made under the key shows again.
      let isImage =
        row?.pending == PendingChange.none
        && operations.values.contains {
          $0.name == object && $0.isOpenCreate
        }
      if row == nil || isImage { return }
      throw failure(1, "\(object.text) was deleted and is visible")
    }
    guard let row else { throw failure(1, "\(object.text) was saved and is not visible") }
    for (position, value) in values.sorted(by: { $0.key < $1.key })
    where row.values[position] != value {
      throw failure(
        1,
        "\(object.text) was saved with \(value.shown) and shows \(row.values[position].shown)")
    }
  }

  private func checkCancelled(_ current: [Int64: PendingOperation]) throws {
    let left = current.values.sorted { $0.sequence < $1.sequence }.first {
      deeds.cancelled.contains($0.name) && $0.state != .withdrawn
    }
    if let left { throw failure(1, "\(shown(left)) was cancelled") }
  }

  /// What waited of these is sent, or wanted where something must be answered first.
  private func checkSubmitted(_ current: [Int64: PendingOperation]) throws {
    guard let submitted = deeds.submitted else { return }
    for (sequence, old) in operations.sorted(by: { $0.key < $1.key }) where old.isOpen {
      switch submitted {
      case .object(let object): if old.name != object { continue }
      case .all(let entity): if old.entity != entity { continue }
      }
      guard let new = current[sequence], new.isOpen else { continue }
      if deeds.stays, together(with: new, current).contains(where: { refersToNobody($0, current) })
      {
        continue
      }
      throw failure(1, "\(shown(old)) was submitted and waits")
    }
  }

  /// What waits and is replayed as one with a change: its chain, its graph, the chains of these, and
  /// so on.
  private func together(
    with change: PendingOperation, _ current: [Int64: PendingOperation]
  ) -> [PendingOperation] {
    var rest = current.values.filter { !$0.isInFlight && $0.sequence != change.sequence }
    var found = [change]
    var place = 0
    while place < found.count {
      let one = found[place]
      found += rest.filter { $0.chain == one.chain || $0.root == one.root }
      rest.removeAll { $0.chain == one.chain || $0.root == one.root }
      place += 1
    }
    return found
  }

  /// Whether it refers by a temporary key to a new object that is no more.
  private func refersToNobody(
    _ operation: PendingOperation, _ current: [Int64: PendingOperation]
  ) -> Bool {
    guard let entity = SimulatedBusiness.package.entity(named: operation.entity) else {
      return false
    }
    return entity.relationships.contains { (relationship: Relationship) -> Bool in
      let values: [AttributeValue] = relationship.attributes.compactMap { name in
        entity.position(of: name).flatMap { operation.changed[$0] }
      }
      guard values.contains(where: isTemporary) else { return false }
      return !current.values.contains {
        $0.kind == .create && $0.entity == relationship.target && $0.key == ObjectKey(values)
      }
    }
  }

  /// Whether only the device has given it: a line has the one of its new order.
  private func isTemporary(_ value: AttributeValue) -> Bool {
    if case .integer(let number) = value { number < Int64.min / 2 } else { false }
  }

  /// The first of what is other than before.
  private func changes(_ current: [Int64: PendingOperation]) -> String {
    for sequence in Set(current.keys).union(operations.keys).sorted()
    where current[sequence] != operations[sequence] {
      let old = operations[sequence].map(shown) ?? "nothing"
      let new = current[sequence].map(shown) ?? "nothing"
      return "\(old) became \(new)"
    }
    return "nothing changed"
  }
}
