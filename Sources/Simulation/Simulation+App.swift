import Ferry
import FerryModel

/// What people do with their devices.
extension Simulation {
  func actAsApp(_ device: SimulatedDevice) throws {
    guard device.isRunning else { return }
    let entity = chance.pick(SimulatedBusiness.package.entities)
    do throws(FerryError) {
      try device.logInIfNeeded()
      let records = try device.store.records(entity, "ORDER BY _id", [])
      let choice = chance.number(below: 100)
      let removes = choice < 18 || (60..<70).contains(choice) || choice >= 93
      device.watch.cause = .app(removes: removes)
      switch choice {
      case ..<18: try create(entity, device, records)
      case ..<50: try update(device, records)
      case ..<60:
        // What one transaction changes is replayed as one.
        counts.add(.transaction)
        try device.store.write { _ throws(FerryError) in
          try self.update(device, records)
          let others = try device.store.records(
            self.chance.pick(SimulatedBusiness.package.entities), "ORDER BY _id", [])
          try self.update(device, others)
        }
      case ..<70: if !records.isEmpty { try delete(device, chance.pick(records)) }
      case ..<93: try submit(device, entity)
      default: try cancel(device, entity)
      }
    } catch {
      // What the store refuses is no change; where the disk fails the app is told.
      guard error.code != .store || device.disk.isTroubled else { throw error }
      log.say("step \(step): device \(device.number) is told \(error.message)")
    }
  }

  private func create(
    _ entity: Entity, _ device: SimulatedDevice, _ records: [Record]
  ) throws(FerryError) {
    var record = Record(entity, store: device.store)
    switch entity.name {
    case "Customer":
      record.set(0, "N\(chance.number(below: 100_000))")
      record.set(1, "new")
    case "Order":
      record.set(1, chance.pick(SimulatedBusiness.agencies))
      record.set(2, chance.pick(["kiel", "ULM"]))
      record.set(3, Int64(chance.number(below: 11)))
      counts.references += 1
      record.set(4, "R\(counts.references)")
    default:
      let orders = try device.store.records(SimulatedBusiness.order, "ORDER BY _id", [])
      guard !orders.isEmpty else { return }
      let order: Int64 = chance.pick(orders).get(0)
      record.set(0, order)
      record.set(1, Int64(chance.number(below: 1_000) + 10))
      record.set(2, "line")
    }
    guard try device.store.save(try record.change(.create)) != nil else { return }
    log.say("step \(step): device \(device.number) creates \(entity.name)")
  }

  private func update(_ device: SimulatedDevice, _ records: [Record]) throws(FerryError) {
    guard !records.isEmpty else { return }
    // People come back to what they were at: that is where edits meet answers.
    let pending = records.filter { $0.pending != .none }
    var record = chance.pick(chance.happens(500) && !pending.isEmpty ? pending : records)
    switch record.entity.name {
    case "Customer": record.set(1, "name \(chance.number(below: 50))")
    case "Order":
      if chance.happens(500) {
        record.set(2, chance.pick(["Kiel", "ULM", "jena", "HOF"]))
      } else {
        record.set(3, Int64(chance.number(below: 14)))
      }
      if chance.happens(150) { record.set(1, chance.pick(SimulatedBusiness.agencies)) }
    default: record.set(2, "text \(chance.number(below: 50))")
    }
    _ = try device.store.save(try record.change(.update))
    log.say("step \(step): device \(device.number) updates \(record.entity.name) \(record.key)")
  }

  private func delete(_ device: SimulatedDevice, _ record: Record) throws(FerryError) {
    _ = try device.store.save(try record.change(.delete))
    log.say("step \(step): device \(device.number) deletes \(record.entity.name) \(record.key)")
  }

  private func submit(_ device: SimulatedDevice, _ entity: Entity) throws(FerryError) {
    try device.store.submitAll(entity)
    log.say("step \(step): device \(device.number) submits \(entity.name)")
  }

  private func cancel(_ device: SimulatedDevice, _ entity: Entity) throws(FerryError) {
    let pending = try device.store.records(entity, "WHERE _pending <> 'N' ORDER BY _id", [])
    guard !pending.isEmpty, let object = chance.pick(pending).object else { return }
    _ = try device.store.cancel(entity, object)
    counts.cancelled += 1
    log.say("step \(step): device \(device.number) cancels \(entity.name) object \(object)")
  }
}
