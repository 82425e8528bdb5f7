import Ferry
import FerryModel

// What the app does: `PendingStore` and `ChainSealing.submit`.
extension WalkStep {
  /// A new object; `key` is the app's, where it gives keys. Returns its key.
  @discardableResult
  mutating func create(key own: Int8, referringTo other: Int8) -> Int8 {
    let id = newID()
    let isTemporary = model.kind.keyOrigin == .businessSystem
    let key = isTemporary ? world.freeTemporaryKey : own
    let row = WalkRow(key: key, value: 0, other: other)
    if let hidden = world.device.objects.first(where: { $0.image?.key == key }) ?? deleted(key) {
      recreate(hidden, row, id)
      return key
    }
    let number = newObject()
    var changed = WalkValues(key: key, value: 0)
    if isTemporary { changed.key = WalkValues.absent }
    if other != 0 { changed.other = other }
    set(WalkObject(number: number, visible: row))
    _ = insert(
      WalkOperation(
        id: id, birth: id, object: number, kind: .create, key: key, isTemporary: isTemporary,
        changed: changed, chain: transaction ?? id, counter: counter()))
    return key
  }

  /// The object with this key whose delete is pending, and whose image is not here.
  private func deleted(_ key: Int8) -> WalkObject? {
    let known = world.device.operations.filter { $0.key == key && $0.state != .withdrawn }
    guard let number = known.last?.object,
      PendingMachine.isMadeAgain(by: known.filter { $0.object == number }.map(model.pending))
    else { return nil }
    return object(number)
  }

  /// The key belongs to an object whose delete is pending: it comes back.
  private mutating func recreate(_ hidden: WalkObject, _ row: WalkRow, _ id: UInt8) {
    let known = pending(of: hidden.number)
    if let last = known.last, last.isOpen, last.kind == .delete {
      carryOut(
        PendingMachine.recreate(
          last, after: model.values(row),
          below: hidden.image.map(model.values)
            ?? operation(with: model.number(last.id))
            .flatMap(below).map(model.values)), known,
        hidden.number, row.key)
    } else {
      var changed = WalkValues(key: row.key, value: row.value)
      if row.other != 0 { changed.other = row.other }
      _ = insert(
        WalkOperation(
          id: id, birth: id, object: hidden.number, kind: .create, key: row.key, changed: changed,
          chain: transaction ?? id, counter: counter()))
    }
    show(hidden.number, shown: row)
  }

  mutating func edit(_ number: UInt8, to after: WalkRow) {
    var object = object(number)
    guard let before = object.visible else { return }
    let known = pending(of: number)
    if known.allSatisfy({ $0.state == .withdrawn }), model.has(.forgottenOriginal) {
      object.image = nil
      set(object)
    }
    carryOut(
      PendingMachine.update(
        known, seen: model.values(before), before: model.values(before),
        after: model.values(after), image: object.image.map(model.values)), known, number,
      before.key)
    show(number, shown: after)
  }

  mutating func delete(object number: UInt8) {
    guard let before = object(number).visible else { return }
    let known = operations(of: number)
    var below: WalkRow?
    if let last = known.last, last.isOpen, last.kind == .create {
      below = self.below(last)
      if below == nil { forgetKey(of: last) }
    }
    let pending = known.map(model.pending)
    carryOut(
      PendingMachine.delete(
        pending, before: model.values(before), below: below.map(model.values)), pending, number,
      before.key)
    show(number)
  }

  /// Writes what was decided on the object's operations, which are `known`.
  private mutating func carryOut(
    _ decision: PendingMachine.Decision, _ known: [PendingOperation], _ object: UInt8, _ key: Int8
  ) {
    switch decision {
    case .append(let kind, let changed, let base):
      let id = newID()
      _ = insert(
        WalkOperation(
          id: id, birth: id, object: object, kind: WalkModel.kind(kind), key: key,
          isTemporary: known.contains(where: \.isTemporary), changed: model.some(changed),
          base: model.some(base), chain: transaction ?? id, counter: counter()))
    case .merge(var operation):
      operation.counter = Int64(counter())
      let old = model.number(operation.chain)
      let chain = transaction ?? old
      unite(old, into: chain)
      operation.chain = model.id(chain)
      update(operation)
    case .remove(let operation): letGo(UInt8(operation.sequence))
    case .nothing: break
    }
  }

  /// Discards what is pending of an object.
  mutating func cancel(_ number: UInt8, depth: Int = 0) {
    var creates: [WalkOperation] = []
    for var operation in operations(of: number) {
      if operation.kind == .create, operation.state != .withdrawn {
        creates.append(operation)
        cancelDependents(of: operation, depth: depth)
      }
      if !operation.isInFlight {
        letGo(operation.sequence)
      } else if !isRecalled(operation) {
        operation.state = .withdrawn
        world.isTroubled = true
        update(operation)
      }
    }
    show(number)
    for create in creates { takeBackReferences(to: create) }
  }

