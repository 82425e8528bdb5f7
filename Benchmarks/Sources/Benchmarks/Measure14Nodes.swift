import FerryModel
import FerryWire
import Foundation

extension Measure {
  /// The server's store in PostgreSQL, with fsync: loads, empty polls, replay, an old snapshot, and
  /// the time until another node leads.
  static let nodes = Measure(number: 14, name: "a store in PostgreSQL") { setting in
    let peer = try PostgreSQLPeer()
    defer { peer.end() }
    return try NodeRun.loads(peer, setting) + NodeRun.polls(peer, setting)
      + NodeRun.replay(peer, setting) + NodeRun.takeover(peer, setting)
  }
}

private enum NodeRun {
  private static let rule = #", "partition": {"columns": {"shelf": "claim:shelf"}}"#

  /// A server whose store is in a database of its own, made anew unless `isNext`.
  private static func server(
    _ peer: PostgreSQLPeer, model: String = Item.model, isNext: Bool = false, _ setting: Setting
  ) throws -> Server {
    if !isNext {
      try peer.sql("DROP DATABASE IF EXISTS store WITH (FORCE)", in: "postgres")
      try peer.sql("CREATE DATABASE store", in: "postgres")
    }
    return try Server(
      items: 0, model: model, options: ["--store", peer.address("store")],
      postgreSQL: peer.address("bench"), setting)
  }

