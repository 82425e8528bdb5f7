import Ferry
import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld

/// Deeds that only some seeds have. A stream of their own draws them, so every other seed is the run
/// that it was without them.
struct Extras {
  enum Kind {
    /// Devices choose by parameters which orders they have.
    case parameters
    /// Rows go to another agency while their big values are under way.
    case moves
    /// An old backup of a device goes on beside it for long, and both change the same objects.
    case twins
    /// The server is set back to before a batch was sent.
    case batches
    /// Devices have visits of some days, and the days pass.
    case windows
  }

  let chance: SeededChance
  private let kinds: Set<Kind>
  /// Backups of devices, each of the step at which it was made.
  var images: [(number: Int, image: SimulatedDevice.Image, step: Int)] = []
  /// The device that goes on beside another one, as numbers.
  var twins: (first: Int, second: Int)?
  /// The server as it was before a batch was sent.
  var backup: Backups.Server?

  /// By the last digit of the seed, from 6 on. A business system in four, of even seeds, does not remember
  /// operations, and there a server is never restored.
  init(seed: UInt64, _ business: SimulationPlan.Business) {
    chance = SeededChance(seed ^ 0xE57A)
    kinds =
      switch seed > 5 ? seed % 10 : 0 {
      case 1: [.twins, .batches]
      case 2: [.moves]
      // A service has no visits.
      case 6: business == .database ? [.windows] : []
      case 8: [.parameters]
      default: []
      }
  }

  func has(_ kind: Kind) -> Bool { kinds.contains(kind) }
}

extension Simulation {
  func takeExtras() throws {
    if extras.has(.parameters), extras.chance.happens(40) { try changeParameters() }
    if extras.has(.moves), extras.chance.happens(500) { try moveUnderWay() }
    if extras.has(.twins) { try goOnBeside() }
    if extras.has(.batches) { try setBackBatch() }
    if extras.has(.windows) { try planVisits() }
  }

  // Parameters.

  /// An app saves a set of parameters, removes one, or removes all. Some choose what their user's
  /// claims do not allow.
  private func changeParameters() throws {
    let device = extras.chance.pick(devices)
    let choice = extras.chance.number(below: 10)
    let agency = SimulatedBusiness.name(ofAgency: extras.chance.pick(SimulatedBusiness.agencies))
    guard device.isRunning, may(.parametersChanged) else { return }
    try actAsApp(device) { () throws(FerryError) in
      device.watch.cause = nil
      let set = ParameterSet(["agency": agency])
      let isChanged = try device.store.withTransaction { transaction throws(FerryError) in
        let table = ParameterTable(transaction)
        return switch choice {
        case ..<6: try table.save(set)
        case ..<9: try table.remove(set)
        default: try table.removeAll()
        }
      }
      guard isChanged else { return }
      counts.add(.parametersChanged)
      log.say(
        "step \(step): device \(device.number) "
          + (choice < 6 ? "saves the set \(agency)" : "removes \(choice < 9 ? agency : "all sets")")
      )
      try device.session.parametersChanged()
    }
  }

  /// What a request asks for by parameters; nil where the model has none.
  func chosen(by request: Transfer.Request) -> Set<Int64>? {
    guard extras.has(.parameters), let frames = try? FrameReader.frames(of: request.body),
      let first = frames.first, case .hello(let hello)? = try? Message(first)
    else { return nil }
    return SimulatedBusiness.agencies(chosenBy: hello.parameters.sets.map { $0["agency"] })
  }

  /// What an exchange may bring: its user's rights of now, as far as its device has chosen them.
  func rights(of transfer: Transfer) -> Set<Int64> {
    let rights = users.rights(of: transfer.user)
    return transfer.chosen.map(rights.intersection) ?? rights
  }

  /// What a device is to show.
  func rights(of device: SimulatedDevice) throws -> Set<Int64> {
    let rights = users.rights(of: device.user)
    return try device.chosenAgencies().map(rights.intersection) ?? rights
  }

  // Rows that move while their big values are under way.

  /// Others give an order whose photo is sent or downloaded to another agency. What is downloaded goes
  /// on when the server may know of it.
  private func moveUnderWay() throws {
    if extras.chance.happens(60) { try askForPhoto() }
    let rows = business.rows(of: "Order")
    var found: [(key: ObjectKey, agencies: [Int64])] = []
    for download in downloads {
      guard let answer = download.answer, download.offset < download.end, rows[answer.key] != nil,
        answer.entity.name == "Order", step >= download.goesOnAt
      else { continue }
      let seen = users.rights(of: answer.identity.user)
        .union(SimulatedUsers.rights(ofClaims: answer.identity.claims))
      found.append((answer.key, SimulatedBusiness.agencies.filter { !seen.contains($0) }))
    }
    for transfer in transfers where transfer.request.isContent {
      let operations = transfer.device.watch.operations.values.filter { operation in
        operation.entity == "Order" && operation.isInFlight && rows[operation.key] != nil
          && operation.changed.values.contains { $0.bigReference != nil }
      }
      found += operations.sorted { $0.sequence < $1.sequence }.map { ($0.key, []) }
    }
    guard !found.isEmpty else { return }
    let (key, hidden) = extras.chance.pick(found)
    let isHidden = extras.chance.happens(700) && !hidden.isEmpty
    let number = extras.chance.pick(isHidden ? hidden : SimulatedBusiness.agencies)
    let wait = 30 + extras.chance.number(below: 60)
    let agency = SimulatedBusiness.name(ofAgency: number)
    guard may(.movedUnderWay), var values = rows[key], values[1] != .text(agency) else { return }
    values[1] = .text(agency)
    let moved = values
    business.changeByOther { $0.write("Order", key, moved) }
    for download in downloads where download.answer?.key == key { download.goesOnAt = step + wait }
    counts.add(.movedUnderWay)
    for device in devices {
      device.watch.reach(.changedByOthers, RowName(entity: "Order", key: key))
    }
    log.say("step \(step): others give Order \(key) to \(agency) while its photo is under way")
  }

