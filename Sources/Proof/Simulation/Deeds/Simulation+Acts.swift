import Ferry
import FerryModel

/// What apps do, and to what it is done.
extension Simulation {
  /// Counts what an app has done by the states in which the changes of its objects were.
  func countActs(_ device: SimulatedDevice) {
    countReach(device)
    for (act, object) in device.watch.deeds.acts {
      for operation in device.watch.operations.values where operation.name == object {
        counts.acts[StatedAct(state: operation.stage, act: act), default: 0] += 1
      }
    }
  }

  private func countReach(_ device: SimulatedDevice) {
    let watch = device.watch
    for (act, object) in watch.deeds.acts {
      switch act {
      case .edit: watch.reach(.edit, object, isKnown: true)
      case .delete: watch.reach(.delete, object, isKnown: true)
      case .cancel: watch.reach(.cancel, object)
      }
    }
    switch watch.deeds.submitted {
    case .object(let name): watch.reach(.submit, name)
    case .all(let entity):
      for name in watch.states.keys where name.entity == entity { watch.reach(.submit, name) }
    case nil: break
    }
  }

  /// Does something to an object of which a change is in the wanted state; where there is none it may
  /// do what leads there. False where nothing was done.
  func happen(_ turn: StatedAct) throws -> Bool {
    for device in devices where device.isRunning {
      let operations = device.watch.operations.values.sorted { $0.sequence < $1.sequence }
      for operation in operations where operation.stage == turn.state {
        var act = turn.act
        // Nothing of a withdrawn change is left to be cancelled: something must come behind it.
        let isAlone = !operations.contains {
          $0.name == operation.name && $0.state != .withdrawn
        }
        if act == .cancel, isAlone { act = .edit }
        if try happen(act, to: operation, on: device) { return true }
      }
      guard turn.state == .withdrawn else { continue }
      // What was never sent is taken back at once.
      for operation in operations where operation.stage == .sent && operation.kind == .update {
        if try happen(.cancel, to: operation, on: device) { return true }
      }
    }
    return false
  }

  /// False where its object is not visible.
  func happen(
    _ act: StatedAct.Act, to operation: PendingOperation, on device: SimulatedDevice
  ) throws -> Bool {
    guard let entity = SimulatedBusiness.package.entity(named: operation.entity),
      let record = try Records(device.store).of(entity, object: operation.object)
    else { return false }
    try actAsApp(device) { () throws(FerryError) in
      switch act {
      case .edit:
        var edited = record
        let position = ["Customer": 1, "Tag": 3][entity.name] ?? 2
        edited.set(position, "TURN \(step)")
        _ = try save(edited, .update, device)
      case .delete: _ = try save(record, .delete, device)
      case .cancel: try cancel(record, device)
      }
      log.say("step \(step): device \(device.number) has its turn: \(act) of \(operation.shown)")
    }
    return true
  }
}