  /// Rows of the business database into the store, against COPY into a table without indexes and
  /// INSERT … SELECT from there into tables with the store's indexes.
  static func loads(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> [Figure] {
    let count = setting.n(1_000_000, quick: 5_000)
    var (ours, raw): ([Double], [Double]) = ([], [])
    try peer.makeItems(count)
    for round in 0..<(setting.isQuick ? 1 : min(setting.rounds, 3)) {
      let server = try server(peer, setting)
      server.end()
      ours.append(Double(count) / server.loadSeconds)
      let path = "/tmp/ferry-bench-\(UUID().uuidString)"
      try peer.sql(
        """
        COPY (SELECT r.*, m.partition AS place FROM ferry_store.row AS r
          JOIN ferry_store.member AS m ON m.row = r.id) TO '\(path)';
        CREATE SCHEMA plain;
        CREATE TABLE plain.row (LIKE ferry_store.row INCLUDING ALL);
        CREATE TABLE plain.member (LIKE ferry_store.member INCLUDING ALL);
        CREATE TABLE plain.given AS SELECT r.*, 0::int8 AS place FROM ferry_store.row AS r LIMIT 0
        """, in: "store")
      try peer.sql("CHECKPOINT", in: "store")
      let names = try peer.sql(
        """
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'ferry_store.row'::regclass AND attnum > 0 AND NOT attisdropped
        """, in: "store"
      ).trimmingCharacters(in: .whitespacesAndNewlines)
      let time = try seconds {
        try peer.sql(
          """
          COPY plain.given FROM '\(path)';
          INSERT INTO plain.row (\(names)) SELECT \(names) FROM plain.given;
          INSERT INTO plain.member (partition, version, row, has_left)
            SELECT place, version, id, false FROM plain.given
          """, in: "store")
      }
      raw.append(Double(count) / time)
      try FileManager.default.removeItem(atPath: path)
      setting.say("\(Int(ours[round])) rows/s, COPY and INSERT … SELECT \(Int(raw[round]))")
    }
    return [
      Figure(
        14, "a load into the store", n: count, unit: "rows/s", ours: median(ours),
        limit: median(raw), of: "COPY and INSERT … SELECT", aim: .ratioAtLeast(0.6))
    ]
  }

  /// Polls with nothing new, each second of the server's processors.
  static func polls(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> [Figure] {
    let count = setting.n(20_000, quick: 200)
    try peer.makeItems(setting.n(10_000, quick: 500))
    let shared = try server(peer, model: Item.model(rule: rule), setting)
    let file = try Server(
      items: 0, model: Item.model(rule: rule), postgreSQL: peer.address("bench"), setting)
    defer {
      shared.end()
      file.end()
    }
    var speeds: [[Double]] = [[], []]
    let servers = [shared, file]
    let requests = try servers.map { server in
      let device = try WireDevice(server, name: "poller")
      while try !device.exchange(device.request()).messages.contains(where: { message in
        if case .checkpoint = message { true } else { false }
      }) {}
      return device.request()
    }
    for _ in setting.eachRound(of: 3) {
      for (place, server) in servers.enumerated() {
        let before = server.child.processorSeconds
        _ = try Measure.load(requests[place], server.port, count, expects: 200)
        speeds[place].append(Double(count) / (server.child.processorSeconds - before))
      }
    }
    return [
      Figure(
        14, "empty poll, each second of the server's processors", n: count, unit: "polls",
        ours: median(speeds[0]), limit: median(speeds[1]), of: "with the store in a file",
        aim: .ratioAtLeast(0.9))
    ]
  }

  /// Durable replay of sixteen users, and the same beside a snapshot that stays open.
  static func replay(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> [Figure] {
    let count = setting.n(8_000, quick: 320)
    var (ours, raw, beside): ([Double], [Double], [Double]) = ([], [], [])
    for round in setting.eachRound(of: 2) {
      raw.append(try PostgreSQLRun.limit(peer, setting))
      try peer.makeItems(0)
      try peer.prepare(setting)
      let server = try server(peer, setting)
      ours.append(Double(count) / (try PostgreSQLRun.send(count, server)))
      let reader = try peer.terminal("store")
      try reader.type(
        "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ferry_store.number")
      // What these leave behind cannot be cleaned up.
      _ = try PostgreSQLRun.send(count, after: count, server)
      beside.append(Double(count) / (try PostgreSQLRun.send(count, after: 2 * count, server)))
      reader.end()
      let rows = try peer.sql("SELECT count(*) FROM items").filter(\.isNumber)
      guard rows == String(3 * count) else { throw Trouble("\(rows) rows of \(3 * count)") }
      server.end()
      setting.say(
        "replay \(Int(ours[round])), beside a snapshot \(Int(beside[round])), "
          + "pgbench \(Int(raw[round]))")
    }
    return [
      Figure(
        14, "replay, 16 users, a tenth sent twice", n: count, unit: "operations/s",
        ours: median(ours), limit: median(raw), of: "pgbench, one-row inserts, 16 clients",
        aim: .ratioAtLeast(0.5)),
      Figure(
        14, "the same beside a snapshot open for \(2 * count) operations", n: count,
        unit: "operations/s", ours: median(beside), limit: median(ours), of: "without one",
        aim: .ratioAtLeast(0.8)),
    ]
  }

  /// From the death of the leader to the answer of an operation that another node has taken in.
  static func takeover(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> [Figure] {
    var times: [Double] = []
    for round in 0..<(setting.isQuick ? 1 : 5) {
      try peer.makeItems(0)
      try peer.prepare(setting)
      let leader = try server(peer, setting)
      let other = try server(peer, isNext: true, setting)
      let device = try WireDevice(other, name: "device", user: "user-1")
      try device.exchange(device.request())
      let operation = ReplayRun.operation(1)
      leader.end()
      let start = ContinuousClock.now
      var isAnswered = false
      var last = ""
      while !isAnswered {
        guard start.duration(to: .now) < .seconds(60) else {
          throw Trouble("nobody leads: \(last)")
        }
        // A node that begins to lead answers 503 for a moment.
        do {
          let known = try device.exchange(
            device.request(replay: [operation.bytes], open: [operation.id], pulls: false))
          if case .welcome(let welcome)? = known.messages.first {
            isAnswered = welcome.operations.contains { $0.state == .answered }
          }
          last = "\(known.messages)"
        } catch { last = "\(error)" }
        if !isAnswered { usleep(20_000) }
      }
      times.append(start.duration(to: .now).seconds)
      other.end()
      setting.say("takeover \(round + 1): \(String(format: "%.2f", times[round])) s")
    }
    return [
      Figure(
        14, "the leader is killed, until an operation is answered", n: times.count, unit: "s",
        ours: median(times), aim: .atMost(5), p99: times.max())
    ]
  }
}
