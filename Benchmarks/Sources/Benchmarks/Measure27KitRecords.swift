import FerryHTTPClient
import FerryLogger
import FerryTelemetry
import FerryTrace
import FerryWorld
import Foundation

/// What a record of the log costs, and a request that is traced.
enum KitRecords {
  /// Microseconds a record that is kept, and nanoseconds a call below the level.
  static func logging(_ setting: Setting) -> [Figure] {
    let (kept, below) = (setting.n(200_000, quick: 1_000), setting.n(20_000_000, quick: 10_000))
    let log = DeviceLog(
      world: World(clock: SystemClock(), chance: SystemChance(), log: SilentLog()))
    var records: [Double] = []
    var calls: [Double] = []
    for _ in setting.eachRound() {
      log.level = .info
      records.append(
        processorSeconds {
          for number in 0..<kept { log.info("flight \(number) was loaded", tag: "Flights") }
        } * 1e6 / Double(kept))
      log.level = .error
      calls.append(
        processorSeconds {
          for number in 0..<below { log.debug("flight \(number) was loaded", tag: "Flights") }
        } * 1e9 / Double(below))
    }
    precondition(log.count > 0, "records were kept")
    return [
      Figure(
        27, "a log record", n: kept, unit: "µs", ours: median(records), aim: .atMost(5)),
      Figure(
        27, "a log call below the level", n: below, unit: "ns", ours: median(calls),
        aim: .atMost(20)),
    ]
  }

  /// Microseconds a request over a socket, traced against untraced, in turns.
  static func tracing(_ setting: Setting, address: String) async throws -> Figure {
    let count = setting.n(2_000, quick: 20)
    let plain = SystemTransport.make()
    let trace = TraceController(
      world: World(clock: SystemClock(), chance: SystemChance(), log: SilentLog()))
    let traced = TracedTransport(plain, trace: trace)
    func load(_ transport: any Transport, _ count: Int) async throws -> Double {
      try await seconds {
        for _ in 0..<count {
          let answer = try await transport.send(TransportRequest(url: address))
          _ = try await answer.body.collect()
        }
      } * 1e6 / Double(count)
    }
    _ = try await load(plain, count / 10)
    var times: [Bool: [Double]] = [:]
    // Short turns, so that what else the machine does falls on both.
    for _ in setting.eachRound() {
      trace.start()
      for turn in 0..<10 {
        for isTraced in turn % 2 == 0 ? [true, false] : [false, true] {
          times[isTraced, default: []].append(
            try await load(isTraced ? traced : plain, count / 10))
        }
      }
      try trace.stop()
    }
    return Figure(
      27, "a traced request", n: count, unit: "µs", ours: median(times[true] ?? []),
      limit: median(times[false] ?? []), of: "the same request untraced",
      aim: .ratioAtMost(1.03))
  }
}
