/// What becomes of changes from their save to their end, and what they wait for. Pure.
///
/// An object is a number, and all that it has is one reference, which may be empty. The state
/// belongs to the chain, which is what is replayed as one.
struct OperationMachine: Equatable {
  /// Who makes the keys.
  enum Keys { case app, business }

  /// What an object is: absent, with an empty reference, or with a reference to another object.
  typealias Row = Int8
  static let absent: Row = -2
  static let empty: Row = -1

  struct Change: Equatable {
    enum Kind: UInt8 { case create, update, delete }
    let object: Int
    var kind: Kind
    /// The row before and after the change.
    var before: Row
    var after: Row
  }

  /// A set of objects.
  struct Objects: Equatable {
    var bits: UInt8 = 0
    func contains(_ object: Int) -> Bool { bits & (1 << UInt8(object)) != 0 }
    mutating func insert(_ object: Int) { bits |= 1 << UInt8(object) }
    mutating func remove(_ object: Int) { bits &= ~(1 << UInt8(object)) }
  }

  enum Stage: Equatable {
    /// In the app's hand; `refused` names the members that the business system refused.
    case open(refused: Objects)
    /// The app has submitted it; it waits.
    case submitted
    /// Its bytes are final; the server does not have them.
    case sealed
    /// The server may have it. Withdrawn members were cancelled by the app.
    case sent(withdrawn: Objects)
    case unknown(withdrawn: Objects)

    /// Of one object, what is in flight comes before what is submitted, and that before what is open.
    var rank: Int {
      switch self {
      case .open: 2
      case .submitted: 1
      case .sealed, .sent, .unknown: 0
      }
    }
    var isOpen: Bool { rank == 2 }
    var isInFlight: Bool { rank == 0 }
    var withdrawn: Objects {
      switch self {
      case .sent(let withdrawn), .unknown(let withdrawn): withdrawn
      case .open, .submitted, .sealed: Objects()
      }
    }
  }

  struct Chain: Equatable {
    var stage: Stage
    var changes: [Change]

    func has(_ object: Int) -> Bool { changes.contains { $0.object == object } }
  }

  enum Event: Equatable {
    /// One transaction; `absent` deletes.
    case save([Int: Row])
    case submit(Int)
    case cancel(Int)
    case send(Int)
    case accept(Int)
    case refuse(Int)
    case unknown(Int)
  }

  /// A fault planted into one rule, for the proof that the exploration finds it.
  enum Fault: CaseIterable {
    case earlierOfObject, createOfTarget, leavers, circles, circleOrder, wholeChain, joinWithOpen
    case createUnderImage, recreate, forgottenKey, withdrawnForgotten
  }

  let keys: Keys
  var fault: Fault?
  /// The rows as they were last downloaded.
  var images: [Row]
  var chains: [Chain] = []
  /// Objects with a key that will not change any more.
  var given = Objects()

  init(keys: Keys, images: [Row], fault: Fault? = nil) {
    self.keys = keys
    self.images = images
    self.fault = fault
    for object in images.indices where keys == .app || images[object] != Self.absent {
      given.insert(object)
    }
  }

  // What the app sees.

  /// The object's live changes below `rank` on its image. A refused delete shows the row.
  func row(_ object: Int, below rank: Int = 3) -> Row {
    var row = images[object]
    for level in 0..<rank {
      for chain in chains where chain.stage.rank == level {
        for change in chain.changes where change.object == object {
          guard !chain.stage.withdrawn.contains(object) else { continue }
          if case .open(let refused) = chain.stage, change.kind == .delete,
            refused.contains(object)
          {
            continue
          }
          row = change.after
        }
      }
    }
    return row
  }

  func place(_ object: Int, rank: Int) -> Int? {
    chains.firstIndex { $0.stage.rank == rank && $0.has(object) }
  }

  /// What the app has in hand of the object.
  func change(_ object: Int) -> Change? {
    place(object, rank: 2).flatMap { chains[$0].changes.first { $0.object == object } }
  }

