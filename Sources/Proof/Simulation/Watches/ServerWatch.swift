import FerryModel
import FerryWire

/// Looks at every byte that the server sends.
struct ServerWatch {
  let oracle: Oracle
  let ledger: Ledger

  /// Takes one piece of a response, as the server made it. Returns how many partitions it resets.
  func inspect(_ bytes: [UInt8], on transfer: Transfer) throws -> Int {
    var resets = 0
    var cost = Oracle.Cost()
    for frame in try FrameReader.frames(of: bytes) {
      switch frame.kind {
      case .welcome:
        guard case .welcome(let welcome) = try Message(frame) else { continue }
        resets += welcome.reset.count
        try allow(welcome, on: transfer)
      case .rows:
        guard case .rows(let page) = try Message(frame) else { continue }
        let rows = try checkRights(page, transfer)
        guard frame.content.count <= rows.bytes + ServerWatch.pageOverheadBytes else {
          throw SimulationFailure(
            invariant: 13,
            problem: "a page has \(frame.content.count) bytes for \(rows.bytes) of rows")
        }
        cost.add(rows)
      case .checkpoint:
        guard case .checkpoint(let checkpoint) = try Message(frame) else { continue }
        try take(checkpoint, on: transfer)
      case .stored:
        guard case .stored(let stored) = try Message(frame) else { continue }
        try checkWhole(stored)
        guard !transfer.isStrange else { continue }
        for answer in stored.refused { ledger.tell(answer, in: nil) }
      default: break
      }
    }
    try checkCost(cost, transfer)
    return resets
  }

  /// Invariant 3: of a group of which one makes no sense nothing is taken.
  private func checkWhole(_ stored: Stored) throws {
    guard let taken = stored.ids.first(where: ledger.spoilt.contains) else { return }
    throw SimulationFailure(
      invariant: 3, problem: "the server took \(taken), whose group it refused in part")
  }

  /// What a page has beside its rows: cursors, and the names of three entities' attributes.
  private static let pageOverheadBytes = 700

  /// Invariant 13: a piece is no larger than a round, and a whole download no larger than what is
  /// above the cursors and what changed meanwhile.
  private func checkCost(_ cost: Oracle.Cost, _ transfer: Transfer) throws {
    transfer.brought.add(cost)
    let limits = SimulatedServer.limits
    guard cost.rows <= limits.roundRows + limits.pageRows else {
      throw SimulationFailure(invariant: 13, problem: "one round has \(cost.rows) rows")
    }
    var allowed = transfer.allowance
    allowed.add(oracle.changed)
    guard transfer.brought.isWithin(allowed) else {
      throw SimulationFailure(
        invariant: 13,
        problem: "device \(transfer.device.number) got \(transfer.brought); "
          + "\(allowed) was above its cursors or changed since")
    }
  }

  private func allow(_ welcome: Welcome, on transfer: Transfer) throws {
    var cursors: [Int64: Cursor] = [:]
    for frame in try FrameReader.frames(of: transfer.request.body) {
      switch try Message(frame) {
      case .hello(let hello):
        for place in hello.partitions where cursors[place.partition] == nil {
          cursors[place.partition] = place.cursor
        }
      case .pull(let pull):
        for place in pull.staged where place.cursor != .start {
          cursors[place.partition] = place.cursor
        }
      default: break
      }
    }
    for number in welcome.reset + welcome.start.map(\.partition) { cursors[number] = nil }
    // What changed before does not count.
    var allowed = transfer.allowance
    allowed.add(oracle.changed)
    if allowed.isWithin(transfer.brought) { allowed = transfer.brought }
    allowed.add(try oracle.members(above: cursors, for: transfer.rights))
    transfer.allowance = allowed.beyond(oracle.changed)
  }

