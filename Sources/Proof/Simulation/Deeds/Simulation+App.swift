import Ferry
import FerryModel

/// What people do with their devices.
extension Simulation {
  func actAsApp(_ device: SimulatedDevice) throws {
    guard device.isRunning else { return }
    let entity = chance.pick(SimulatedBusiness.package.entities)
    try actAsApp(device) { () throws(FerryError) in
      switch chance.number(below: 112) {
      case 100...:
        try handleContents(device)
      case ..<16:
        try create(entity, device)
      case ..<44:
        try update(entity, device)
      case ..<57:
        try changeTogether(device)
      case ..<65:
        try delete(entity, device)
      case ..<89:
        try submit(device, entity)
      case ..<96:
        try cancel(device, entity)
      default:
        device.watch.cause = nil
        synchronize(device)
      }
    }
  }

  /// What an app does in one step, written down for its watch.
  func actAsApp(_ device: SimulatedDevice, _ body: () throws(FerryError) -> Void) throws {
    do throws(FerryError) {
      try device.logInIfNeeded()
      device.watch.deeds = AppDeeds()
      device.watch.cause = .app
      try body()
      countActs(device)
    } catch {
      // What the store refuses is no change; where the disk fails the app is told.
      guard error.code != .store || device.disk.isTroubled else { throw error }
      device.watch.deeds.end = device.disk.isDying ? .died : .undone
      log.say("step \(step): device \(device.number) is told \(error.message)")
    }
  }

  /// Changes in one transaction: what it changes is replayed as one. Some are taken back, whole or
  /// in part.
  private func changeTogether(_ device: SimulatedDevice) throws(FerryError) {
    let store = device.store
    let count = 2 + chance.number(below: 3)
    var isTakenBack = false
    try store.transaction { () throws(FerryError) in
      switch chance.number(below: 10) {
      case ..<3: try createWithLines(device)
      case ..<4: try deleteWithLines(device)
      default: for _ in 0..<count { try changeSomething(device) }
      }
      if chance.happens(120) {
        let before = device.watch.deeds
        try store.transaction { () throws(FerryError) in
          try changeSomething(device)
          try FlawedApp.rollback(store, planted)
        }
        device.watch.deeds = before
      }
      if chance.happens(60) {
        log.say("step \(step): device \(device.number) takes its transaction back")
        try FlawedApp.rollback(store, planted)
        isTakenBack = true
      } else {
        counts.add(.transaction)
      }
    }
    if isTakenBack { device.watch.deeds = AppDeeds() }
    log.say("step \(step): device \(device.number) ends a transaction")
  }

  /// A change that is refused at once is not made, and the rest of its transaction stands.
  private func changeSomething(_ device: SimulatedDevice) throws(FerryError) {
    let entity = chance.pick(SimulatedBusiness.package.entities)
    let before = device.watch.deeds
    do throws(FerryError) {
      switch chance.number(below: 11) {
      case ..<2: try create(entity, device)
      case ..<8: try update(entity, device)
      case ..<9: try writeContent(device)
      default: try delete(entity, device)
      }
    } catch {
      guard error.code != .store else { throw error }
      device.watch.deeds = before
      log.say("step \(step): device \(device.number) is told \(error.message)")
    }
  }

  private func createWithLines(_ device: SimulatedDevice) throws(FerryError) {
    guard let order = try create(SimulatedBusiness.order, device) else { return }
    for number in 0..<(1 + chance.number(below: 2)) {
      var line = ObjectRecord(SimulatedBusiness.line, store: device.store)
      let id: Int64 = order.get(0)
      line.set(0, id)
      line.set(1, Int64(number))
      line.set(2, "with its order")
      guard let made = try save(line, .create, device), chance.happens(400) else { continue }
      var tag = ObjectRecord(SimulatedBusiness.tag, store: device.store)
      let number: Int64 = made.get(1)
      tag.set(0, newCode())
      tag.set(1, id)
      tag.set(2, number)
      tag.set(3, "with its line")
      _ = try save(tag, .create, device)
    }
  }

