import Ferry
import FerryModel

// What the device does with answers and rows: `AnswerTaker`, `Rekey`, `Import`.
extension WalkStep {
  /// The answers that concern operations of this device.
  private func answered() -> [(WalkOperation, WalkStored)] {
    world.device.operations.compactMap { operation in
      guard operation.isInFlight, operation.isSent,
        let entry = world.stored.first(where: { $0.payload.id == operation.id }),
        entry.state != .stored
      else { return nil }
      return (operation, entry)
    }
  }

  /// A whole import: keys, rows, answers, and what may be sealed now.
  mutating func importAll() {
    let known = answered()
    for (operation, entry) in known where entry.outcome == .accepted && operation.kind == .create {
      rekey(operation.object, from: operation.key, to: entry.key)
    }
    var touched: Set<UInt8> = []
    for row in world.cache { enter(row, &touched) }
    for object in world.device.objects {
      guard let image = object.image, !world.cache.contains(where: { $0.key == image.key }) else {
        continue
      }
      var left = object
      left.image = nil
      if operations(of: object.number).isEmpty {
        left.visible = nil
      } else {
        touched.insert(object.number)
      }
      set(left)
    }
    touched.formUnion(take(known))
    for number in touched.sorted() { show(number) }
    sealWanted()
  }

  private mutating func enter(_ row: WalkRow, _ touched: inout Set<UInt8>) {
    guard var object = holder(of: row.key) else {
      set(WalkObject(number: newObject(), visible: row, image: row))
      return
    }
    guard object.image != row else { return }
    object.image = row
    if operations(of: object.number).isEmpty {
      object.visible = row
    } else {
      touched.insert(object.number)
    }
    set(object)
  }

  /// The object with this key, whether its image is here or not.
  private func holder(of key: Int8) -> WalkObject? {
    if let known = world.device.objects.first(where: { $0.image?.key == key }) { return known }
    if let shown = world.device.objects.first(where: { $0.visible?.key == key }) { return shown }
    return world.device.operations.first { $0.key == key && $0.state != .withdrawn }
      .map { object($0.object) }
  }

  /// Ends the answered operations; returns the objects that they are of.
  mutating func take(_ known: [(WalkOperation, WalkStored)]) -> Set<UInt8> {
    var touched: Set<UInt8> = []
    var gone: [WalkOperation] = []
    for (taken, entry) in known {
      guard let operation = operation(with: taken.id) else { continue }
      touched.insert(operation.object)
      switch entry.state == .unknown ? .none : entry.outcome {
      case .accepted: accept(operation, entry)
      case .refused: gone += reopen(operation, as: .replayFailed)
      case .notTried: gone += reopen(operation, as: .waiting)
      case .none:
        var unknown = operation
        if unknown.state != .withdrawn { unknown.state = .unknown }
        update(unknown)
      }
    }
    for operation in gone {
      // It may have been joined with another one, or have given a reference back.
      letGo(operation.sequence)
      if operation.state == .withdrawn { forgetKey(of: operation) }
    }
    return touched
  }

  private mutating func accept(_ operation: WalkOperation, _ entry: WalkStored) {
    let waiting = operations(of: operation.object).filter {
      $0.sequence > operation.sequence && !$0.isInFlight
    }
    if !waiting.isEmpty, !model.has(.baseNotMoved) {
      let rebased = PendingMachine.rebase(
        waiting.map(model.pending), after: model.pending(operation),
        written: model.values(entry.written))
      for pending in rebased { update(pending) }
    }
    delete(operation.sequence)
    if operation.kind == .delete { showAgain(operation) }
  }

  /// The object is gone, and a change of it waits that was made on another row.
  private mutating func showAgain(_ operation: WalkOperation) {
    let rest = operations(of: operation.object)
    let base = operation.base
    guard rest.contains(where: { $0.state != .withdrawn && $0.kind == .update }),
      base.key != WalkValues.absent, base.value != WalkValues.absent, base.hasReference,
      object(operation.object).visible == nil,
      !world.device.objects.contains(where: { $0.visible?.key == base.key })
    else { return }
    show(
      operation.object, shown: WalkRow(key: base.key, value: base.value, other: base.other))
  }