  /// Invariant 11: no row leaves for somebody who may not see it in the snapshot it is from. Returns
  /// what the rows cost.
  private func checkRights(_ page: RowsPage, _ transfer: Transfer) throws -> Oracle.Cost {
    var names: [RowName] = []
    var cost = Oracle.Cost(rows: page.rowCount)
    do throws(JSONProblem) {
      try page.read(
        of: SimulatedBusiness.packageWithVisits, wrap: { JSONProblem(text: "\($0)") },
        row: { (entity, values, _) throws(JSONProblem) in
          names.append(RowName(entity: entity.name, key: entity.key(of: values)))
          cost.bytes += RowCoder.encode(values).count
        }, left: { (_, key) throws(JSONProblem) in cost.bytes += key.text.utf8.count })
    } catch {
      throw SimulationFailure(invariant: 11, problem: "a page cannot be read: \(error.text)")
    }
    let era = transfer.era
    guard let group = try oracle.group(ofPartition: page.partition) else {
      throw SimulationFailure(
        invariant: 11, problem: "a page is of the partition \(page.partition), which is not there")
    }
    let checkpoint = CheckpointName(group: group, era: era, version: page.at)
    guard let visible = oracle.rows(at: checkpoint, for: transfer.rights) else {
      throw SimulationFailure(
        invariant: 11, problem: "a page is of the era \(era), which no server has begun")
    }
    for name in names where visible[name] == nil {
      throw SimulationFailure(
        invariant: 11,
        problem: "\(name) was sent to \(transfer.device.user), who may see the agencies "
          + "\(transfer.rights.sorted()) at \(page.at)")
    }
    return cost
  }

  /// Invariant 6: a checkpoint carries every answer up to it on objects of its group, and no other.
  private func take(_ checkpoint: Checkpoint, on transfer: Transfer) throws {
    transfer.checkpoints[checkpoint.group] = CheckpointName(checkpoint)
    let astray = checkpoint.answers.first { answer in
      guard let birth = ledger.births[answer.id] else { return false }
      return SimulatedBusiness.group(of: birth.last.entity) != checkpoint.group
    }
    if let astray {
      throw SimulationFailure(
        invariant: 6,
        problem: "the checkpoint \(checkpoint.version) of \(checkpoint.group) carries the answer "
          + "of \(astray.id), which is of another group")
    }
    try checkCurrent(checkpoint, transfer)
    ledger.carry(checkpoint, to: transfer.device.number)
    guard let device = transfer.deviceID, checkpoint.unavailable.isEmpty else { return }
    let missing = try oracle.answered(
      device: device, user: transfer.device.user, in: checkpoint.group, upTo: checkpoint.version
    ).subtracting(checkpoint.answers.map(\.id))
    guard let first = missing.map(\.text).min() else { return }
    throw SimulationFailure(
      invariant: 6,
      problem: "the checkpoint \(checkpoint.version) for device \(transfer.device.number) lacks "
        + "the answer of \(first)")
  }

  /// Invariant 9: what is called current holds every change that was committed before the question.
  private func checkCurrent(_ checkpoint: Checkpoint, _ transfer: Transfer) throws {
    guard checkpoint.currency == .current, let asked = transfer.asked else { return }
    let cached = oracle.present()
    for (name, states) in asked.sorted(by: { $0.key.description < $1.key.description })
    where SimulatedBusiness.group(of: name.entity) == checkpoint.group {
      guard oracle.business.place(of: name, body: cached[name], from: states - 1) == nil else {
        continue
      }
      throw SimulationFailure(
        invariant: 9,
        problem: "the checkpoint \(checkpoint.version) is called current, and the cache has an "
          + "older \(name) than the business system had at the question")
    }
  }

  /// A channel that waits has brought all that it is to bring: what came between its last look and
  /// its wait was not lost.
  func checkWaiting(_ transfer: Transfer) throws {
    for (group, checkpoint) in transfer.checkpoints.sorted(by: { $0.key < $1.key }) {
      let last = try oracle.lastChange(in: group, for: transfer.rights)
      guard last > checkpoint.version else { continue }
      throw SimulationFailure(
        invariant: 9,
        problem: "the channel of device \(transfer.device.number) waits at \(checkpoint.version) "
          + "of \(group), its partitions are at \(last)")
    }
  }
}

private struct JSONProblem: Error { let text: String }
