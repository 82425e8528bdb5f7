import FerryMemoryConnector
import FerryModel
import FerrySQLite
import FerryWire

/// The model beside the run: every state of the server's cache by version, against which devices
/// and business system are compared.
///
/// A server that was restored from a backup goes on in a branch of its own; its era tells which.
final class Oracle {
  /// What a download costs.
  struct Cost {
    var rows = 0
    /// Of the rows themselves, and of the keys of those that leave.
    var bytes = 0

    mutating func add(_ other: Cost) {
      rows += other.rows
      bytes += other.bytes
    }

    /// What is more than in the other.
    func beyond(_ other: Cost) -> Cost { Cost(rows: rows - other.rows, bytes: bytes - other.bytes) }

    func isWithin(_ other: Cost) -> Bool { rows <= other.rows && bytes <= other.bytes }
  }

  struct State {
    let version: Int64
    let body: [UInt8]?
  }

  /// The cache's states in one line of history.
  struct Branch {
    var states: [RowName: [State]] = [:]
    /// How far in the business system's own history the cache has each row.
    var places: [RowName: Int] = [:]
    /// The days of visits that devices have, from a version on; none in runs without visits.
    var windows: [(version: Int64, days: ClosedRange<Int64>)] = []
    var clock: Int64 = -1
    /// What came into partitions or left them so far.
    var changed = Cost()
  }

  /// A state of the cache, as far as some agencies may see it.
  private struct View: Hashable {
    let branch: Int
    let version: Int64
    let group: String
    let agencies: Set<Int64>
  }

  private var connection: Connection?
  private var views: [View: [RowName: [UInt8]]] = [:]
  private var observedOperations = -1
  private var eras: [String: Int] = [:]
  private var branches: [Branch] = [Branch()]
  private var current = 0
  private(set) var business = BusinessHistory()

  /// The server has started: what it writes from now on belongs to its era.
  func attach(_ server: SimulatedServer) throws {
    connection = try Connection(path: server.storePath, mode: .readWrite, vfs: server.disk.vfs)
    observedOperations = -1
    if server.isRunning { eras[server.service.era] = current }
  }

  func detach() { connection = nil }

  /// What a backup of the server's store holds.
  func backup() -> Branch { branches[current] }

  func restore(_ backup: Branch) {
    branches.append(backup)
    current = branches.count - 1
  }

  private func store() throws -> Connection {
    guard let connection else { preconditionFailure("the oracle looks at no store") }
    return connection
  }

  // What happens.

  /// Writes down what the business system and the cache have become since the last look.
  func observe(_ real: MemoryBusiness, server: SimulatedServer) throws {
    business.take(real.history)
    guard server.disk.operations != observedOperations else { return }
    observedOperations = server.disk.operations
    let connection = try store()
    let clock = try connection.value("SELECT version FROM package")?.integer ?? 0
    try observeWindow(connection, clock)
    guard clock != branches[current].clock else { return }
    let seen = branches[current].clock
    guard clock > seen else {
      throw SimulationFailure(
        invariant: 8, problem: "the server's clock went from \(seen) back to \(clock)")
    }
    try observeRows(connection, seen: seen, clock: clock, server)
    try observeNumbers(connection, seen: seen, clock: clock)
    branches[current].clock = clock
  }

  /// Invariants 8 and 10: no row comes with a number that the clock has passed; and none goes back
  /// in the business system's history.
  private func observeRows(
    _ connection: Connection, seen: Int64, clock: Int64, _ server: SimulatedServer
  ) throws {
    var applied: Set<RowName> = []
    for row in try ObservedRow.all(connection) {
      let (name, version) = (row.name, row.version)
      let last = branches[current].states[name]?.last
      guard version != last?.version else { continue }
      guard version > seen, version <= clock else {
        throw SimulationFailure(
          invariant: 8,
          problem: "\(name) has the number \(version) where the clock went from \(seen) to \(clock)"
        )
      }
      let body = row.body
      branches[current].states[name, default: []].append(State(version: version, body: body))
      let place = business.place(of: name, body: body, from: branches[current].places[name] ?? 0)
      if let place {
        branches[current].places[name] = place
        applied.insert(name)
      } else if body != nil || !server.withheld.contains(name) {
        throw SimulationFailure(
          invariant: 10,
          problem: "\(name) in the cache went back to \(Oracle.shown(body)) at \(version)")
      }
    }
    server.forgetWithheld(applied)
  }

