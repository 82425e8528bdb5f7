import Ferry

// From each state answers alone lead to rest: what nobody has submitted is submitted, what was refused
// is given up, everything is answered, and all are equal.
extension WalkStep {
  /// What comes next on the way to rest; nil: nothing is left to do.
  func quietDeed() -> WalkDeed? {
    if let place = world.stored.firstIndex(where: { $0.state == .unknown }) {
      return WalkDeed(kind: .decide, target: UInt8(place))
    }
    if !chains().isEmpty { return WalkDeed(kind: .accept) }
    let operations = world.device.operations
    if operations.contains(where: isOutgoing) { return WalkDeed(kind: .send) }
    if operations.contains(where: \.isInFlight) || world.cache != world.business
      || world.device.objects.compactMap(\.image).sorted(by: { $0.key < $1.key }) != world.cache
    {
      return WalkDeed(kind: .receive)
    }
    if let failed = operations.first(where: { $0.state == .replayFailed }) {
      return WalkDeed(kind: .cancel, target: failed.object)
    }
    if let open = operations.first(where: \.isOpen) {
      var step = self
      return WalkDeed(
        kind: step.submit(open.object) ? .submit : .cancel, target: open.object)
    }
    return operations.isEmpty ? nil : WalkDeed(kind: .send)
  }

  func checkRest() throws(WalkProblem) {
    for object in world.device.objects where object.visible != object.image {
      throw WalkProblem(invariant: 9, problem: "at rest the device shows what is not there")
    }
    let images = world.device.objects.compactMap(\.image).sorted { $0.key < $1.key }
    guard images == world.business, world.cache == world.business else {
      throw WalkProblem(
        invariant: 9, problem: "at rest the device has \(images), not \(world.business)")
    }
  }
}

/// The way to rest of many states; they share most of it.
struct WalkQuiet {
  let model: WalkModel
  private var settled: Set<UInt64> = []
  private static let longest = 64

  init(_ model: WalkModel) { self.model = model }

  /// Fails with the deeds that lead to the failure.
  mutating func check(_ start: WalkWorld) throws(WalkFailed) {
    var world = start
    var deeds: [WalkDeed] = []
    var met: [UInt64] = []
    var bytes: [UInt8] = []
    while true {
      world.encode(into: &bytes)
      let hash = WalkSet.hash(bytes)
      guard !settled.contains(hash) else { break }
      if met.contains(hash) || deeds.count > WalkQuiet.longest {
        throw WalkFailed(
          problem: WalkProblem(invariant: 9, problem: "it never comes to rest"), deeds: deeds)
      }
      met.append(hash)
      var step = WalkStep(model, world)
      do throws(WalkProblem) {
        guard let deed = step.quietDeed() else {
          try step.checkRest()
          break
        }
        deeds.append(deed)
        try step.make(deed)
      } catch {
        throw WalkFailed(problem: error, deeds: deeds)
      }
      world = step.world
    }
    settled.formUnion(met)
  }
}

/// A violated invariant, and the deeds from a state that lead to it.
struct WalkFailed: Error {
  let problem: WalkProblem
  let deeds: [WalkDeed]
}

extension WalkStep {
  /// Does a deed, looks at the invariants, and leaves the world in its canonical form.
  mutating func make(_ deed: WalkDeed) throws(WalkProblem) {
    let before = world
    let refusal = try run(deed)
    try WalkChecks(before, world, deed).run(refusal)
    transaction = nil
    world.canonicalize()
  }
}
