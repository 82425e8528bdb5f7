import FerryJSON
import FerryModel
import FerryWire

@testable import Ferry

/// The other shore, as small as the device's tests need it: rows with versions, answers, messages.
final class Shore {
  struct Row {
    var values: [AttributeValue]?
    var version: Int64
    var partition: Int64
  }

  let model: Package
  var server = "server-1"
  /// Messages that it takes; an older one takes fewer.
  var takes = [Welcome.report]
  var era = "era-1"
  private(set) var clock: Int64 = 0
  private(set) var rows: [String: [ObjectKey: Row]] = [:]
  /// Members that left a partition: partition, entity, key, version.
  private var leaves: [(partition: Int64, entity: String, key: ObjectKey, version: Int64)] = []
  var stored: [OperationID: Operation] = [:]
  private(set) var received: [[UInt8]] = []
  private var answers: [Answer] = []
  var partitions: [Int64] = [1]
  var resets: [Int64] = []
  var neverSeen: Set<OperationID> = []
  /// Added to the sums, to make them wrong.
  var sumError: UInt64 = 0
  /// How many checkpoints still say that the server loads.
  var loadingCheckpoints = 0
  /// How far it says that it is with that.
  var loadStanding: LoadStanding?
  /// Rows in one page.
  var pageRows = 2

  init(_ model: Package) { self.model = model }

  func put(_ entity: Entity, _ values: [AttributeValue], partition: Int64 = 1) {
    clock += 1
    let key = entity.key(of: values)
    if let known = rows[entity.name]?[key], known.values != nil, known.partition != partition {
      leaves.append((known.partition, entity.name, key, clock))
    }
    leaves.removeAll { $0.partition == partition && $0.entity == entity.name && $0.key == key }
    rows[entity.name, default: [:]][key] = Row(values: values, version: clock, partition: partition)
  }

  func remove(_ entity: Entity, _ key: ObjectKey) {
    clock += 1
    guard let known = rows[entity.name]?.removeValue(forKey: key) else { return }
    leaves.append((known.partition, entity.name, key, clock))
  }

  /// Performs an operation as the business system would and answers it. `written`: what it writes
  /// otherwise than asked. `more`: what others change before the device hears of it.
  func accept(
    _ id: OperationID, newKey: ObjectKey? = nil, writing written: [Int: AttributeValue] = [:],
    changing more: [Int: AttributeValue] = [:],
    saying records: [LogRecord] = []
  ) {
    guard let operation = stored[id], let entity = model.entity(named: operation.entity) else {
      return
    }
    let key = newKey ?? operation.key
    if operation.kind == .delete {
      if let key { remove(entity, key) }
    } else {
      var values =
        key.flatMap { rows[entity.name]?[$0]?.values }
        ?? [AttributeValue](repeating: .null, count: entity.attributes.count)
      for (position, value) in operation.changed { values[position] = value }
      for (position, value) in written { values[position] = value }
      for (position, value) in more { values[position] = value }
      if let newValues = newKey?.values(of: entity) {
        for (index, position) in entity.key.enumerated() { values[position] = newValues[index] }
      }
      put(entity, values)
    }
    var answer = Answer(
      id: id, version: clock, outcome: .replayResult, newKey: newKey, logRecords: records)
    for (position, value) in written { answer.written[entity.attributes[position].name] = value }
    answers.append(answer)
  }

  /// Has the operation, as a server that was restarted has what it had stored.
  func take(_ operation: Operation) { stored[operation.id] = operation }

  func refuse(_ id: OperationID, code: Int = 412, _ message: String = "no") {
    guard let operation = stored[id] else { return }
    clock += 1
    let record = LogRecord(
      component: operation.entity, entityKey: operation.key?.text ?? "", code: code,
      message: message, operation: operation.kind, requestID: id, timestamp: 1, level: .error)
    answers.append(
      Answer(id: id, version: clock, outcome: .replayFailed, newKey: nil, logRecords: [record]))
  }

  func answer(_ id: OperationID, _ outcome: Answer.Outcome, _ records: [LogRecord] = []) {
    clock += 1
    answers.append(
      Answer(id: id, version: clock, outcome: outcome, newKey: nil, logRecords: records))
  }