  /// The order first: what it must be performed after comes later.
  private func deleteWithLines(_ device: SimulatedDevice) throws(FerryError) {
    let orders = try Records(device.store).all(SimulatedBusiness.order, "ORDER BY _id", [])
    guard !orders.isEmpty else { return }
    let order = chance.pick(orders)
    let lines = try Records(device.store).all(SimulatedBusiness.line, "ORDER BY _id", [])
    let tags = try Records(device.store).all(SimulatedBusiness.tag, "ORDER BY _id", [])
    _ = try save(order, .delete, device)
    // Lines of an order that was only here have gone with it.
    for line in lines + tags where line.values[line.entity.name == "Tag" ? 1 : 0] == order.values[0]
    {
      guard try Records(device.store).of(line.entity, object: line.object ?? 0) != nil else {
        continue
      }
      _ = try save(line, .delete, device)
    }
  }

  @discardableResult
  private func create(
    _ entity: Entity, _ device: SimulatedDevice
  ) throws(FerryError) -> ObjectRecord? {
    var record = ObjectRecord(entity, store: device.store)
    switch entity.name {
    case "Customer":
      // Keys of their own making meet, and one that was deleted may come again.
      record.set(
        0, chance.happens(250) ? SimulatedBusiness.code(chance.number(below: 5)) : newCode())
      record.set(1, "new")
    case "Order":
      record.set(1, agencyName())
      record.set(2, chance.pick(["kiel", "ULM"]))
      record.set(3, Int64(chance.number(below: 11)))
      counts.references += 1
      record.set(4, "R\(counts.references)")
      if chance.happens(500) { record.set(6, try customer(device)) }
    case "Tag":
      guard let line = try line(device) else { return nil }
      record.set(0, chance.happens(250) ? "T\(chance.number(below: 9))" : newCode())
      let (order, number): (Int64, Int64) = (line.get(0), line.get(1))
      record.set(1, order)
      record.set(2, number)
      record.set(3, "tag")
    default:
      let orders = try Records(device.store).all(SimulatedBusiness.order, "ORDER BY _id", [])
      guard !orders.isEmpty else { return nil }
      let order: Int64 = chance.pick(orders).get(0)
      record.set(0, order)
      record.set(1, Int64(chance.number(below: 1_000) + 10))
      record.set(2, "line")
    }
    guard let made = try save(record, .create, device) else { return nil }
    log.say("step \(step): device \(device.number) creates \(entity.name) \(made.key)")
    return made
  }

  /// Of an order; a new one rather than another.
  private func customer(_ device: SimulatedDevice) throws(FerryError) -> String? {
    let customers = try Records(device.store).all(SimulatedBusiness.customer, "ORDER BY _id", [])
    let new = customers.filter { $0.pending == .create }
    let among = new.isEmpty || chance.happens(300) ? customers : new
    return among.isEmpty ? nil : chance.pick(among).get(0)
  }

  /// For a tag; a new one rather than another.
  private func line(_ device: SimulatedDevice) throws(FerryError) -> ObjectRecord? {
    let lines = try Records(device.store).all(SimulatedBusiness.line, "ORDER BY _id", [])
    let new = lines.filter { $0.pending == .create }
    let among = new.isEmpty || chance.happens(300) ? lines : new
    return among.isEmpty ? nil : chance.pick(among)
  }

  private func agencyName() -> String {
    SimulatedBusiness.name(ofAgency: chance.pick(SimulatedBusiness.agencies))
  }

  private func newCode() -> String { "N\(chance.number(below: 100_000))" }