  /// Which rows are visible changes with the days, though no row does. A window goes back only if a
  /// clock that was wrong had moved it more than a week ahead.
  private func observeWindow(_ connection: Connection, _ clock: Int64) throws {
    guard let days = try Oracle.window(connection) else { return }
    let last = branches[current].windows.last?.days
    guard days != last else { return }
    let first = last?.lowerBound ?? .min
    guard first < days.lowerBound || first > days.lowerBound + 7 else {
      throw SimulationFailure(
        invariant: 4, problem: "the window of visits went back to the day \(days.lowerBound)")
    }
    branches[current].windows.append((clock, days))
  }

  /// The days of visits as they are now.
  var window: ClosedRange<Int64>? { branches[current].windows.last?.days }

  /// Invariant 8: no number is above the clock.
  private func observeNumbers(_ connection: Connection, seen: Int64, clock: Int64) throws {
    let row = try connection.row(
      """
      SELECT (SELECT max(version) FROM member), (SELECT max(version) FROM partition),
        (SELECT max(answer_version) FROM operation), (SELECT max(first_version) FROM era)
      """)
    guard let row else { return }
    for (index, name) in ["member", "partition", "answer", "era"].enumerated() {
      guard let number = row[index].integer, number > clock else { continue }
      throw SimulationFailure(
        invariant: 8, problem: "a \(name) has the number \(number), the clock is at \(clock)")
    }
    branches[current].changed.add(
      try Oracle.cost(
        of: connection.rows("\(Oracle.members) WHERE member.version > ?", .integer(seen))))
  }

  // What it knows.

  /// The cache in a state of the server, as far as these agencies may see it, by rules of our own:
  /// what is in the checkpoint's group.
  func rows(at checkpoint: CheckpointName, for agencies: Set<Int64>) -> [RowName: [UInt8]]? {
    guard let branch = eras[checkpoint.era] else { return nil }
    let view = View(
      branch: branch, version: checkpoint.version, group: checkpoint.group, agencies: agencies)
    if let known = views[view] { return known }
    var all: [RowName: [UInt8]] = [:]
    for (name, states) in branches[branch].states {
      if let body = states.last(where: { $0.version <= checkpoint.version })?.body {
        all[name] = body
      }
    }
    let days = branches[branch].windows.last { $0.version <= checkpoint.version }?.days
    let visible = all.filter {
      SimulatedBusiness.group(of: $0.key.entity) == checkpoint.group
        && Oracle.isVisible($0.key, $0.value, all, agencies, days)
    }
    // What the clock has passed is never another again.
    if checkpoint.version <= branches[branch].clock {
      if views.count >= 16 { views = [:] }
      views[view] = visible
    }
    return visible
  }

  /// The row in a state of the server; nil where it was not there.
  func row(_ name: RowName, at checkpoint: CheckpointName) -> [UInt8]? {
    guard let branch = eras[checkpoint.era] else { return nil }
    return branches[branch].states[name]?.last { $0.version <= checkpoint.version }?.body
  }

  static func isVisible(
    _ name: RowName, _ body: [UInt8], _ all: [RowName: [UInt8]], _ agencies: Set<Int64>,
    _ days: ClosedRange<Int64>? = nil
  ) -> Bool {
    switch name.entity {
    case "Visit":
      let visit = values(body, SimulatedBusiness.visit)
      guard let agency = EffectWatch.agency(visit), let days,
        let day = PartitionWindow.day(of: visit[2])
      else { return false }
      return agencies.contains(agency) && days.contains(day)
    case "Order":
      guard let agency = EffectWatch.agency(values(body, SimulatedBusiness.order)) else {
        return false
      }
      return agencies.contains(agency)
    case "Line":
      let order = RowName(
        entity: "Order", key: ObjectKey([values(body, SimulatedBusiness.line)[0]]))
      guard let parent = all[order] else { return false }
      return isVisible(order, parent, all, agencies)
    case "Tag":
      let tag = values(body, SimulatedBusiness.tag)
      let line = RowName(entity: "Line", key: ObjectKey([tag[1], tag[2]]))
      guard let parent = all[line] else { return false }
      return isVisible(line, parent, all, agencies)
    default: return true
    }
  }

