import Synchronization

/// What a transaction of the app created: where it is undone, the objects in the app's hands are new
/// again, and the numbers that they had may be given to others.
final class Creations: Sendable {
  private struct State {
    var isUndone = false
    /// Whether the key is temporary, by object.
    var made: [ObjectReference: Bool] = [:]
  }
  private let state = Mutex(State())
  /// Those of the transaction around it.
  private let outer: Creations?

  init(inside outer: Creations?) { self.outer = outer }

  func note(_ object: ObjectReference, isTemporary: Bool) {
    state.withLock { $0.made[object] = isTemporary }
    outer?.note(object, isTemporary: isTemporary)
  }

  /// The transaction was undone, its savepoints with it.
  func undo() { state.withLock { $0.isUndone = true } }

  /// Whether it was undone, or one around it.
  var isUndone: Bool { state.withLock { $0.isUndone } || outer?.isUndone ?? false }

  /// That of the outermost transaction.
  var root: Creations { outer?.root ?? self }

  /// Whether the key of an object is temporary whose creation was undone; nil for any other.
  func undone(_ object: ObjectReference) -> Bool? {
    state.withLock { $0.isUndone ? $0.made[object] : nil } ?? outer?.undone(object)
  }
}