  private func update(_ entity: Entity, _ device: SimulatedDevice) throws(FerryError) {
    let records = try Records(device.store).all(entity, "ORDER BY _id", [])
    guard !records.isEmpty else { return }
    // People come back to what they were at: that is where edits meet answers.
    let pending = records.filter { $0.pending != .none }
    var record = chance.pick(chance.happens(500) && !pending.isEmpty ? pending : records)
    // What stands on a screen may be older than what the device has by now.
    if chance.happens(150), let held = device.held, held.entity == entity { record = held }
    if record.pending == .none { device.held = record }
    switch record.entity.name {
    case "Customer": record.set(1, "name \(chance.number(below: 50))")
    case "Order":
      if chance.happens(500) {
        record.set(2, chance.pick(["Kiel", "ULM", "jena", "HOF"]))
      } else {
        record.set(3, Int64(chance.number(below: 14)))
      }
      if chance.happens(150) { record.set(1, agencyName()) }
      if chance.happens(250) { record.set(6, try customer(device)) }
    case "Tag":
      record.set(3, "text \(chance.number(below: 50))")
      guard chance.happens(500), let line = try line(device), line.pending == .none else { break }
      // Often it is another line of the same order: then one attribute of the reference changes.
      let (order, number): (Int64, Int64) = (line.get(0), line.get(1))
      record.set(1, order)
      record.set(2, number)
    default: record.set(2, "text \(chance.number(below: 50))")
    }
    _ = try save(record, .update, device)
    log.say("step \(step): device \(device.number) updates \(record.entity.name) \(record.key)")
  }

  private func delete(_ entity: Entity, _ device: SimulatedDevice) throws(FerryError) {
    let records = try Records(device.store).all(entity, "ORDER BY _id", [])
    guard !records.isEmpty else { return }
    let record = chance.pick(records)
    _ = try save(record, .delete, device)
    log.say("step \(step): device \(device.number) deletes \(record.entity.name) \(record.key)")
  }

  /// All of an entity, or one object.
  private func submit(_ device: SimulatedDevice, _ entity: Entity) throws(FerryError) {
    if chance.happens(250) {
      let pending = try Records(device.store).all(entity, "WHERE _pending <> 'N' ORDER BY _id", [])
      guard !pending.isEmpty, let object = chance.pick(pending).object else { return }
      device.watch.deeds.submit(.object(ObjectNumber(entity: entity.name, number: object)))
      _ = try Outbox(device.store).submit(entity, object)
      log.say("step \(step): device \(device.number) submits \(entity.name) object \(object)")
    } else {
      device.watch.deeds.submit(.all(entity: entity.name))
      do throws(FerryError) { try Outbox(device.store).submitAll(entity) } catch {
        // What refers to an object that is no more stays; everything else is submitted (sync/P3).
        guard error.code.keepsChange else { throw error }
        device.watch.deeds.stays = true
        log.say("step \(step): device \(device.number) is told \(error.message)")
      }
      log.say("step \(step): device \(device.number) submits \(entity.name)")
    }
  }

  private func cancel(_ device: SimulatedDevice, _ entity: Entity) throws(FerryError) {
    let pending = try Records(device.store).all(entity, "WHERE _pending <> 'N' ORDER BY _id", [])
    guard !pending.isEmpty else { return }
    try cancel(chance.pick(pending), device)
  }

  func cancel(_ record: ObjectRecord, _ device: SimulatedDevice) throws(FerryError) {
    guard let object = record.object else { return }
    try touchLines(of: record, device)
    device.watch.deeds.cancel(ObjectNumber(entity: record.entity.name, number: object))
    _ = try PendingStore.cancel(record.entity, object, in: device.store)
    counts.cancelled += 1
    log.say("step \(step): device \(device.number) cancels \(record.entity.name) object \(object)")
  }

  /// The app asks by itself, or leaves it to be asked, or says that the network may be back.
  private func synchronize(_ device: SimulatedDevice) {
    if device.isReplicationBased { return beginSession(device) }
    switch chance.number(below: 5) {
    case 4: askCurrent(device)
    case 0: device.session.requestExchange()
    case 1: device.session.requestExchange(awaitingAnswers: true)
    case 2: device.session.setBackground(chance.happens(600))
    default: device.session.wake()
    }
    log.say("step \(step): device \(device.number) asks for what is new")
  }
}