  /// Whether two states belong to one line of history, so that their versions can be compared.
  func areComparable(_ left: CheckpointName, _ right: CheckpointName) -> Bool {
    eras[left.era] != nil && eras[left.era] == eras[right.era]
  }

  /// What came into partitions or left them since the beginning.
  var changed: Cost { branches[current].changed }
  var clock: Int64 { branches[current].clock }

  /// What a device with these cursors has not got of what it may see; all, where there is no cursor.
  func members(above cursors: [Int64: Cursor], for agencies: Set<Int64>) throws -> Cost {
    let rows = try store().rows(Oracle.members)
    let visible = try partitions(for: agencies)
    return Oracle.cost(
      of: rows.filter { row in
        guard visible.contains(row[0].integer ?? 0) else { return false }
        guard let cursor = cursors[row[0].integer ?? 0] else { return true }
        return Cursor(version: row[1].integer ?? 0, row: row[2].integer ?? 0) > cursor
      })
  }

  private static let members = """
    SELECT member.partition, member.version, member.row,
      length(row.key) + coalesce(length(row.body), 0)
    FROM member JOIN row ON row.id = member.row
    """

  private static func cost(of rows: [[SQLiteValue]]) -> Cost {
    Cost(rows: rows.count, bytes: rows.reduce(0) { $0 + Int($1[3].integer ?? 0) })
  }

  /// The group of a partition; nil where there is none of that number.
  func group(ofPartition number: Int64) throws -> String? {
    try store().value("SELECT group_name FROM partition WHERE id = ?", .integer(number))?.text
  }

  private func partitions(for agencies: Set<Int64>) throws -> Set<Int64> {
    let places = Oracle.places(of: agencies)
    let rows = try store().rows("SELECT place, id FROM partition")
    return Set(
      rows.filter { places.contains(ExactText($0[0].text ?? "-")) }.compactMap { $0[1].integer })
  }

  /// The highest number among the partitions of a group that these agencies may see. Nobody sees
  /// what a first load has written before it has ended.
  func lastChange(in group: String, for agencies: Set<Int64>) throws -> Int64 {
    let rows = try store().rows(
      "SELECT place, version FROM partition WHERE group_name = ? AND loaded = 1", .text(group))
    let places = Oracle.places(of: agencies)
    return rows.filter { places.contains(ExactText($0[0].text ?? "-")) }
      .compactMap { $0[1].integer }.max() ?? 0
  }

  /// What the server calls the partitions of these agencies, and that of everyone.
  private static func places(of agencies: Set<Int64>) -> Set<ExactText> {
    Set(
      (agencies.map { "\"\(SimulatedBusiness.name(ofAgency: $0))\"" } + [""]).map { ExactText($0) })
  }

  /// The operations of a device on objects of a group that are answered up to a version, and not
  /// confirmed.
  func answered(
    device: String, user: String, in group: String, upTo version: Int64
  ) throws -> Set<OperationID> {
    let rows = try store().rows(
      """
      SELECT id, entity FROM operation WHERE device = ? AND user = ? AND state = 'answered'
        AND answer_version <= ?
      """, .text(device), .text(user), .integer(version))
    let own = rows.filter { SimulatedBusiness.group(of: $0[1].text ?? "") == group }
    return Set(own.compactMap { $0[0].text.flatMap { OperationID($0) } })
  }

