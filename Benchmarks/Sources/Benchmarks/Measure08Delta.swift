import FerryModel
import FerryWire
import Foundation

extension Measure {
  /// A device fetches 100 changes, among few rows and among many.
  static let delta = Measure(number: 8, name: "delta of 100 changes") { setting in
    let few = setting.n(10_000, quick: 500)
    let many = setting.n(1_000_000, quick: 5_000)
    // A server closes a line that is silent for 15 seconds; filling the large one takes longer.
    var large = try await DeltaRun(rows: many, setting)
    var small = try await DeltaRun(rows: few, setting)
    // The first of each warms up what is cached.
    for round in 0...max(setting.rounds, 10) {
      try small.take(keeps: round > 0)
      try large.take(keeps: round > 0)
    }
    let all = large.seconds.map { $0 * 1_000 }
    // Of a process that has ended the system tells nothing any more.
    let peak = large.device.child.peakMegabytes
    small.device.end(setting)
    large.device.end(setting)
    return [
      Figure(
        8, "100 changes to the device, among \(many) rows", n: 100, unit: "ms",
        ours: median(all), limit: median(small.seconds) * 1_000, of: "among \(few)",
        aim: .ratioAtMost(1.2), p99: percentile99(all),
        peakMegabytes: peak
      )
    ]
  }
}

/// One device that has all rows, and another that changes some.
private struct DeltaRun {
  let rows: Int
  let device: DeviceProcess
  private let writer: WireDevice
  private var operations = 0
  private(set) var seconds: [Double] = []

  init(rows: Int, _ setting: Setting) async throws {
    self.rows = rows
    let server = try await setting.servers.server(items: rows, setting)
    device = try DeviceProcess(server, setting, name: "delta-\(rows)")
    try device.perform(#"["subscribe"]"#)
    try device.perform(#"["synchronize"]"#)
    writer = try WireDevice(server, name: "writer-\(rows)")
  }

  mutating func take(keeps: Bool) throws {
    let ids = try change()
    while true {
      let (messages, _) = try writer.exchange(writer.request(open: ids, pulls: false))
      guard case .welcome(let welcome)? = messages.first else { throw Trouble("no welcome") }
      if welcome.operations.allSatisfy({ $0.state == .answered }) { break }
      usleep(5_000)
    }
    let time = try Benchmarks.seconds { try device.perform(#"["synchronize"]"#) }
    if keeps { seconds.append(time) }
  }

  /// Sends 100 updates, spread over all rows.
  private mutating func change() throws -> [OperationID] {
    var ids: [OperationID] = []
    var bytes: [[UInt8]] = []
    for place in 0..<100 {
      operations += 1
      guard let id = OperationID(String(format: "%016x%016x", rows, operations)) else {
        preconditionFailure("an id has 32 digits")
      }
      let key = Int64(place * (rows / 100) + operations / 100 + 1)
      let operation = Operation(
        id: id, chain: id, entity: "Item", kind: .update, key: ObjectKey([.integer(key)]),
        changed: [1: .integer(Int64(operations))], base: [1: ItemValues.values(key)[1]])
      ids.append(id)
      bytes.append(operation.encoded(for: Item.entity))
    }
    try writer.exchange(writer.request(replay: bytes, pulls: false))
    return ids
  }
}