  private func askForPhoto() throws {
    let device = extras.chance.pick(devices)
    guard device.isRunning, device.downloads.isEmpty, may(.movedUnderWay) else { return }
    try actAsApp(device) { () throws(FerryError) in
      device.watch.cause = nil
      let places = try device.missingContents().filter { $0.entity.name == "Order" }
      if !places.isEmpty { ask(device, for: extras.chance.pick(places)) }
    }
  }

  // Two copies of one device.

  /// A device that was restored to another phone from an old backup goes on beside the first.
  private func goOnBeside() throws {
    guard let (first, second) = pair() else {
      extras.twins = nil
      return try restoreBeside()
    }
    guard first.isRunning, second.isRunning, extras.chance.happens(200) else { return }
    // Both have the same change, and its people do something to it on either.
    let known = Set(second.watch.operations.values.map(\.name))
    let shared = first.watch.operations.values.filter { known.contains($0.name) }
      .sorted { $0.sequence < $1.sequence }
    guard !shared.isEmpty, may(.backupBeside) else { return }
    let operation = extras.chance.pick(shared)
    for device in [first, second] where extras.chance.happens(700) {
      let act = extras.chance.pick(StatedAct.Act.allCases)
      guard device.isRunning,
        let own = device.watch.operations.values
          .filter({ $0.name == operation.name }).max(by: { $0.sequence < $1.sequence })
      else { continue }
      _ = try happen(act, to: own, on: device)
      try settleTroubles()
      try look()
    }
  }

  private func pair() -> (SimulatedDevice, SimulatedDevice)? {
    guard let twins = extras.twins,
      let first = devices.first(where: { $0.number == twins.first }),
      let second = devices.first(where: { $0.number == twins.second })
    else { return nil }
    return (first, second)
  }

  private func restoreBeside() throws {
    let device = extras.chance.pick(devices)
    let isKept = extras.chance.happens(30)
    let life = 120 + extras.chance.number(below: 200)
    guard device.endsAt == nil, device.wipe == nil, !device.disk.isTroubled else { return }
    if isKept {
      // One that has something to send: that is what both go on with.
      guard device.isRunning, !device.watch.operations.isEmpty else { return }
      extras.images = [(device.number, device.copy(), step)]
      return
    }
    guard let kept = extras.images.first, kept.number == device.number, step >= kept.step + 30,
      devices.count < 4, may(.backupBeside), maySetBack
    else { return }
    extras.images = []
    counts.add(.backupBeside)
    device.watch.reach(.copied)
    isDeviceSetBack = true
    device.watch.isCopied()
    let twin = try addDevice(
      user: device.user, durability: .machine, disk: kept.image.disk.copy()
    ) { twin in
      twin.watch.forget()
      twin.watch.claims = kept.image.claims
    }
    twin.endsAt = step + life
    extras.twins = (device.number, twin.number)
    log.say(
      "step \(step): the backup of device \(device.number) of step \(kept.step) goes on as "
        + "\(twin.number) beside it")
  }

  // A batch that the server forgets.

  /// The server goes on from a copy of before a batch of a device was sent: best when the device knows
  /// that all of it is answered, and has not fetched that. Its app synchronizes at once.
  private func setBackBatch() throws {
    let isOpen = devices.contains { !$0.batches.isEmpty }
    let ready = try isOpen ? devices.first(where: isAnswered) : nil
    let isDue = extras.chance.happens(ready != nil ? 900 : isOpen ? 10 : 80)
    let count = counts.faults[.restoredWithBatch, default: 0]
    guard isDue, mayCopyServer else { return }
    guard isOpen else {
      extras.backup = serverBackup()
      return
    }
    guard let backup = extras.backup, may(.restoredWithBatch), count < (ready != nil ? 4 : 1) else {
      return
    }
    counts.add(.restoredWithBatch)
    try goOn(from: backup)
    guard let session = ready?.session, session.plan == nil else { return }
    session.begin(
      SynchronizationPlan(
        number: session.nextPlanNumber(), groups: SimulatedBusiness.groups, isUploadOnly: true,
        awaitsAnswers: false))
  }

  private func isAnswered(_ device: SimulatedDevice) throws -> Bool {
    guard device.isRunning, !device.batches.isEmpty, !device.disk.isTroubled,
      device.session.plan == nil
    else { return false }
    return try device.sql { (connection) throws(SQLiteError) in
      try connection.value(
        """
        SELECT 1 FROM ferry_batch_member AS member
        JOIN ferry_operation AS operation ON operation.id = member.operation
        WHERE member.finished = 1 AND operation.state = 'submitted' LIMIT 1
        """) != nil
    }
  }
}
