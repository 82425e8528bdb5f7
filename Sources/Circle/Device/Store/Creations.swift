import Synchronization

/// What a transaction of the app created: where it is undone, the objects in the app's hands are new
/// again. The numbers that they had are given to no others while the app runs: its copies have them.
final class Creations: Sendable {
  private struct State {
    var isUndone = false
    /// Whether the key is temporary, by object.
    var made: [LocalObject: Bool] = [:]
  }
  private let state = Mutex(State())
  /// Those of the transaction around it.
  private let outer: Creations?

  init(inside outer: Creations?) { self.outer = outer }

  func note(_ object: LocalObject, isTemporary: Bool) {
    state.withLock { $0.made[object] = isTemporary }
    outer?.note(object, isTemporary: isTemporary)
  }

  /// The transaction was undone, its savepoints with it. Returns what it had created.
  func undo() -> [LocalObject] {
    state.withLock { state in
      state.isUndone = true
      return Array(state.made.keys)
    }
  }

  /// Whether it was undone, or one around it.
  var isUndone: Bool { state.withLock { $0.isUndone } || outer?.isUndone ?? false }

  /// That of the outermost transaction.
  var root: Creations { outer?.root ?? self }

  /// Whether the key of an object is temporary whose creation was undone; nil for any other.
  func undone(_ object: LocalObject) -> Bool? {
    state.withLock { $0.isUndone ? $0.made[object] : nil } ?? outer?.undone(object)
  }
}
