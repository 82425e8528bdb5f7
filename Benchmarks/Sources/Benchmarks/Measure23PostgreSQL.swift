import FerryModel
import FerryWire
import Foundation
import Synchronization

extension Measure {
  /// A business database of PostgreSQL, with fsync, against PostgreSQL without Ferry.
  static let postgreSQL = Measure(number: 23, name: "PostgreSQL") { setting in
    let peer = try PostgreSQLPeer()
    defer { peer.end() }
    return try PostgreSQLRun.replay(peer, setting) + PostgreSQLRun.others(peer, setting)
      + PostgreSQLRun.loads(peer, setting)
  }
}

enum PostgreSQLRun {
  static let devices = 16

  /// Durable replay of sixteen users, a tenth sent twice, against one-row inserts of 16 clients.
  static func replay(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> [Figure] {
    let count = setting.n(8_000, quick: 320)
    var (ours, raw, one): ([Double], [Double], [Double]) = ([], [], [])
    for round in setting.eachRound(of: 3) {
      raw.append(try limit(peer, setting))
      for connections in [1, 4] {
        try peer.makeItems(0)
        try peer.prepare(setting)
        let server = try Server(
          items: 0, options: ["--replay-connections", String(connections)],
          postgreSQL: peer.address("bench"), setting)
        let time = try send(count, server)
        let rows = try peer.sql("SELECT count(*) FROM items").filter(\.isNumber)
        let applied = try peer.sql("SELECT count(*) FROM ferry.applied").filter(\.isNumber)
        guard rows == String(count), applied == rows else {
          throw Trouble("\(rows) rows of \(applied) operations came of \(count)")
        }
        server.end()
        if connections == 1 {
          one.append(Double(count) / time)
        } else {
          ours.append(Double(count) / time)
        }
      }
      setting.say("replay \(Int(ours[round])), one \(Int(one[round])), pgbench \(Int(raw[round]))")
    }
    return [
      Figure(
        23, "replay, 16 users, a tenth sent twice", n: count, unit: "operations/s",
        ours: median(ours), limit: median(raw), of: "pgbench, one-row inserts, 16 clients",
        aim: .ratioAtLeast(0.5)),
      Figure(
        23, "the same on four connections", n: count, unit: "operations/s", ours: median(ours),
        limit: median(one), of: "on one connection"),
    ]
  }

  /// One-row inserts a second, without Ferry, by 16 clients.
  static func limit(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> Double {
    try peer.makeItems(0, in: "raw")
    try peer.sql("CREATE SEQUENCE number CACHE 100", in: "raw")
    return try peer.pgbench(
      """
      INSERT INTO items SELECT n, n * 31 % 100000, n * 17 % 5000000, 7, n * 0.25, n % 360,
        'Alfreds Futterkiste', 'Niederberg',
        'a note of some ninety letters, as somebody writes it who has been at the customer',
        'A-17' FROM nextval('number') AS n;
      """, clients: 16, seconds: setting.isQuick ? 1 : 6, in: "raw", setting)
  }

  /// Seconds until every operation is answered, of devices that have logged in: a password costs more
  /// than all changes of a device here, and a device sends it rarely.
  /// `first`: the number before that of the first operation.
  static func send(_ count: Int, after first: Int = 0, _ server: Server) throws -> Double {
    let share = count / devices
    let shared = FirstTrouble()
    nonisolated(unsafe) let all = try (0..<devices).map { number in
      try WireDevice(server, name: "device-\(number)", user: "user-\(number)")
    }
    let time = seconds {
      let ended = DispatchSemaphore(value: 0)
      for number in 0..<devices {
        Thread.detachNewThread {
          do {
            let device = all[number]
            let own = (0..<share).map { ReplayRun.operation(first + number * share + $0 + 1) }
            var again: [[UInt8]] = []
            for start in stride(from: 0, to: share, by: 100) {
              let bytes = own[start..<min(start + 100, share)].map(\.bytes)
              try device.exchange(device.request(replay: bytes + again, pulls: false))
              again = stride(from: 0, to: bytes.count, by: 10).map { bytes[$0] }
            }
            let open = own.suffix(1).map(\.id)
            while true {
              let (messages, _) = try device.exchange(device.request(open: open, pulls: false))
              guard case .welcome(let welcome)? = messages.first else {
                throw Trouble("no welcome")
              }
              if welcome.operations.allSatisfy({ $0.state == .answered }) { break }
              usleep(20_000)
            }
          } catch { shared.text.withLock { $0 = "\(error)" } }
          ended.signal()
        }
      }
      for _ in 0..<devices { ended.wait() }
    }
    if let text = shared.text.withLock({ $0 }) { throw Trouble(text) }
    return time
  }

  /// What triggers, and a ferryd that reads what they note, cost others.
  static func others(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> [Figure] {
    let rows = setting.n(100_000, quick: 2_000)
    let script = """
      \\set id random(1, \(rows))
      UPDATE items SET amount = amount + 1 WHERE "itemID" = :id;
      """
    let bulk = "UPDATE items SET amount = amount + 1"
    var (plain, followed): ([Double], [Double]) = ([], [])
    var (plainBulk, followedBulk): ([Double], [Double]) = ([], [])
    let time = setting.isQuick ? 1 : 6
    for round in setting.eachRound(of: 3) {
      try peer.makeItems(rows)
      plain.append(try peer.pgbench(script, clients: 4, seconds: time, setting))
      plainBulk.append(try seconds { try peer.sql(bulk) })
      try peer.makeItems(rows)
      try peer.prepare(setting)
      let server = try Server(items: 0, postgreSQL: peer.address("bench"), setting)
      followed.append(try peer.pgbench(script, clients: 4, seconds: time, setting))
      followedBulk.append(try seconds { try peer.sql(bulk) })
      server.end()
      setting.say(
        "updates \(Int(followed[round])) of \(Int(plain[round])), bulk \(followedBulk[round]) s "
          + "of \(plainBulk[round]) s")
    }
    return [
      Figure(
        23, "updates by others, 4 clients, followed by ferryd", n: rows, unit: "updates/s",
        ours: median(followed), limit: median(plain), of: "without triggers",
        aim: .ratioAtLeast(0.7)),
      Figure(
        23, "one update of all rows, followed by ferryd", n: rows, unit: "s",
        ours: median(followedBulk), limit: median(plainBulk), of: "without triggers",
        aim: .ratioAtMost(2.5)),
    ]
  }

  /// The first load, and a start that loads nothing.
  static func loads(_ peer: PostgreSQLPeer, _ setting: Setting) throws -> [Figure] {
    let (some, many) = (setting.n(200_000, quick: 2_000), setting.n(1_000_000, quick: 5_000))
    var (ours, raw): ([Double], [Double]) = ([], [])
    try peer.makeItems(some)
    try peer.prepare(setting)
    for _ in 0..<(setting.isQuick ? 1 : 3) {
      let other = try Server(items: some, setting)
      raw.append(Double(some) / other.loadSeconds)
      other.end()
      let server = try Server(items: 0, postgreSQL: peer.address("bench"), setting)
      ours.append(Double(some) / server.loadSeconds)
      server.end()
    }
    try peer.makeItems(many)
    try peer.prepare(setting)
    let first = try Server(items: 0, postgreSQL: peer.address("bench"), setting)
    setting.say("\(many) rows loaded in \(first.loadSeconds) s")
    // The place in the changes is kept with a moment's delay.
    usleep(3_000_000)
    first.child.end(orderly: true)
    var starts: [Double] = []
    for _ in 0..<3 {
      let next = try Server(
        items: 0, postgreSQL: peer.address("bench"), data: first.data, setting)
      starts.append(next.loadSeconds)
      next.child.end(orderly: true)
    }
    return [
      Figure(
        23, "the first load from PostgreSQL", n: some, unit: "rows/s", ours: median(ours),
        limit: median(raw), of: "from SQLite", aim: .ratioAtLeast(1)),
      Figure(
        23, "a start beside \(many) rows, until it is ready", n: many, unit: "s",
        ours: median(starts), aim: .atMost(1)),
    ]
  }
}