  /// The operation and whatever else of its object is not on its way become one change of the app's
  /// again. Returns what is gone.
  private mutating func reopen(
    _ operation: WalkOperation, as answered: PendingOperation.State
  ) -> [WalkOperation] {
    guard operation.state != .withdrawn else { return [operation] }
    let all = operations(of: operation.object).filter {
      $0.sequence == operation.sequence || !$0.isInFlight
    }
    let (state, heldBehind) = PendingMachine.reopened(
      model.pending(operation), among: all.map(model.pending), as: answered)
    let found = join(all)
    guard let first = all.first, let left = found.left, left.sequence == first.sequence else {
      return found.gone + (all.first.map { [$0] } ?? [])
    }
    let object = object(operation.object)
    let isNothing = PendingMachine.isOfNothing(
      WalkModel.kind(left.kind), as: state, hasImage: object.image != nil
    ) {
      object.visible != nil
    }
    guard !isNothing else { return found.gone + [left] }
    if !heldBehind.isEmpty { standDown(operation.chain) }
    let id = newID()
    update(
      PendingMachine.renewed(
        model.pending(left), after: model.pending(operation), as: state,
        isWhole: heldBehind.count == found.joined.count, id: model.id(id)))
    if let place = place(left.sequence) { world.device.operations[place].birth = id }
    return found.gone
  }

  /// What was submitted behind a change that was not taken waits to be submitted again with it.
  private mutating func standDown(_ chain: UInt8) {
    let held = world.device.operations.filter { $0.chain == chain && $0.wanted > 0 }
    for var operation in held {
      operation.wanted = 0
      operation.failure = operation.counter
      update(operation)
    }
    for operation in held where self.operation(with: operation.id) != nil {
      giveBack(operation.object)
    }
  }

  // Keys.

  private mutating func rekey(_ number: UInt8, from old: Int8, to new: Int8) {
    guard old != new else { return }
    let other = giveWay(number, to: new)
    var object = object(number)
    object.visible?.key = new
    set(object)
    for var operation in operations(of: number) {
      operation.key = new
      operation.isTemporary = false
      if operation.base.key != WalkValues.absent { operation.base.key = new }
      if operation.changed.key != WalkValues.absent { operation.changed.key = new }
      update(operation)
    }
    if let other { show(number, shown: object.visible == nil ? other.visible : nil) }
    follow(old, new)
  }

  /// Another object with this key is here already: the pending one takes its image, and what the app
  /// did to it meanwhile.
  private mutating func giveWay(_ number: UInt8, to key: Int8) -> WalkObject? {
    let found =
      world.device.objects.first { $0.image?.key == key }
      ?? world.device.objects.first { $0.visible?.key == key }
    guard let other = found, other.number != number else { return nil }
    world.device.objects.removeAll { $0.number == other.number }
    for place in world.device.operations.indices
    where world.device.operations[place].object == other.number {
      world.device.operations[place].object = number
    }
    let open = operations(of: number).filter(\.isOpen)
      .sorted { ($0.counter, $0.sequence) < ($1.counter, $1.sequence) }
    for operation in join(open).gone { letGo(operation.sequence) }
    if let image = other.image {
      var object = object(number)
      object.image = image
      set(object)
    }
    return other
  }

  /// Every attribute that refers to the old key, also where a change that is submitted and waits has
  /// it under one that was made since.
  private mutating func follow(_ old: Int8, _ new: Int8) {
    for object in world.device.objects {
      let own = operations(of: object.number)
      let isHeld = own.contains { operation in
        (operation.wanted > 0 || operation.isInFlight || object.visible == nil)
          && (operation.changed.other == old || operation.base.other == old)
      }
      guard isHeld || object.visible?.other == old else { continue }
      if object.visible?.other == old {
        var renamed = object
        renamed.visible?.other = new
        set(renamed)
      }
      for var operation in own {
        if operation.changed.other == old { operation.changed.other = new }
        if operation.base.other == old { operation.base.other = new }
        update(operation)
      }
    }
  }
}