  /// The answer to an exchange: what a device gets for what it sent.
  func respond(to body: [UInt8]) throws -> [Message] {
    var out: [Message] = []
    var begins: Set<Int64> = []
    for frame in try FrameReader.frames(of: body) {
      switch try Message(frame) {
      case .hello(let hello):
        begins = Set(resets)
        out.append(.welcome(welcome(hello)))
      case .replay(let replay):
        var ids: [OperationID] = []
        for bytes in replay.operations {
          let operation = try Operation(bytes, in: model)
          received.append(bytes)
          stored[operation.id] = operation
          ids.append(operation.id)
        }
        out.append(.stored(Stored(ids: ids, refused: [])))
      case .confirm(let confirm): answers.removeAll { confirm.answers.contains($0.id) }
      case .pull(let pull): out += try download(pull, fromStart: begins)
      default: break
      }
    }
    return out
  }

  private func welcome(_ hello: Hello) -> Welcome {
    let known = Set(hello.partitions.map(\.partition))
    let resets = self.resets
    self.resets = []
    var welcome = Welcome(
      server: server, era: era, clock: clock, rightsVersion: "1",
      keep: partitions.filter { known.contains($0) && !resets.contains($0) },
      start: partitions.filter { !known.contains($0) }.map {
        PartitionPlace(partition: $0, group: "default")
      },
      drop: known.subtracting(partitions).sorted(), reset: resets,
      operations: hello.open.map { id in
        let isAnswered = answers.contains { $0.id == id }
        let isKnown = stored[id] != nil && !neverSeen.contains(id)
        return OperationStatus(
          id: id, state: isAnswered ? .answered : isKnown ? .inWork : .neverSeen)
      }, expectedRows: expectedRows(known.subtracting(resets)))
    welcome.takes = takes
    return welcome
  }

  private func expectedRows(_ known: Set<Int64>) -> Int64 {
    let live = rows.values.flatMap(\.values).filter { row in
      row.values != nil && partitions.contains(row.partition) && !known.contains(row.partition)
    }
    return Int64(live.count)
  }

  func download(_ pull: Pull, fromStart: Set<Int64>) throws -> [Message] {
    guard loadingCheckpoints == 0 else {
      loadingCheckpoints -= 1
      var checkpoint = Checkpoint(
        group: "default", era: era, version: clock, partitions: [], answers: [],
        rightsVersion: "1", unavailable: partitions)
      checkpoint.load = loadStanding
      return [.checkpoint(checkpoint)]
    }
    var out: [Message] = []
    var sums: [PartitionSum] = []
    for partition in partitions {
      var from = pull.staged.first { $0.partition == partition }?.cursor ?? .start
      if fromStart.contains(partition) { from = .start }
      for page in try pages(partition, from: from) {
        out.append(.rows(page))
        from = page.to
      }
      let live = rows.flatMap { name, rows in
        rows.compactMap { key, row -> Int64? in
          guard row.partition == partition, let values = row.values else { return nil }
          return RowHash.of(entity: name, key: key, body: RowCoder.encode(values))
        }
      }
      let sum = live.reduce(sumError) { $0 &+ UInt64(bitPattern: $1) }
      sums.append(
        PartitionSum(partition: partition, cursor: from, sum: sum, count: Int64(live.count)))
    }
    out.append(
      .checkpoint(
        Checkpoint(
          group: "default", era: era, version: clock, partitions: sums,
          answers: answers.filter { $0.version <= clock }, rightsVersion: "1", unavailable: [])))
    return out
  }

  func pages(_ partition: Int64, from: Cursor) throws -> [RowsPage] {
    var changes: [(version: Int64, entity: Entity, key: ObjectKey, values: [AttributeValue]?)] = []
    for entity in model.entities {
      for (key, row) in rows[entity.name] ?? [:]
      where row.partition == partition && row.version > from.version {
        changes.append((row.version, entity, key, row.values))
      }
      for leave in leaves
      where leave.partition == partition && leave.entity == entity.name
        && leave.version > from.version
      {
        changes.append((leave.version, entity, leave.key, nil))
      }
    }
    changes.sort { ($0.version, $0.key.text) < ($1.version, $1.key.text) }
    var pages: [RowsPage] = []
    var cursor = from
    while !changes.isEmpty || pages.isEmpty {
      var writer = RowsPageWriter()
      let now = changes.prefix(pageRows)
      changes.removeFirst(now.count)
      for change in now {
        if let values = change.values {
          writer.row(change.entity, body: RowCoder.encode(values))
        } else {
          writer.left(change.entity, key: change.key)
        }
      }
      let to = changes.isEmpty ? Cursor.end(of: clock) : Cursor.end(of: now.last?.version ?? clock)
      let json = writer.json(partition: partition, from: cursor, to: to, at: clock)
      pages.append(try RowsPage(json: json))
      cursor = to
    }
    return pages
  }
}