  func hasChange(_ object: Int) -> Bool { chains.contains { $0.has(object) } }
}

// Saving, rules 6 and 7.
extension OperationMachine {
  mutating func save(_ rows: [Int: Row]) {
    var target: Int?
    for (object, row) in rows.sorted(by: { $0.key < $1.key }) {
      save(object, row, into: &target)
    }
    chains.removeAll { $0.changes.isEmpty }
    // What two creates left undone of each other.
    for (object, _) in rows.sorted(by: { $0.key < $1.key }) { forgetKey(of: object) }
    judge()
  }

  private mutating func save(_ object: Int, _ row: Row, into target: inout Int?) {
    if let open = place(object, rank: 2) {
      if let other = target, other != open {
        target = unite([other, open])
      } else {
        target = open
      }
      merge(object, row, in: target ?? open)
      return
    }
    let before = self.row(object)
    guard let change = Self.change(object, below: before, base: before, to: row) else { return }
    // Where the business system gives keys, what is created anew is another object.
    if keys == .business, change.kind == .create, !hasChange(object) { given.remove(object) }
    if let target {
      chains[target].changes.append(change)
    } else {
      chains.append(Chain(stage: .open(refused: Objects()), changes: [change]))
      target = chains.count - 1
    }
  }

  private mutating func merge(_ object: Int, _ row: Row, in place: Int) {
    guard case .open(var refused) = chains[place].stage,
      let index = chains[place].changes.firstIndex(where: { $0.object == object })
    else { return }
    let old = chains[place].changes[index]
    let below = self.row(object, below: 2)
    var base = old.kind == .create ? below : old.before
    // Saving again what was refused is a decision in sight of the image.
    if refused.contains(object), old.kind != .create, images[object] != Self.absent {
      base = images[object]
    }
    refused.remove(object)
    chains[place].stage = .open(refused: refused)
    if let change = joined(old, to: row, below: below, base: base) {
      chains[place].changes[index] = change
    } else {
      chains[place].changes.remove(at: index)
    }
  }

  /// Rule 7: what two changes leave depends on whether the object is there below them.
  private func joined(_ first: Change, to row: Row, below: Row, base: Row) -> Change? {
    if fault == .createUnderImage, first.kind == .create, row == Self.absent { return nil }
    if fault == .recreate, first.kind != .create, row != Self.absent, below == Self.absent {
      return Change(object: first.object, kind: .update, before: base, after: row)
    }
    return Self.change(
      first.object, below: below, base: base == Self.absent ? below : base, to: row,
      keepsEqual: first.kind == .update)
  }

  static func change(
    _ object: Int, below: Row, base: Row, to row: Row, keepsEqual: Bool = false
  ) -> Change? {
    switch (below == absent, row == absent) {
    case (true, true): nil
    case (true, false): Change(object: object, kind: .create, before: absent, after: row)
    case (false, true): Change(object: object, kind: .delete, before: base, after: absent)
    case (false, false):
      row == base && row == below && !keepsEqual
        ? nil : Change(object: object, kind: .update, before: base, after: row)
    }
  }

  /// The first of these chains takes the changes of the others; returns its place.
  @discardableResult
  mutating func unite(_ places: [Int]) -> Int {
    let sorted = Set(places).sorted()
    let first = sorted[0]
    for place in sorted.dropFirst().reversed() {
      let chain = chains.remove(at: place)
      if case .open(var all) = chains[first].stage, case .open(let refused) = chain.stage {
        all.bits |= refused.bits
        chains[first].stage = .open(refused: all)
      }
      chains[first].changes += chain.changes
    }
    return first
  }
}

