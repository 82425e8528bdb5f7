import FerryModel
import FerryWire
import Foundation
import Synchronization

extension Measure {
  /// Operations from devices' hands to their answers, each durable, a tenth sent twice, against
  /// one-row transactions of raw SQLite on a database like the business's.
  static let replay = Measure(number: 4, name: "replay") { setting in
    let count = setting.n(4_000, quick: 200)
    var ours: [Double] = []
    var raw: [Double] = []
    var peak = 0.0
    for round in setting.eachRound() {
      let run = try ReplayRun(operations: count, devices: 4, setting)
      raw.append(Double(count) / (try run.limit()))
      ours.append(Double(count) / (try run.take()))
      peak = max(peak, run.server.child.peakMegabytes)
      setting.say("\(Int(ours[round])) operations/s, raw \(Int(raw[round]))")
      run.server.end()
    }
    return [
      Figure(
        4, "replay, 4 devices, a tenth sent twice", n: count, unit: "operations/s",
        ours: median(ours), limit: median(raw), of: "one-row SQLite transactions",
        aim: .ratioAtLeast(0.5), peakMegabytes: peak)
    ]
  }
}

/// What went wrong on one of several threads.
final class FirstTrouble: Sendable {
  let text = Mutex<String?>(nil)
}

struct ReplayRun {
  let server: Server
  let count: Int
  let devices: Int
  let setting: Setting
  /// Of one message.
  static let operations = 250

  init(
    operations count: Int, devices: Int, model: String = Item.model, tables: String = "",
    _ setting: Setting
  ) throws {
    server = try Server(items: 0, model: model, tables: tables, setting)
    self.count = count
    self.devices = devices
    self.setting = setting
  }

  /// Seconds of the same rows, one transaction each.
  func limit() throws -> Double {
    let path = setting.path("limit.db")
    try FileManager.default.copyItem(atPath: server.business, toPath: path)
    defer { setting.remove(path) }
    let raw = try RawDatabase(path)
    try raw.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    return try seconds { try Server.insert(count, raw, inOneTransaction: false) }
  }

  /// Seconds until every device has every answer.
  func take() throws -> Double {
    let share = count / devices
    let all = (0..<devices).map { device in
      (0..<share).map { ReplayRun.operation(device * share + $0 + 1) }
    }
    let callers = try (0..<devices).map { try WireDevice(server, name: "device-\($0)") }
    let trouble = FirstTrouble()
    nonisolated(unsafe) let shared = callers
    let time = seconds {
      // A thread for each: all at once, however few processors there are.
      let ended = DispatchSemaphore(value: 0)
      for number in 0..<devices {
        Thread.detachNewThread {
          do { try ReplayRun.send(all[number], shared[number]) } catch {
            trouble.text.withLock { $0 = "\(error)" }
          }
          ended.signal()
        }
      }
      for _ in 0..<devices { ended.wait() }
    }
    if let text = trouble.text.withLock({ $0 }) {
      throw Trouble("\(text); the server said: \(server.child.lastLines)")
    }
    let raw = try RawDatabase(server.business)
    let rows = try raw.number("SELECT count(*) FROM items")
    let applied = try raw.number("SELECT count(*) FROM ferry_applied")
    guard rows == share * devices, applied == rows else {
      throw Trouble("\(rows) rows of \(applied) operations came of \(share * devices)")
    }
    return time
  }

  /// Sends all, a tenth of each message once more with the next, and asks until all is answered.
  private static func send(
    _ operations: [(id: OperationID, bytes: [UInt8])], _ device: WireDevice
  ) throws {
    var again: [[UInt8]] = []
    for start in stride(from: 0, to: operations.count, by: ReplayRun.operations) {
      let part = operations[start..<min(start + ReplayRun.operations, operations.count)]
      let bytes = part.map(\.bytes)
      try device.exchange(device.request(replay: bytes + again, pulls: false))
      again = stride(from: 0, to: bytes.count, by: 10).map { bytes[$0] }
    }
    // The last one alone: asking for all would be what the server is busy with.
    let open = operations.suffix(1).map(\.id)
    while true {
      let (messages, _) = try device.exchange(device.request(open: open, pulls: false))
      guard case .welcome(let welcome)? = messages.first else { throw Trouble("no welcome") }
      if welcome.operations.allSatisfy({ $0.state == .answered }) { break }
      usleep(20_000)
    }
    while device.answers.count < operations.count { try device.exchange(device.request()) }
    guard device.answers.allSatisfy({ $0.outcome == .replayResult }) else {
      throw Trouble("an operation was refused")
    }
  }

  static func operation(_ number: Int) -> (id: OperationID, bytes: [UInt8]) {
    guard let id = OperationID(String(format: "%032x", number)) else {
      preconditionFailure("an id has 32 digits")
    }
    var values = ItemValues.values(Int64(number))
    // All on one shelf, which is the user's where a model has a rule.
    values[3] = .integer(7)
    let operation = Operation(
      id: id, chain: id, entity: "Item", kind: .create, key: ObjectKey([values[0]]),
      changed: Dictionary(
        uniqueKeysWithValues: values.enumerated().map { ($0.offset, $0.element) }),
      base: [:])
    return (id, operation.encoded(for: Item.entity))
  }
}
