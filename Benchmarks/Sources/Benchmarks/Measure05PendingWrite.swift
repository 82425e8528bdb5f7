import Ferry
import Foundation

extension Measure {
  /// The app's save against the same rows by raw SQLite, each in one transaction.
  static let pendingWrite = Measure(number: 5, name: "local pending write") { setting in
    var figures: [Figure] = []
    for durability in [Durability.application, .machine] {
      for kind in PendingWrite.Kind.allCases {
        figures += try await PendingWrite(kind: kind, durability: durability, setting).take()
      }
    }
    return figures
  }
}

/// One kind of save at one level of durability.
private struct PendingWrite {
  enum Kind: String, CaseIterable {
    case update = "object, original and operation"
    case create = "object and operation"
  }

  let kind: Kind
  let durability: Durability
  let setting: Setting
  let count: Int
  /// Objects that are on the device before.
  let there: Int64

  init(kind: Kind, durability: Durability, _ setting: Setting) {
    self.kind = kind
    self.durability = durability
    self.setting = setting
    count = setting.n(durability == .machine ? 1_000 : 5_000, quick: 50)
    there = Int64(setting.n(20_000, quick: 200))
  }

  private var synchronous: String { durability == .machine ? "FULL" : "NORMAL" }

  func take() async throws -> [Figure] {
    // By round.
    var ours: [[Double]] = []
    var raw: [[Double]] = []
    for round in setting.eachRound(of: 4) {
      let paths = (setting.path("ours.db"), setting.path("raw.db"))
      try await fill(paths.0)
      try FileManager.default.copyItem(atPath: paths.0, toPath: paths.1)
      let template = try await template()
      // In turns, so that what goes first is not always the same.
      let isOursFirst = round % 2 == 0
      if isOursFirst { ours.append(try await save(paths.0)) }
      raw.append(try write(paths.1, template))
      if !isOursFirst { ours.append(try await save(paths.0)) }
      setting.remove(paths.0)
      setting.remove(paths.1)
    }
    let name = "\(kind.rawValue), synchronous \(synchronous)"
    let p99 = percentile99(ours.flatMap(\.self))
    return [
      Figure(
        5, name, n: count, unit: "ms", ours: median(ours.map(median)),
        limit: median(raw.map(median)), of: "raw SQLite",
        aim: .ratioAtMost(1.3), p99: p99),
      Figure(
        5, "\(name), p99", n: count, unit: "ms", ours: p99,
        limit: percentile99(raw.flatMap(\.self)),
        of: "raw SQLite", aim: .atMost(1)),
    ]
  }

  private func open(_ path: String) throws -> FerryDatabase {
    try FerryDatabase.open(
      at: path, package: Item.package,
      profile: ConnectionProfile(server: "http://127.0.0.1:9"), durability: durability)
  }

  /// A database with objects as an import leaves them.
  private func fill(_ path: String) async throws {
    try await open(path).close()
    let raw = try RawDatabase(path)
    try DeviceTable(raw).insert(1...there, raw)
    try raw.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = WAL")
  }

  /// Milliseconds of each save.
  private func save(_ path: String) async throws -> [Double] {
    let database = try open(path)
    var objects =
      kind == .update
      ? try Item.findAll(take: count, in: database)
      : (1...Int64(count)).map { Item(there + $0, in: database) }
    precondition(objects.count == count, "\(objects.count) objects are there")
    var times: [Double] = []
    times.reserveCapacity(count)
    for index in objects.indices {
      if kind == .update { objects[index].name = "another name" }
      let start = ContinuousClock.now
      if kind == .update { try objects[index].update() } else { try objects[index].create() }
      times.append(start.duration(to: .now).seconds * 1_000)
    }
    await database.close()
    return times
  }

  /// An operation as the device writes it, by column.
  private func template() async throws -> [(column: String, value: StaticText?)] {
    let path = setting.path("template.db")
    try await fill(path)
    let database = try open(path)
    if kind == .update {
      var object = try Item.findAll(take: 1, in: database)[0]
      object.name = "another name"
      try object.update()
    } else {
      var object = Item(there + 1, in: database)
      try object.create()
    }
    await database.close()
    let raw = try RawDatabase(path)
    defer { setting.remove(path) }
    let columns = try raw.texts("SELECT name FROM pragma_table_info('ferry_operation')")
      .compactMap { $0[0] }.filter { $0 != "sequence" }
    let row = try raw.texts("SELECT \(columns.joined(separator: ", ")) FROM ferry_operation")
    guard let values = row.first else { throw Trouble("a save left no operation") }
    return zip(columns, values).map { ($0, $1.map { StaticText($0) }) }
  }

  /// The same rows; milliseconds of each transaction.
  private func write(
    _ path: String, _ template: [(column: String, value: StaticText?)]
  ) throws -> [Double] {
    let raw = try RawDatabase(path)
    try DeviceTable.configure(raw, synchronous: synchronous)
    let table = try DeviceTable(raw)
    let operation = try raw.prepare(
      """
      INSERT INTO ferry_operation (\(template.map(\.column).joined(separator: ", ")))
      VALUES (\(template.map { _ in "?" }.joined(separator: ", ")))
      """)
    let change = try raw.prepare(
      "UPDATE \"Item\" SET _pending = 'U', _partition = NULL, _hash = NULL, name = ? WHERE _id = ?")
    let original = try raw.prepare(
      """
      INSERT INTO "ferry_original_Item" (_id, _partition, _hash, \(table.attributes))
      SELECT _id, _partition, _hash, \(table.attributes) FROM "Item" WHERE _id = ?
      """)
    let create = try table.statement(raw, pending: "C")
    let begin = try raw.prepare("BEGIN IMMEDIATE")
    let commit = try raw.prepare("COMMIT")
    let ids = (0..<count).map { StaticText(String(format: "%032x", $0)) }
    let name = StaticText("another name")
    var times: [Double] = []
    times.reserveCapacity(count)
    for (index, id) in ids.enumerated() {
      let number = kind == .update ? Int64(index) + 1 : there + Int64(index) + 1
      let start = ContinuousClock.now
      try begin.run()
      if kind == .update {
        original.bind(number, 1)
        try original.run()
        change.bind(name, 1)
        change.bind(number, 2)
        try change.run()
      } else {
        ItemValues.bind(number, to: create, from: 1)
        try create.run()
      }
      for (place, entry) in template.enumerated() {
        let position = Int32(place + 1)
        switch entry.column {
        case "id", "chain": operation.bind(id, position)
        case "object": operation.bind(number, position)
        default: if let value = entry.value { operation.bind(value, position) }
        }
      }
      try operation.run()
      try commit.run()
      times.append(start.duration(to: .now).seconds * 1_000)
    }
    return times
  }
}