  /// Takes back what was sealed and never sent.
  private mutating func isRecalled(_ operation: WalkOperation) -> Bool {
    guard !operation.isSent else { return false }
    let others = world.device.operations.filter {
      $0.chain == operation.chain && $0.sequence != operation.sequence
    }
    guard !others.contains(where: \.isSent) else { return false }
    delete(operation.sequence)
    for var other in others where other.state == .submitted {
      (other.state, other.wanted, other.sealed) = (.waiting, 2, nil)
      update(other)
      show(other.object)
    }
    return true
  }

  /// Nothing is left to send of an operation.
  mutating func letGo(_ sequence: UInt8) {
    guard let place = place(sequence) else { return }
    let operation = world.device.operations[place]
    delete(sequence)
    submitNotTried(with: operation)
  }

  private mutating func submitNotTried(with removed: WalkOperation) {
    let seeds = world.device.operations.filter { $0.chain == removed.chain }
    guard !seeds.isEmpty, PendingMachine.goAgain(seeds.map(model.pending)) else { return }
    let others = chain(of: seeds) { !$0.isInFlight }
    guard PendingMachine.goAgain(others.map(model.pending)) else { return }
    for var member in others {
      member.wanted = 2
      update(member)
    }
  }

  /// Everything that waits and is replayed with these.
  func chain(
    of seeds: [WalkOperation], where test: (WalkOperation) -> Bool
  ) -> [WalkOperation] {
    var members: [WalkOperation] = []
    var queue = seeds
    while let next = queue.popLast() {
      guard !members.contains(where: { $0.sequence == next.sequence }) else { continue }
      members.append(next)
      queue += world.device.operations.filter {
        ($0.chain == next.chain || $0.object == next.object) && test($0)
      }
    }
    return members.sorted { $0.sequence < $1.sequence }
  }

  // References to a new object that is no more.

  /// Cancels the pending creates that refer to a temporary key which will now never be replaced.
  private mutating func cancelDependents(of create: WalkOperation, depth: Int) {
    guard create.isTemporary, depth < 8 else { return }
    let hidden = held(by: create).filter { object($0).visible == nil }
    let found = Set(showing(create.key, [.create]) + hidden)
    for number in found.sorted() where number != create.object {
      let names = operations(of: number).contains {
        $0.kind == .create && $0.changed.other == create.key
      }
      if names { cancel(number, depth: depth + 1) }
    }
  }

  private func showing(_ key: Int8, _ letters: Set<PendingChange>) -> [UInt8] {
    world.device.objects.filter { $0.visible?.other == key && letters.contains(letter($0.number)) }
      .map(\.number)
  }

  /// The objects of which something waits for a create, or as one with it.
  private func held(by create: WalkOperation) -> [UInt8] {
    world.device.operations.filter { operation in
      guard operation.wanted > 0 else { return false }
      return operation.wanted == 2 || operation.chain == create.chain
        || made(by: operation).contains { $0.key == [WalkModel.value(create.key)] }
    }.map(\.object)
  }

  mutating func forgetKey(of create: WalkOperation) {
    guard create.kind == .create else { return }
    cancelDependents(of: create, depth: 0)
    takeBackReferences(to: create)
  }

  /// Pending changes that made other objects refer to the temporary key: the reference is again what
  /// it was before them.
  private mutating func takeBackReferences(to create: WalkOperation) {
    guard create.isTemporary else { return }
    let found = Set(showing(create.key, [.create, .update]) + held(by: create))
    for number in found.sorted() where number != create.object {
      takeBackReference(of: number, to: create.key)
    }
  }

  private mutating func takeBackReference(of number: UInt8, to key: Int8) {
    let (changes, shown) = PendingMachine.takenBack(
      pending(of: number), from: [2: WalkModel.value(key)],
      shown: object(number).visible.map(model.values))
    for found in changes {
      var change = found.operation
      if found.isNothing {
        delete(UInt8(change.sequence))
      } else {
        if found.isTaken { change.counter = Int64(counter()) }
        update(change)
      }
    }
    if changes.contains(where: \.isTaken) { show(number, shown: shown.map(model.row)) }
  }
}

extension WalkWorld {
  /// The highest temporary key that nothing has.
  var freeTemporaryKey: Int8 {
    var used: Set<Int8> = []
    for device in [device, backup ?? WalkDevice()] {
      for operation in device.operations {
        used.formUnion([operation.key, operation.changed.other, operation.base.other])
        if let sealed = operation.sealed {
          used.formUnion([sealed.changed.key, sealed.changed.other, sealed.base.other])
        }
      }
      for object in device.objects {
        used.formUnion([object.visible?.key ?? 0, object.visible?.other ?? 0])
      }
    }
    for entry in stored {
      used.formUnion([
        entry.payload.changed.key, entry.payload.changed.other, entry.payload.base.other,
      ])
    }
    return (1...16).lazy.map { -Int8($0) }.first { !used.contains($0) } ?? -16
  }
}