// Submit, cancel, rules 3 and 8.
extension OperationMachine {
  mutating func submit(_ object: Int) {
    guard let open = place(object, rank: 2) else { return }
    var places: Set<Int> = [open]
    // Joined with what is submitted of its objects.
    for change in chains[open].changes {
      if let submitted = place(change.object, rank: 1) { places.insert(submitted) }
    }
    for place in places.sorted(by: { chains[$0].stage.rank < chains[$1].stage.rank }) {
      chains[place].stage = .submitted
    }
    let order = places.subtracting([open]).sorted() + [open]
    var changes = order.flatMap { chains[$0].changes }
    let first = places.sorted()[0]
    for place in places.sorted().dropFirst().reversed() { chains.remove(at: place) }
    chains[first].changes = []
    changes = joinedByObject(changes, rank: 1)
    chains[first].changes = changes
    chains.removeAll { $0.changes.isEmpty }
    for object in images.indices { forgetKey(of: object) }
    judge()
  }

  /// The changes of each object become one, in the order given.
  func joinedByObject(_ changes: [Change], rank: Int) -> [Change] {
    var result: [Change] = []
    for change in changes {
      guard let index = result.firstIndex(where: { $0.object == change.object }) else {
        result.append(change)
        continue
      }
      let first = result[index]
      let base = first.kind == .create ? Self.absent : first.before
      if let one = joined(
        first, to: change.after, below: row(change.object, below: rank), base: base)
      {
        result[index] = one
      } else {
        result.remove(at: index)
      }
    }
    return result
  }

  mutating func cancel(_ object: Int) {
    for place in chains.indices.reversed() where chains[place].has(object) {
      switch chains[place].stage {
      case .sent(var withdrawn):
        withdrawn.insert(object)
        chains[place].stage = .sent(withdrawn: withdrawn)
      case .unknown(var withdrawn):
        withdrawn.insert(object)
        chains[place].stage = .unknown(withdrawn: withdrawn)
      case .sealed:
        chains[place].stage = .submitted
        chains[place].changes.removeAll { $0.object == object }
      case .open(var refused):
        refused.remove(object)
        chains[place].stage = .open(refused: refused)
        chains[place].changes.removeAll { $0.object == object }
      case .submitted: chains[place].changes.removeAll { $0.object == object }
      }
    }
    chains.removeAll { $0.changes.isEmpty }
    joinSubmitted()
    forgetKey(of: object)
    judge()
  }

  /// What was sealed and is not any more may meet what was submitted behind it.
  private mutating func joinSubmitted() {
    for object in images.indices {
      let places = chains.indices.filter {
        chains[$0].stage == .submitted && chains[$0].has(object)
      }
      guard places.count > 1 else { continue }
      let changes = places.flatMap { chains[$0].changes }
      let first = unite(places)
      chains[first].changes = []
      chains[first].changes = joinedByObject(changes, rank: 1)
    }
    chains.removeAll { $0.changes.isEmpty }
  }

  /// Rule 8: nobody may refer to a temporary key that nobody will ever replace.
  mutating func forgetKey(of object: Int) {
    guard !given.contains(object), fault != .forgottenKey,
      !chains.contains(where: { chain in
        chain.changes.contains { $0.object == object && $0.kind == .create }
      })
    else { return }
    for follower in images.indices where follower != object { takeBack(follower, from: object) }
    chains.removeAll { $0.changes.isEmpty }
  }

  private mutating func takeBack(_ follower: Int, from object: Int) {
    for rank in 1...2 {
      guard let place = place(follower, rank: rank),
        let index = chains[place].changes.firstIndex(where: { $0.object == follower })
      else { continue }
      var change = chains[place].changes[index]
      if change.kind == .create, change.after == Row(object) {
        for place in chains.indices where chains[place].stage.rank > 0 {
          chains[place].changes.removeAll { $0.object == follower }
        }
        chains.removeAll { $0.changes.isEmpty }
        forgetKey(of: follower)
        return
      }
      let below = row(follower, below: rank)
      if change.before == Row(object) { change.before = below }
      if change.after == Row(object) { change.after = below }
      chains[place].changes[index] = change
      if change.kind == .update, change.after == change.before {
        chains[place].changes.remove(at: index)
      }
      chains.removeAll { $0.changes.isEmpty }
    }
  }
}