  /// Every answered operation and how it ended.
  func outcomes() throws -> [OperationID: Answer.Outcome] {
    var outcomes: [OperationID: Answer.Outcome] = [:]
    for row in try store().rows("SELECT id, outcome FROM operation WHERE outcome IS NOT NULL") {
      guard let id = row[0].text.flatMap({ OperationID($0) }) else { continue }
      outcomes[id] = row[1].text.flatMap(Answer.Outcome.init(rawValue:))
    }
    return outcomes
  }

  /// Every operation that the server has and that is not answered.
  func waiting() throws -> Set<OperationID> {
    let rows = try store().rows("SELECT id FROM operation WHERE outcome IS NULL")
    return Set(rows.compactMap { $0[0].text.flatMap { OperationID($0) } })
  }

  /// Operations of which nobody knows how they ended, with the key they name.
  func unknowns() throws -> [(id: OperationID, key: ObjectKey?)] {
    try store().rows(
      """
      SELECT id, object_key FROM operation
      WHERE outcome = 'unknown' AND payload IS NOT NULL AND state IN ('answered', 'confirmed')
      ORDER BY sequence
      """
    ).compactMap { row in
      guard let id = row[0].text.flatMap({ OperationID($0) }) else { return nil }
      return (id, row[1].text.map { ObjectKey(text: $0) })
    }
  }

  /// Invariant 9: what every operation brought is in the business system, and nowhere else. One whose
  /// device has forgotten it, before all of its contents had come, waits for the rest.
  func checkNoContents() throws {
    let rows = try store().rows(
      """
      SELECT user, reference, stored, state, day, (SELECT days FROM server) FROM content
      WHERE NOT EXISTS (
        SELECT 1 FROM operation WHERE operation.user = content.user
        AND operation.state IN ('stored', 'claimed')
        AND instr(CAST(operation.payload AS TEXT), content.reference))
      ORDER BY id
      """)
    guard rows.isEmpty else {
      let shown = rows.map { row in
        "\(row[3].text ?? "") \(row[2].integer ?? 0) of \(row[1].text ?? "") of \(row[0].text ?? "") "
          + "since day \(row[4].integer ?? 0) of \(row[5].integer ?? 0)"
      }
      throw SimulationFailure(
        invariant: 9,
        problem: "the server keeps what nothing needs any more: \(shown.joined(separator: "; "))")
    }
  }

  /// The cache as it is now.
  func present() -> [RowName: [UInt8]] {
    branches[current].states.compactMapValues { $0.last?.body }
  }

  /// Invariant 9: the sums that the server keeps with every change are those of the rows.
  func checkSums() throws {
    var sums: [Int64: (sum: UInt64, count: Int64)] = [:]
    for row in try store().rows(
      "SELECT partition, hash FROM row WHERE deleted = 0 AND partition IS NOT NULL")
    {
      let known = sums[row[0].integer ?? 0] ?? (0, 0)
      let hash = UInt64(bitPattern: row[1].integer ?? 0)
      sums[row[0].integer ?? 0] = (known.sum &+ hash, known.count + 1)
    }
    for row in try store().rows("SELECT id, sum, count FROM partition") {
      let real = sums[row[0].integer ?? 0] ?? (0, 0)
      guard real.sum != UInt64(bitPattern: row[1].integer ?? 0) || real.count != row[2].integer
      else { continue }
      throw SimulationFailure(
        invariant: 9, problem: "the sum of the partition \(row[0].integer ?? 0) is not its rows'")
    }
  }

  static func values(_ body: [UInt8], _ entity: Entity) -> [AttributeValue] {
    let read = try? RowCoder.decode(body, types: entity.attributes.map(\.type))
    return read ?? [AttributeValue](repeating: .null, count: entity.attributes.count)
  }

  static func shown(_ body: [UInt8]?) -> String {
    body.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
  }

  /// What two sets of rows differ in.
  static func difference(_ found: [RowName: [UInt8]], _ wanted: [RowName: [UInt8]]) -> String {
    let names = Set(found.keys).union(wanted.keys).sorted { $0.description < $1.description }
    return names.filter { found[$0] != wanted[$0] }.prefix(5).map {
      "\($0) is \(shown(found[$0])), should be \(shown(wanted[$0]))"
    }.joined(separator: "; ")
  }
}
