import Foundation
import Synchronization

extension Measure {
  /// Polls with nothing new while another device loads everything again and again, with readers beside
  /// the service's thread and without.
  static let readers = Measure(number: 31, name: "polls beside a first import") { setting in
    let items = setting.n(1_000_000, quick: 2_000)
    let count = setting.n(1_000, quick: 20)
    let first = try Server(items: items, setting)
    let beside = try ReaderRun.percentile(first, count, setting)
    let peak = first.child.peakMegabytes
    first.end()
    // The same with one thread for all.
    let second = try Server(items: items, options: ["--readers", "0"], setting)
    defer { second.end() }
    let alone = try ReaderRun.percentile(second, count, setting)
    return [
      Figure(
        31, "p99 of an empty poll while a device loads \(items) rows", n: count, unit: "ms",
        ours: median(beside), limit: median(alone), of: "the same with --readers 0",
        aim: .atMost(50), peakMegabytes: peak)
    ]
  }
}

private enum ReaderRun {
  /// Of each round, in milliseconds.
  static func percentile(
    _ server: Server, _ count: Int, _ setting: Setting
  ) throws -> [Double] {
    let poller = try WireDevice(server, name: "poller", user: "mallory")
    while try !poller.exchange(poller.request()).messages.contains(where: { message in
      if case .checkpoint = message { true } else { false }
    }) {}
    let poll = poller.request()
    var all: [Double] = []
    for round in setting.eachRound() {
      let loader = try Loader(server, round)
      all.append(
        percentile99(
          try (0..<count).map { _ in
            usleep(1_000)
            return 1_000 * (try seconds { try poller.exchange(poll) })
          }))
      try loader.stop()
    }
    return all
  }

  /// A device that begins anew whenever it has everything.
  private final class Loader: Sendable {
    private let isOver = Mutex(false)
    private let trouble = Mutex<String?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ server: Server, _ round: Int) throws {
      nonisolated(unsafe) let device = try WireDevice(server, name: "loader-\(round)")
      Thread.detachNewThread { [self] in
        let request = device.request()
        while !isOver.withLock({ $0 }) {
          do { _ = try device.exchangeAnyhow(request) } catch {
            trouble.withLock { $0 = "\(error)" }
          }
        }
        ended.signal()
      }
    }

    func stop() throws {
      isOver.withLock { $0 = true }
      ended.wait()
      if let text = trouble.withLock({ $0 }) { throw Trouble(text) }
    }
  }
}
