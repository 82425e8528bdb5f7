// Answers, rules 3, 10, 11 and 12.
extension OperationMachine {
  /// The chain at `place` was performed; `rows` are those of the business system from then on.
  mutating func accept(_ place: Int, rows: [Row]) {
    let done = chains.remove(at: place)
    images = rows
    for object in images.indices {
      if images[object] != Self.absent { given.insert(object) }
      guard done.has(object) else { continue }
      for rank in 1...2 {
        guard let next = self.place(object, rank: rank),
          let index = chains[next].changes.firstIndex(where: { $0.object == object })
        else { continue }
        var change = chains[next].changes[index]
        if change.kind != .create, images[object] != Self.absent { change.before = images[object] }
        chains[next].changes[index] = change
        break
      }
    }
    judge()
  }

  /// Refused or not tried: with all that is behind it, it is one open chain again.
  mutating func refuse(_ place: Int) {
    let withdrawn = chains[place].stage.withdrawn
    var objects: [Int] = chains[place].changes.map(\.object).filter { !withdrawn.contains($0) }
    var refused = Objects()
    for object in objects { refused.insert(object) }
    chains[place].changes.removeAll { withdrawn.contains($0.object) }
    // Whole chains, and of every object in them what is open.
    var places: [Int] = [place]
    var next = 0
    while next < objects.count {
      let object = objects[next]
      next += 1
      for rank in 1...2 {
        guard let behind = self.place(object, rank: rank), !places.contains(behind) else {
          continue
        }
        if rank == 2, fault == .joinWithOpen { continue }
        places.append(behind)
        if fault == .wholeChain, rank == 1 { continue }
        for change in chains[behind].changes where !objects.contains(change.object) {
          objects.append(change.object)
        }
      }
    }
    let ordered = places.sorted { chains[$0].stage.rank < chains[$1].stage.rank }
    for place in places {
      if case .open(let other) = chains[place].stage { refused.bits |= other.bits }
    }
    let changes = ordered.flatMap { chains[$0].changes }
    let first = places.min() ?? place
    for place in places.sorted().reversed() where place != first { chains.remove(at: place) }
    chains[first] = Chain(stage: .open(refused: refused), changes: [])
    let joined = joinedByObject(changes, rank: 2)
    for object in images.indices {
      let own = changes.filter { $0.object == object }
      // A delete that was made behind what was refused hides the row.
      let isFresh = own.count > 1 && own.last?.kind == .delete
      if isFresh || !joined.contains(where: { $0.object == object }) { refused.remove(object) }
    }
    chains[first] = Chain(stage: .open(refused: refused), changes: joined)
    chains.removeAll { $0.changes.isEmpty }
    for object in images.indices { forgetKey(of: object) }
    judge()
  }
}
