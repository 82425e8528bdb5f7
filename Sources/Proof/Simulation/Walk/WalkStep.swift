import Ferry
import FerryModel

/// A rule of `Documentation/Invariants.md` that does not hold.
struct WalkProblem: Error {
  let invariant: Int
  let problem: String
}

/// The device cannot send a change as it is: it refers to a new object that is no more.
struct WalkUnsendable: Error {}

/// One deed under way: rows and operations of the walk are read and written here, and what becomes of
/// them is said by the machines of client and server.
///
/// Its methods have the names of those that do the same in SQL: `PendingStore`, `ChainSealing`,
/// `Dependencies`, `AnswerTaker`, `Rekey` and `Import`.
struct WalkStep {
  let model: WalkModel
  var world: WalkWorld
  /// The chain of the transaction that is open; nil: each change is one of its own.
  var transaction: UInt8?

  init(_ model: WalkModel, _ world: WalkWorld) {
    self.model = model
    self.world = world
  }

  mutating func newID() -> UInt8 {
    world.nextID += 1
    return world.nextID - 1
  }

  /// A later counter than any before: the clock goes on from deed to deed.
  func counter() -> UInt8 {
    (world.device.operations.map { max($0.counter, $0.failure) }.max() ?? 0) + 1
  }

  // The table of operations.

  func operations(of object: UInt8) -> [WalkOperation] {
    world.device.operations.filter { $0.object == object }
  }

  func pending(of object: UInt8) -> [PendingOperation] {
    operations(of: object).map(model.pending)
  }

  func place(_ sequence: UInt8) -> Int? {
    world.device.operations.firstIndex { $0.sequence == sequence }
  }

  func operation(with id: UInt8) -> WalkOperation? {
    world.device.operations.first { $0.id == id }
  }

  mutating func insert(_ operation: WalkOperation) -> UInt8 {
    var operation = operation
    operation.sequence = (world.device.operations.last?.sequence ?? 0) + 1
    world.device.operations.append(operation)
    return operation.sequence
  }

  mutating func moveToEnd(_ sequence: UInt8) {
    guard let place = place(sequence) else { return }
    _ = insert(world.device.operations.remove(at: place))
  }

  mutating func update(_ operation: WalkOperation) {
    guard let place = place(operation.sequence) else { return }
    world.device.operations[place] = operation
  }

  mutating func update(_ pending: PendingOperation) {
    guard let place = place(UInt8(pending.sequence)) else { return }
    world.device.operations[place] = model.kept(pending, over: world.device.operations[place])
  }

  mutating func delete(_ sequence: UInt8) {
    world.device.operations.removeAll { $0.sequence == sequence }
  }

  /// What waits of one chain waits in another from now on.
  mutating func unite(_ chain: UInt8, into other: UInt8) {
    for place in world.device.operations.indices
    where world.device.operations[place].chain == chain
      && !world.device.operations[place].isInFlight
    {
      world.device.operations[place].chain = other
    }
  }

  // Rows.

  func object(_ number: UInt8) -> WalkObject {
    world.device.objects.first { $0.number == number } ?? WalkObject(number: number)
  }

  mutating func set(_ object: WalkObject) {
    if let place = world.device.object(object.number) {
      world.device.objects[place] = object
    } else {
      world.device.objects.append(object)
    }
  }

  mutating func newObject() -> UInt8 {
    let number = (world.device.objects.map(\.number).max() ?? 0) + 1
    world.device.objects.append(WalkObject(number: number))
    return number
  }

  /// Makes the visible row of an object what its image and its operations say.
  mutating func show(_ number: UInt8, shown: WalkRow? = nil) {
    var object = object(number)
    let live = operations(of: number).filter { $0.state != .withdrawn }
    if live.isEmpty {
      object.visible = object.image
    } else {
      object.visible = PendingMachine.lay(
        live.map(model.pending), on: object.image.map(model.values),
        shown: (shown ?? object.visible).map(model.values)
      ).map(model.row)
    }
    set(object)
  }

  func letter(_ number: UInt8) -> PendingChange {
    PendingMachine.pendingChange(pending(of: number))
  }

  /// What is there of an object without a change and those behind it.
  func below(_ operation: WalkOperation) -> WalkRow? {
    let earlier = operations(of: operation.object).filter { $0.sequence < operation.sequence }
    return PendingMachine.below(
      earlier.map(model.pending), on: object(operation.object).image.map(model.values),
      nothing: model.values(WalkRow(key: operation.key))
    ).map(model.row)
  }

  // References.

  func made(by operation: WalkOperation) -> [ReferenceMachine.Target] {
    let pending = model.pending(operation)
    return model.references.made(by: pending) { below(pending, $0) }
  }

  func ended(by operation: WalkOperation) -> [ReferenceMachine.Target] {
    let pending = model.pending(operation)
    let image = object(operation.object).image.map(model.values)
    return model.references.ended(by: pending, image: image) { below(pending, $0) }
  }

  private func below(_ operation: PendingOperation, _ position: Int) -> AttributeValue {
    let object = object(UInt8(operation.object))
    return ReferenceMachine.below(operation, position, all: pending(of: object.number)) {
      object.image.map(model.values)
    } shown: {
      object.visible.map(model.values)
    }
  }
}
