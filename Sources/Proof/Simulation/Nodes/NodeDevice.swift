import FerryJSON
import FerryModel
import FerryServer
import FerryWire
import FerryWorld

/// A device of a run with several nodes, as small as it can be: it speaks the protocol, keeps what it
/// was sent in memory, and takes any node for its server.
final class NodeDevice {
  struct Row {
    let body: [UInt8]
    let values: [AttributeValue]
    let hash: UInt64
    let partition: Int64
  }

  /// A change that has no answer yet.
  struct Change {
    let id: OperationID
    let bytes: [UInt8]
    let row: RowName
  }

  let name: String
  let user: String
  let agencies: Set<Int64>
  private(set) var rows: [RowName: Row] = [:]
  private(set) var changes: [Change] = []
  private(set) var answers: [OperationID: Answer.Outcome] = [:]
  /// Of each group: the last checkpoint, and the latest state of which it has pages.
  private(set) var versions: [String: Int64] = [:]
  private var stagedAt: [String: Int64] = [:]
  private var server: String?
  private var era: String?
  private var cursors: [Int64: Cursor] = [:]
  private var groups: [Int64: String] = [:]
  private var unconfirmed: [(group: String, version: Int64, id: OperationID)] = []

  init(name: String, user: String, agencies: Set<Int64>) {
    self.name = name
    self.user = user
    self.agencies = agencies
  }

  func identity(now: Timestamp) -> Identity {
    Identity(
      user: user, device: name,
      claims: ["agency": agencies.sorted().map(SimulatedBusiness.name(ofAgency:))],
      expires: now.advanced(by: .seconds(900)))
  }

  func isChanging(_ row: RowName) -> Bool { changes.contains { $0.row == row } }
  func add(_ change: Change) { changes.append(change) }

  /// Asks for all groups, with all that has no answer.
  func request() -> [UInt8] {
    let positions = cursors.sorted { $0.key < $1.key }
      .map { PartitionCursor(partition: $0.key, cursor: $0.value) }
    let hello = Hello(
      server: server, package: SimulatedBusiness.package.id, device: name, incarnation: "1",
      groups: SimulatedBusiness.groups.map {
        GroupPosition(name: $0, era: era, version: versions[$0] ?? 0)
      },
      partitions: positions, open: changes.map(\.id))
    var bytes = Message.hello(hello).frame.encoded()
    for answer in unconfirmed {
      let confirm = Confirm(group: answer.group, version: answer.version, answers: [answer.id])
      bytes += Message.confirm(confirm).frame.encoded()
    }
    if !changes.isEmpty {
      bytes += Message.replay(Replay(operations: changes.map(\.bytes))).frame.encoded()
    }
    for group in SimulatedBusiness.groups {
      let staged = positions.filter { groups[$0.partition] == group }
      bytes += Message.pull(Pull(group: group, staged: staged, at: stagedAt[group] ?? 0)).frame
        .encoded()
    }
    return bytes
  }

  /// What the server says. Gives a checkpoint that it has reached.
  func take(_ message: Message) throws -> Checkpoint? {
    switch message {
    case .welcome(let welcome): try take(welcome)
    case .rows(let page): try take(page)
    case .checkpoint(let checkpoint): return try take(checkpoint)
    default: break
    }
    return nil
  }

  private func take(_ welcome: Welcome) throws {
    // No store goes back in these runs, and no floor rises.
    guard welcome.reset.isEmpty else {
      throw SimulationFailure(
        invariant: 8,
        problem: "\(name) is to download the partitions \(welcome.reset) anew, and nothing was lost"
      )
    }
    server = welcome.server
    for place in welcome.start {
      cursors[place.partition] = .start
      groups[place.partition] = place.group
    }
    for partition in welcome.drop {
      cursors[partition] = nil
      rows = rows.filter { $0.value.partition != partition }
    }
  }

  private func take(_ page: RowsPage) throws {
    guard cursors[page.partition] == page.from else { return }
    try page.read(
      of: SimulatedBusiness.package, wrap: { (error: JSONError) -> any Error in error },
      row: { entity, values, hash in
        rows[RowName(entity: entity.name, key: entity.key(of: values))] = Row(
          body: RowCoder.encode(values), values: values, hash: UInt64(bitPattern: hash),
          partition: page.partition)
      },
      left: { entity, key in
        let name = RowName(entity: entity.name, key: key)
        if rows[name]?.partition == page.partition { rows[name] = nil }
      })
    cursors[page.partition] = page.to
    guard let group = groups[page.partition] else { return }
    stagedAt[group] = max(stagedAt[group] ?? 0, page.at)
  }

  private func take(_ checkpoint: Checkpoint) throws -> Checkpoint {
    era = checkpoint.era
    let last = versions[checkpoint.group] ?? 0
    guard checkpoint.version >= last else {
      throw SimulationFailure(
        invariant: 8,
        problem: "\(name) goes from \(last) back to \(checkpoint.version) of \(checkpoint.group)")
    }
    for answer in checkpoint.answers {
      if let known = answers[answer.id], known != answer.outcome {
        throw SimulationFailure(
          invariant: 2,
          problem: "\(answer.id) is answered \(answer.outcome.rawValue) after \(known.rawValue)")
      }
      answers[answer.id] = answer.outcome
      changes.removeAll { $0.id == answer.id }
    }
    unconfirmed.removeAll { $0.group == checkpoint.group }
    unconfirmed += checkpoint.answers.map { (checkpoint.group, checkpoint.version, $0.id) }
    guard checkpoint.unavailable.isEmpty else { return checkpoint }
    for partition in checkpoint.partitions {
      let own = rows.values.filter { $0.partition == partition.partition }
      guard own.count == Int(partition.count),
        own.reduce(0, { $0 &+ $1.hash }) == partition.sum
      else {
        throw SimulationFailure(
          invariant: 9, problem: "\(name) has another sum of partition \(partition.partition)")
      }
      cursors[partition.partition] = .end(of: checkpoint.version)
    }
    versions[checkpoint.group] = checkpoint.version
    stagedAt[checkpoint.group] = checkpoint.version
    return checkpoint
  }
}
