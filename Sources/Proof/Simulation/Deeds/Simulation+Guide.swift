import Ferry
import FerryModel

/// What a guided run does beside its other deeds: what is rare.
extension Simulation {
  private struct Candidate {
    let device: SimulatedDevice
    let name: ObjectNumber
    let pair: ReachedPair
    let weight: Int
  }

  /// Draws among the pairs of a deed and a state that can be had now. A pair weighs the more the rarer
  /// its state is and the less often this run has met it: the choice follows from the seed and from the
  /// run so far, so it is the same each time.
  func takeGuided() throws {
    guard isGuided, guidance.happens(300) else { return }
    let isFault = guidance.happens(300)
    var candidates: [Candidate] = []
    for device in devices where device.isRunning && device.endsAt == nil {
      let states = device.watch.states.sorted {
        ($0.key.entity, $0.key.number) < ($1.key.entity, $1.key.number)
      }
      for (name, state) in states where !isFault || state.rarity > 1 {
        for deed in isFault ? guidedFaults(device) : [.edit, .submit, .delete, .cancel] {
          // Where nothing rare is, deletes and cancels would only end what leads there.
          guard state.rarity > 1 || deed == .edit || deed == .submit else { continue }
          let pair = ReachedPair(deed: deed, state: state)
          guard pair.isPossible else { continue }
          let count = 1 + reach(pair) + guided[pair, default: 0]
          let weight = (4_096 << (2 * state.rarity)) / (count * count)
          if weight > 0 {
            candidates.append(Candidate(device: device, name: name, pair: pair, weight: weight))
          }
        }
      }
    }
    guard let drawn = draw(candidates) else { return }
    // Also where nothing comes of it, so that it is not tried for ever.
    guided[drawn.pair, default: 0] += 1
    try happen(drawn)
    try settleTroubles()
    try look()
  }

  private func draw(_ candidates: [Candidate]) -> Candidate? {
    guard !candidates.isEmpty else { return nil }
    var place = guidance.number(below: candidates.reduce(0) { $0 + $1.weight })
    for candidate in candidates {
      if place < candidate.weight { return candidate }
      place -= candidate.weight
    }
    return candidates.last
  }

  /// Faults that can be had now; a few of each kind.
  private func guidedFaults(_ device: SimulatedDevice) -> [ReachedPair.Deed] {
    var deeds: [ReachedPair.Deed] = [.changedByOthers]
    func add(_ deed: ReachedPair.Deed, _ fault: SimulatedFault, if isThere: Bool) {
      if isThere, may(fault), counts.faults[fault, default: 0] < 8 { deeds.append(deed) }
    }
    add(.ended, .deviceStopped, if: true)
    add(.died, .deviceKilled, if: true)
    add(.restored, .deviceRestored, if: true)
    add(.copied, .deviceCloned, if: devices.count < 4)
    add(.serverEnded, .serverStopped, if: server.isRunning)
    add(.serverDied, .serverKilled, if: server.isRunning)
    add(.serverRestored, .serverRestored, if: mayCopyServer)
    return deeds
  }

  private func happen(_ drawn: Candidate) throws {
    let (device, name) = (drawn.device, drawn.name)
    switch drawn.pair.deed {
    case .edit: try happen(.edit, to: name, on: device)
    case .delete: try happen(.delete, to: name, on: device)
    case .cancel: try happen(.cancel, to: name, on: device)
    case .submit: try submit(name, on: device)
    case .ended: stop(device)
    case .died: device.disk.plan(.crash(.kill), in: 0)
    case .restored:
      if backups.devices[device.number] == nil {
        keepBackup(of: device)
      } else {
        try restore(device)
      }
    case .copied: try clone(device)
    case .serverEnded: try restartServer()
    case .serverDied: server.disk.plan(.crash(.kill), in: 0)
    case .serverRestored:
      if backups.server.isEmpty { keepServerBackup() } else { try restoreServer() }
    case .changedByOthers: changeByOthers(name, on: device)
    default: break
    }
  }

  private func happen(
    _ act: StatedAct.Act, to name: ObjectNumber, on device: SimulatedDevice
  ) throws {
    let last = device.watch.operations.values.filter { $0.name == name }
      .max { $0.sequence < $1.sequence }
    guard let last, try !happen(act, to: last, on: device), act == .cancel,
      let entity = SimulatedBusiness.package.entity(named: name.entity),
      // An app finds objects whose delete is pending among its pending ones.
      let record = try PendingObjects(device.store).record(entity, name.number)
    else { return }
    try actAsApp(device) { () throws(FerryError) in try cancel(record, device) }
  }

  private func submit(_ name: ObjectNumber, on device: SimulatedDevice) throws {
    guard let entity = SimulatedBusiness.package.entity(named: name.entity) else { return }
    try actAsApp(device) { () throws(FerryError) in
      device.watch.deeds.submit(.object(name))
      _ = try Outbox(device.store).submit(entity, name.number)
      log.say("step \(step): device \(device.number) is guided to submit \(name.text)")
    }
  }

  /// Others change the text of the row, or how many seats it has.
  private func changeByOthers(_ name: ObjectNumber, on device: SimulatedDevice) {
    guard may(.changedByOthers),
      let key = device.watch.operations.values.first(where: { $0.name == name })?.key,
      var values = business.rows(of: name.entity)[key]
    else { return }
    let position = ["Customer": 1, "Tag": 3, "Order": 3][name.entity] ?? 2
    let number = guidance.number(below: 9)
    values[position] = name.entity == "Order" ? .integer(Int64(number)) : .text("guided \(number)")
    let changed = values
    business.changeByOther { $0.write(name.entity, key, changed) }
    counts.add(.changedByOthers)
    for device in devices {
      device.watch.reach(.changedByOthers, RowName(entity: name.entity, key: key))
    }
    log.say("step \(step): others are guided to change \(name.entity) \(key)")
  }
}
