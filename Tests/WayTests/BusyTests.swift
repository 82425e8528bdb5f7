import FerryHTTPClient
import FerryWire
import Foundation
import Synchronization
import Testing

extension Way {
  @Suite struct BusyTests {
    private static let devices = 200

    @Test(
      "200 busy devices: at most cores + 4 threads beside the readers, and passwords do not hold /health up",
      .alone)
    func busy() async throws {
      let business = try await Business.flights(bookings: 2_000)
      let daemon = try await Daemon.start(business)
      try await daemon.ready()
      let most = ThreadCounter(daemon.process)
      let tokens = try await logins(daemon)
      try await exchanges(business, daemon, tokens)
      try await channels(business, daemon, tokens)
      let cores = ProcessInfo.processInfo.activeProcessorCount
      tell("200 busy devices: \(most.most) threads on \(cores) cores")
      #expect(most.most > 1)
      #expect(most.most <= Daemon.mostThreads)
      let phone = try await Phone.start(business, "ada", user: "ada", daemon.address)
      try await Shores.agree(business, daemon, [phone], belongs: Shores.firstAgency(business))
    }

    private func logins(_ daemon: Daemon) async throws -> [String] {
      let start = Stopwatch()
      let isDone = Mutex(false)
      async let health = pings(daemon) { isDone.withLock { $0 } }
      let tokens = try await withThrowingTaskGroup(of: (Int, String).self) { group in
        for number in 0..<Self.devices {
          group.addTask {
            // A user has at most a hundred devices.
            let user = number % 2 == 0 ? "ada" : "ben"
            return (number, try await Wires.token(daemon.address, user, device: "device-\(number)"))
          }
        }
        var tokens = [String](repeating: "", count: Self.devices)
        for try await (number, token) in group { tokens[number] = token }
        return tokens
      }
      let seconds = start.seconds
      isDone.withLock { $0 = true }
      let times = try await health.sorted()
      let p99 = times[times.count * 99 / 100]
      tell(
        "200 logins in \(seconds) s; meanwhile /health \(times.count) times, "
          + "median \(times[times.count / 2] * 1_000) ms, p99 \(p99 * 1_000) ms")
      // Behind the passwords it would be answered once or twice, when they all are done.
      #expect(times.count >= 10)
      return tokens
    }

    private func pings(
      _ daemon: Daemon, until isDone: @Sendable () -> Bool
    ) async throws
      -> [Double]
    {
      var times: [Double] = []
      while !isDone() || times.isEmpty {
        let start = Stopwatch()
        #expect(try await daemon.isHealthy())
        times.append(start.seconds)
      }
      return times
    }

    private func exchanges(
      _ business: Business, _ daemon: Daemon, _ tokens: [String]
    ) async throws {
      let start = Stopwatch()
      let rows = try await withThrowingTaskGroup(of: Int.self) { group in
        for (number, token) in tokens.enumerated() {
          group.addTask {
            let reply = try await Wires.post(
              "\(daemon.address)/ferry/1/exchange",
              Letters.first(business, device: "device-\(number)"), token: token)
            guard reply.status == 200, try Letters.failure(reply) == nil else {
              throw WayFailure("exchange: \(reply.status)")
            }
            return reply.bytes.count
          }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      // The same bytes for every device at the same cursor.
      tell(
        "200 first imports in \(start.seconds) s, "
          + "\(rows.reduce(0, +) / rows.count) bytes each")
    }

    private func channels(_ business: Business, _ daemon: Daemon, _ tokens: [String]) async throws {
      let counts = Counts()
      var options = TransportOptions()
      options.connectionsPerHost = Self.devices
      let transport = SystemTransport.make(options)
      let listeners = tokens.enumerated().map { number, token in
        Task {
          let response = try await transport.send(
            TransportRequest(
              url: "\(daemon.address)/ferry/1/channel", method: .post,
              headers: ["Authorization": "Bearer \(token)"],
              body: Letters.first(business, device: "device-\(number)")))
          var reader = FrameReader()
          var checkpoints = 0
          while let bytes = try await response.body.next() {
            reader.append(bytes)
            while let frame = try reader.next() {
              guard frame.kind == .checkpoint else { continue }
              checkpoints += 1
              counts.checkpoint(checkpoints)
            }
          }
        }
      }
      defer { for listener in listeners { listener.cancel() } }
      try await until("all channels have imported") {
        counts.first == Self.devices
      }
      try business.run("UPDATE Carriers SET Homepage = 'https://new.example' WHERE rowid = 1")
      let seconds = try await until("all channels are told") {
        counts.second == Self.devices
      }
      tell("a change was pushed to 200 open channels within \(seconds) s")
    }
  }
}

/// How many channels have seen their first and their second checkpoint.
private final class Counts: Sendable {
  private let counts = Mutex<[Int: Int]>([:])

  func checkpoint(_ number: Int) { counts.withLock { $0[number, default: 0] += 1 } }

  var first: Int { counts.withLock { $0[1] ?? 0 } }
  var second: Int { counts.withLock { $0[2] ?? 0 } }
}

/// Looks again and again how many threads a process has.
private final class ThreadCounter: Sendable {
  private let highest = Mutex(0)

  init(_ process: ChildProcess) {
    Thread.detachNewThread { [weak self, weak process] in
      while let process, process.isRunning, let self {
        let count = process.threadCount
        self.highest.withLock { $0 = max($0, count) }
        pauseOfThread()
      }
    }
  }

  var most: Int { highest.withLock { $0 } }
}
