import FerryModel

/// What becomes of an object's pending operations when the app, or an answer, adds to them.
///
/// Pure: operations in, operations out. The store writes what it says.
package enum PendingMachine {
  package enum Decision: Equatable {
    /// The change is the object's newest operation.
    case append(kind: OperationKind, changed: [Int: AttributeValue], base: [Int: AttributeValue])
    /// The change goes into the newest operation, which was not submitted.
    case merge(PendingOperation)
    /// The newest operation and the change leave nothing to send.
    case remove(PendingOperation)
    case nothing
  }

  /// The app updates an object from `before` to `after`.
  ///
  /// `seen` is what the app had before it: older than `before` if an import came between, and then
  /// what the change is based on, so that the business system can tell that it is. Saving again what
  /// was refused is a decision in sight of `image`, the business system's values as far as the
  /// device has them: from there on the change is based on those.
  package static func update(
    _ operations: [PendingOperation], seen: [AttributeValue], before: [AttributeValue],
    after: [AttributeValue],
    image: [AttributeValue]?
  ) -> Decision {
    var changed: [Int: AttributeValue] = [:]
    var base: [Int: AttributeValue] = [:]
    for position in after.indices where before[position] != after[position] {
      changed[position] = after[position]
      base[position] = seen[position]
    }
    guard var last = operations.last, last.isOpen else {
      return changed.isEmpty ? .nothing : .append(kind: .update, changed: changed, base: base)
    }
    guard last.kind != .delete else {
      // Only a refused delete shows its object again; who edits that does not want it deleted.
      guard !changed.isEmpty else { return .nothing }
      last.kind = .update
      last.changed = changed
      last.base = base
      return .merge(sound(last))
    }
    let isDecided = last.state == .replayFailed && last.kind == .update && image != nil
    guard !changed.isEmpty || isDecided else { return .nothing }
    last.changed.merge(changed) { _, new in new }
    if last.kind == .update { last.base.merge(base) { first, _ in first } }
    if isDecided, let image {
      for position in last.changed.keys { last.base[position] = image[position] }
    }
    return .merge(sound(last))
  }

  /// The app deletes an object that looks like `before`; `below` is what is there without the open
  /// change. A create over something that is there, and its delete, leave a delete of that.
  package static func delete(
    _ operations: [PendingOperation], before: [AttributeValue], below: [AttributeValue]?
  ) -> Decision {
    guard var last = operations.last, last.isOpen else {
      return .append(kind: .delete, changed: [:], base: all(before))
    }
    if last.kind == .create {
      return deleted(last, below).map { .merge(sound($0)) } ?? .remove(last)
    }
    // What the object was before the open change is what the delete is based on.
    last.base = all(before).merging(last.base) { _, first in first }
    last.kind = .delete
    last.changed = [:]
    return .merge(sound(last))
  }

  /// A create and a delete after it: nothing, or a delete of what is there `below` them.
  private static func deleted(
    _ create: PendingOperation, _ below: [AttributeValue]?
  ) -> PendingOperation? {
    guard let below else { return nil }
    var delete = create
    delete.kind = .delete
    delete.changed = [:]
    delete.base = all(below)
    return delete
  }

  /// Whether a key that the app gives to something new belongs to the object of these changes: the
  /// last of them deletes it. There it waits for what the delete waits for, and an image that comes
  /// meanwhile is laid below the delete (Decision 0117).
  package static func isMadeAgain(by operations: [PendingOperation]) -> Bool {
    operations.last { $0.state != .withdrawn }?.kind == .delete
  }

  /// A delete and a create of the same key that the app has given again, and two objects: as there
  /// should not be.
  package static func areApart(_ delete: PendingOperation, _ create: PendingOperation) -> Bool {
    create.kind == .create && !create.isTemporary && !create.isInFlight
      && delete.kind == .delete && delete.state != .withdrawn
      && delete.entity == create.entity && delete.key == create.key
      && delete.object != create.object
  }

  /// The app creates again what it deleted: same key, the delete not sent. `below` is what is there
  /// without the delete; nil where there is nothing, and it is new.
  package static func recreate(
    _ delete: PendingOperation, after: [AttributeValue], below: [AttributeValue]?
  ) -> Decision {
    guard let below else {
      var create = delete
      create.kind = .create
      create.changed = all(after).filter { !$0.value.isNull }
      create.base = [:]
      return .merge(sound(create))
    }
    return madeAgain(delete, all(after), below).map { .merge(sound($0)) } ?? .remove(delete)
  }

  /// What is there of an object of which only these changes are known, for the business system as
  /// far as the device knows. `nothing` is a row of which nothing is given.
  package static func below(
    _ operations: [PendingOperation], on image: [AttributeValue]?, nothing: [AttributeValue]
  ) -> [AttributeValue]? {
    let live = operations.filter { $0.state != .withdrawn }
    return lay(live, on: image, shown: live.first?.kind == .create ? nothing : nil)
  }

  /// A delete, and values of the same object after it, are an update to these; nil where it is again
  /// what it was. What others have changed since, as `image` shows, is set as well.
  private static func madeAgain(
    _ delete: PendingOperation, _ values: [Int: AttributeValue], _ image: [AttributeValue]?
  ) -> PendingOperation? {
    var operation = delete
    operation.kind = .update
    operation.changed = values.filter { position, value in
      delete.base[position] != value || image.map { $0[position] != value } ?? false
    }
    operation.base = delete.base.filter { operation.changed[$0.key] != nil }
    return operation.changed.isEmpty ? nil : operation
  }

  /// Two changes of one object become one: `first` was refused and `second` waited behind it, or both
  /// wait. It counts as refused where one of them was. Nil when together they leave nothing to send.
  ///
  /// `below` is what is there of the object without them, for the business system as far as the device
  /// knows; nil where there is nothing.
  package static func join(
    _ first: PendingOperation, _ second: PendingOperation, below: [AttributeValue]?
  ) -> PendingOperation? {
    var joined = first
    joined.counter = max(first.counter, second.counter)
    let refused = [first, second].filter { $0.state == .replayFailed }
    joined.failure = (refused.isEmpty ? [first, second] : refused).map(\.failure).max() ?? 0
    if second.state == .replayFailed { joined.state = .replayFailed }
    switch (first.kind, second.kind) {
    case (.create, .delete): return deleted(joined, below)
    case (.delete, .create) where below == nil, (.update, .create) where below == nil:
      joined.kind = .create
      joined.changed = second.changed
    case (.create, _), (.update, .update):
      joined.changed.merge(second.changed) { _, new in new }
      joined.base.merge(second.base) { first, _ in first }
    case (.update, .delete):
      joined.kind = .delete
      joined.changed = [:]
      joined.base = second.base.merging(first.base) { _, first in first }
    case (.delete, .create):
      // What a create does not give is null.
      let nothing = first.base.mapValues { _ in AttributeValue.null }
      return madeAgain(joined, nothing.merging(second.changed) { _, given in given }, below)
    case (.delete, .update), (.update, .create): return madeAgain(joined, second.changed, below)
    case (.delete, .delete): break
    }
    if joined.kind == .create { joined.base = [:] }
    return sound(joined)
  }

  /// Where a change stands among those of its object: what is on its way, then what was submitted and
  /// waits, then what the app has in hand.
  private static func rank(_ operation: PendingOperation) -> Int {
    operation.isInFlight ? 0 : operation.isOpen ? 2 : 1
  }

  /// What goes behind `part`, which was made of a sent change and has the last place: those of its
  /// object, or of an object with its key, that are not on their way; in this order.
  package static func behind(
    _ part: PendingOperation, _ operations: [PendingOperation]
  ) -> [PendingOperation] {
    operations.filter { other in
      other.entity == part.entity && (other.object == part.object || other.key == part.key)
        && !other.isInFlight && other.sequence < part.sequence
    }
  }

  /// Two changes of one object that must not stand in this order: what was submitted would wait for
  /// what the app has in hand, and would be joined with it instead of being answered. Nil where there
  /// are none, as there should be.
  package static func disorder(
    _ operations: [PendingOperation]
  ) -> (first: PendingOperation, second: PendingOperation)? {
    guard operations.count > 1 else { return nil }
    for (first, second) in zip(operations, operations.dropFirst())
    where rank(first) > rank(second) || first.isOpen && second.isOpen {
      return (first, second)
    }
    return nil
  }

  /// The changes of two rows that turned out to be one object, in the order of their places.
  package struct United: Equatable {
    /// Those that go behind all others, in this order.
    package var moved: [PendingOperation] = []
    /// What the app has in hand has other values now.
    package var changed: PendingOperation?
    /// What the app has in hand leaves nothing.
    package var gone: PendingOperation?
  }

  /// Brings the changes of an object in order that was here twice; at most one of them is open.
  ///
  /// What was changed later on the other row, and submitted since, is newer than what is open.
  package static func united(_ operations: [PendingOperation]) -> United {
    var united = United()
    var ordered = operations.enumerated()
      .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
    if let open = ordered.last, open.isOpen {
      let left = left(of: open, behind: ordered.filter { rank($0) == 1 })
      if left == nil {
        united.gone = open
        ordered.removeLast()
      } else if let left, left != open {
        united.changed = left
        ordered[ordered.count - 1] = left
      }
    }
    var last: Int64 = .min
    for operation in ordered {
      if operation.sequence < last || !united.moved.isEmpty { united.moved.append(operation) }
      last = max(last, operation.sequence)
    }
    return united
  }

  /// An open change without what was set by changes that were made after it. What was refused is the
  /// app's to decide, and stays whole.
  private static func left(
    of open: PendingOperation, behind submitted: [PendingOperation]
  ) -> PendingOperation? {
    guard open.state == .waiting, open.kind != .create else { return open }
    var left = open
    for later in submitted where later.counter > open.counter {
      guard open.kind == .update, later.kind == .update else { return nil }
      for position in later.changed.keys {
        left.changed[position] = nil
        left.base[position] = nil
      }
    }
    return left.kind == .update && left.changed.isEmpty ? nil : left
  }

  /// `first` was accepted; of its values some were `written` in another form. What waits behind it, in
  /// order, is based on what it wrote, where it was based on its value or on the value before that,
  /// and nothing between them has changed the attribute. Any other base is a value of others, which
  /// the app saw.
  package static func rebase(
    _ waiting: [PendingOperation], after first: PendingOperation, written: [Int: AttributeValue]
  ) -> [PendingOperation] {
    var moved = first.changed
    return waiting.map { operation in
      var rebased = operation
      for (position, sent) in moved {
        guard let base = operation.base[position], base == sent || base == first.base[position]
        else { continue }
        rebased.base[position] = written[position] ?? sent
      }
      for position in operation.changed.keys { moved[position] = nil }
      return rebased
    }
  }

  /// What the app sees: the downloaded image with the operations in order on top. Nil when nothing.
  ///
  /// `shown` is what is visible now; it stands in for an image that is gone under a pending update.
  package static func lay(
    _ operations: [PendingOperation], on image: [AttributeValue]?, shown: [AttributeValue]?
  ) -> [AttributeValue]? {
    var visible = image
    for operation in operations where operation.state != .withdrawn {
      switch operation.kind {
      case .delete:
        // A refused delete shows the object again; one that was made since hides it.
        if operation.state != .replayFailed || operation.counter > operation.failure {
          visible = nil
        }
      case .create, .update:
        guard var values = visible ?? shown else { continue }
        for (position, value) in operation.changed { values[position] = value }
        visible = values
      }
    }
    return visible
  }

  /// The letter of the object's row.
  package static func pendingChange(_ operations: [PendingOperation]) -> PendingChange {
    let live = operations.filter { $0.state != .withdrawn }
    guard let first = live.first, let last = live.last else { return .none }
    if last.kind == .delete { return .delete }
    return first.kind == .create ? .create : .update
  }

  /// The reference's three numbers of an object with these operations.
  package static func replayState(_ operations: [PendingOperation]) -> ReplayState {
    let live = operations.filter { $0.state != .withdrawn }
    return ReplayState(
      counter: live.map(\.counter).max() ?? 0,
      pending: live.last { !$0.isOpen }?.counter ?? 0,
      failure: live.filter { $0.state == .replayFailed }.map(\.failure).max() ?? 0)
  }

  private static func all(_ values: [AttributeValue]) -> [Int: AttributeValue] {
    Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0.offset, $0.element) })
  }
}
