import FerryModel
import FerryWire
import Foundation
import Synchronization

extension Measure {
  /// From a commit in psql to a device that polls without a pause, at 100 commits a second, among few
  /// rows and among many.
  static let changes = Measure(number: 3, name: "changes by others, PostgreSQL") { setting in
    let (few, many) = (setting.n(10_000, quick: 2_000), setting.n(1_000_000, quick: 5_000))
    let count = setting.n(2_000, quick: 50)
    let peer = try PostgreSQLPeer()
    defer { peer.end() }
    let small = try ChangeRun(peer, rows: few, setting).take(count)
    let large = try ChangeRun(peer, rows: many, setting).take(count)
    // Of the last tenth against the first: a lag that grows shows there.
    let lag = median(Array(large.suffix(count / 10))) / median(Array(large.prefix(count / 10)))
    return [
      Figure(
        3, "a commit in psql to the device, among \(many) rows", n: count, unit: "ms",
        ours: median(large), limit: median(small), of: "among \(few)", aim: .ratioAtMost(1.2),
        p99: percentile99(large)),
      Figure(
        3, "the same, p50", n: count, unit: "ms", ours: median(large), aim: .atMost(10)),
      Figure(
        3, "the same, p99", n: count, unit: "ms", ours: percentile99(large), aim: .atMost(50)),
      Figure(
        3, "the same, the last tenth against the first", n: count / 10, unit: "x", ours: lag,
        aim: .atMost(2)),
    ]
  }
}

private struct ChangeRun {
  private let peer: PostgreSQLPeer
  private let server: Server
  private let rows: Int

  init(_ peer: PostgreSQLPeer, rows: Int, _ setting: Setting) throws {
    self.peer = peer
    self.rows = rows
    try peer.makeItems(rows)
    try peer.prepare(setting)
    server = try Server(
      items: 0, model: Item.model(rule: #", "partition": {"columns": {"shelf": "claim:shelf"}}"#),
      postgreSQL: peer.address("bench"), setting)
    setting.say("\(rows) rows loaded in \(String(format: "%.1f", server.loadSeconds)) s")
  }

  /// Milliseconds of each change.
  func take(_ count: Int) throws -> [Double] {
    defer { server.end() }
    let device = try WireDevice(server, name: "watcher")
    while try device.exchange(device.request()).bytes > 1_000 {}
    let shared = Seen()
    nonisolated(unsafe) let watcher = device
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let end = ContinuousClock.now + .seconds(120)
      while shared.count < count, ContinuousClock.now < end,
        let messages = try? watcher.exchange(watcher.request()).messages
      {
        let now = ContinuousClock.now
        for case .rows(let page) in messages { shared.note(page.json, now) }
      }
      ended.signal()
    }
    let terminal = try peer.terminal()
    let start = ContinuousClock.now
    var sent: [ContinuousClock.Instant] = []
    for number in 0..<count {
      let due = start + .milliseconds(10 * number)
      let rest = ContinuousClock.now.duration(to: due).seconds
      if rest > 0 { usleep(UInt32(rest * 1_000_000)) }
      sent.append(.now)
      let id = 7 + 700 * (number % (rows / 700))
      try terminal.type(
        "UPDATE items SET note = 'mark-\(number)-' WHERE \"itemID\" = \(id) RETURNING 1")
    }
    terminal.end()
    ended.wait()
    return try (0..<count).map { number in
      guard let moment = shared.moment(number) else { throw Trouble("\(number) never came") }
      return sent[number].duration(to: moment).seconds * 1_000
    }
  }

  private final class Seen: Sendable {
    private let seen = Mutex<[Int: ContinuousClock.Instant]>([:])

    var count: Int { seen.withLock { $0.count } }
    func moment(_ number: Int) -> ContinuousClock.Instant? { seen.withLock { $0[number] } }

    func note(_ page: [UInt8], _ moment: ContinuousClock.Instant) {
      let parts = String(decoding: page, as: UTF8.self).components(separatedBy: "mark-").dropFirst()
      seen.withLock { seen in
        for part in parts {
          guard let number = Int(part.prefix { $0.isNumber }) else { continue }
          if seen[number] == nil { seen[number] = moment }
        }
      }
    }
  }
}
