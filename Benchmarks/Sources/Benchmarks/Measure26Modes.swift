import Ferry
import FerryModel
import FerryWire
import Foundation

extension Measure {
  /// A replication-based session that waits for one operation, and the order of groups.
  static let modes = Measure(number: 26, name: "modes of synchronization") { setting in
    [try await Modes.oneOperation(setting), try await Modes.priorities(setting)]
  }
}

private enum Modes {
  /// A session that carries one update and waits for its answer, against the same operation sent by
  /// hand, asked for without a pause, and one exchange that brings the result.
  static func oneOperation(_ setting: Setting) async throws -> Figure {
    let server = try Server(items: setting.n(10_000, quick: 200), setting)
    defer { server.end() }
    var settings = SessionSettings()
    settings.synchronization = .replicationBased
    let path = setting.path("modes.db")
    let database = try FerryDatabase.open(
      at: path, package: Item.package,
      profile: ConnectionProfile(server: server.address, session: settings))
    defer { setting.remove(path) }
    try await database.onlineLogin(user: "anna", password: Server.password)
    try database.subscribe()
    try await database.synchronize()
    let writer = try WireDevice(server, name: "by-hand")
    while try writer.exchange(writer.request()).bytes > 1_000 {}
    let count = setting.n(200, quick: 3)
    var ours: [Double] = []
    var byHand: [Double] = []
    var number = 0
    for round in 0...setting.rounds {
      for _ in 0..<count {
        number += 1
        guard var item = try Item.findAll(in: database).first else { throw Trouble("no item") }
        item.name = "session \(number)"
        try item.update()
        let session = try await seconds {
          try await database.synchronize(groups: ["default"], awaitingAnswers: true)
        }
        let hand = try seconds { try performByHand(writer, number) }
        // The first round warms up what is cached.
        if round > 0 {
          ours.append(1_000 * session)
          byHand.append(1_000 * hand)
        }
      }
    }
    await database.close()
    return Figure(
      26, "a session that waits for one operation", n: count, unit: "ms", ours: median(ours),
      limit: median(byHand), of: "the operation and one exchange", aim: .ratioAtMost(1.2),
      p99: percentile99(ours))
  }

  private static func performByHand(_ writer: WireDevice, _ number: Int) throws {
    guard let id = OperationID(String(format: "%016x%016x", 26, number)) else {
      preconditionFailure("an id has 32 digits")
    }
    let old: AttributeValue = number == 1 ? ItemValues.values(2)[1] : .integer(Int64(number - 1))
    let operation = Operation(
      id: id, chain: id, entity: "Item", kind: .update, key: ObjectKey([.integer(2)]),
      changed: [1: .integer(Int64(number))], base: [1: old])
    try writer.exchange(
      writer.request(replay: [operation.encoded(for: Item.entity)], pulls: false))
    let start = ContinuousClock.now
    while true {
      let (messages, _) = try writer.exchange(writer.request(open: [id], pulls: false))
      guard case .welcome(let welcome)? = messages.first else { throw Trouble("no welcome") }
      if welcome.operations.allSatisfy({ $0.state == .answered }) { break }
      guard start.duration(to: .now) < .seconds(20) else {
        throw Trouble("operation \(number) was not answered in 20 s: \(welcome.operations)")
      }
    }
    try writer.exchange(writer.request(confirms: true))
  }

  /// Ten groups of the same size: when the first one is whole, against the end of all.
  static func priorities(_ setting: Setting) async throws -> Figure {
    let rows = setting.n(10_000, quick: 50)
    let names = (0..<10).map { "part\($0)" }
    let entities = names.map { name in
      """
      {"name": "\(name)", "table": "\(name)", "group": "\(name)", "attributes": [
        {"name": "id", "type": "long"}, {"name": "text", "type": "string"}], "key": ["id"]}
      """
    }
    let model = """
      {"name": "Parts", "version": "1.0",
       "groups": [\(names.map { "\"\($0)\"" }.joined(separator: ", "))],
       "entities": [\(entities.joined(separator: ", "))]}
      """
    let tables = names.map { name in
      """
      CREATE TABLE \(name) (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO \(name) SELECT i, 'row ' || i || ' of \(name) with some more text in it' FROM n;
      """
    }
    let server = try Server(items: 0, model: model, tables: tables.joined(), setting)
    defer { server.end() }
    guard let package = ModelReader.read(Array(model.utf8), file: "parts.json").package else {
      throw Trouble("the model of the parts cannot be read")
    }
    var first: [Double] = []
    var all: [Double] = []
    for round in setting.eachRound() {
      let path = setting.path("parts-\(round).db")
      var settings = SessionSettings()
      settings.synchronization = .replicationBased
      let database = try FerryDatabase.open(
        at: path, package: package,
        profile: ConnectionProfile(server: server.address, session: settings))
      try await database.onlineLogin(user: "anna", password: Server.password)
      try database.subscribe()
      let start = ContinuousClock.now
      // From the last to the first: the order is the app's, not the model's.
      let session = try database.beginSynchronize(groups: names.reversed())
      let watching = Task {
        let name = names[9]
        while try RawDatabase(path).number("SELECT count(*) FROM \"\(name)\"") < rows {
          try await Task.sleep(for: .milliseconds(1))
        }
        return start.duration(to: .now).seconds
      }
      try await session.value
      all.append(start.duration(to: .now).seconds)
      first.append(try await watching.value)
      await database.close()
      setting.remove(path)
    }
    return Figure(
      26, "the first of ten groups is visible", n: 10 * rows, unit: "s", ours: median(first),
      limit: median(all), of: "the end of all ten", aim: .ratioAtMost(0.15))
  }
}
