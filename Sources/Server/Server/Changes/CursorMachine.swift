/// Decides when a cursor of the business system may be kept: not before the cache has all that the
/// cursor has passed, or a crash between the two would lose it.
struct CursorMachine {
  private struct Owed {
    var cursor: String
    /// Objects that must be read, or found to be gone, before.
    var names: Set<ObjectName>
    /// Whether a load that begins from now on must end well before; and whether it has begun.
    var needsLoad: Bool
    var hasBegun = false
  }

  /// The one to be kept next, and all that came after it in one.
  private var first: Owed?
  private var rest: Owed?

  /// The cursor that the store is to keep now; nil while something is owed.
  var due: String? {
    guard let first, first.names.isEmpty, !first.needsLoad else { return nil }
    return first.cursor
  }

  /// Whether a cursor waits for objects or a load.
  var isWaiting: Bool { first != nil }

  /// The business system was asked up to `cursor`; `names` are all objects that are to be read.
  mutating func deliver(_ cursor: String, names: Set<ObjectName>, needsLoad: Bool) {
    let owed = Owed(cursor: cursor, names: names, needsLoad: needsLoad)
    guard first != nil else {
      assert(rest == nil, "a later cursor waits without an earlier one")
      first = owed
      return
    }
    rest = Owed(
      cursor: cursor, names: names.union(rest?.names ?? []),
      needsLoad: needsLoad || rest?.needsLoad ?? false)
  }

  /// The cache has these objects as they are.
  mutating func settled(_ names: some Sequence<ObjectName>) {
    for name in names {
      first?.names.remove(name)
      rest?.names.remove(name)
    }
  }

  mutating func loadBegan() {
    first?.hasBegun = true
    rest?.hasBegun = true
  }

  /// `names`: objects that the load leaves to be read.
  mutating func loadEnded(names: Set<ObjectName>) {
    first = CursorMachine.loaded(first, names)
    rest = CursorMachine.loaded(rest, names)
  }

  private static func loaded(_ owed: Owed?, _ names: Set<ObjectName>) -> Owed? {
    guard var owed, owed.needsLoad, owed.hasBegun else { return owed }
    owed.needsLoad = false
    owed.names.formUnion(names)
    return owed
  }

  /// The store has kept `due`.
  mutating func kept() {
    assert(due != nil, "a cursor was kept while the cache lacks what it has passed")
    first = rest
    rest = nil
  }
}
