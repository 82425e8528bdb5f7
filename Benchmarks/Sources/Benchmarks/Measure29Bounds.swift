import FerryModel
import FerryWire
import Foundation
import Synchronization

extension Measure {
  /// What one user, or a stranger, can take from all others: the exploits of a review, each against
  /// a server of its own.
  static let bounds = Measure(number: 29, name: "bounds for everyone") { setting in
    var figures = [try Bounds.honestUser(setting), try Bounds.rightLogin(setting)]
    for exploit in Bounds.exploits { figures.append(try Bounds.memory(under: exploit, setting)) }
    return figures
  }
}

enum Bounds {
  struct Exploit: Sendable {
    let name: String
    let run: @Sendable (Server, Setting) throws -> Void
  }

  // An honest user beside one who sends everything that is allowed.

  /// Polls of an honest user one after the other, alone and beside four lines of another user that
  /// never rest: full messages of changes, hellos that name all that may be open, polls.
  static func honestUser(_ setting: Setting) throws -> Figure {
    let server = try Server(items: setting.n(10_000, quick: 200), setting)
    defer { server.end() }
    let honest = try WireDevice(server, name: "honest")
    while try honest.exchange(honest.request()).bytes > 1_000 {}
    let count = setting.n(1_000, quick: 20)
    var alone: [Double] = []
    var beside: [Double] = []
    for _ in setting.eachRound() {
      alone.append(percentile99(try polls(honest, count)))
      let busy = try Greedy(server, setting)
      beside.append(percentile99(try polls(honest, count)))
      try busy.stop()
    }
    return Figure(
      29, "p99 of a poll beside a user who sends all that is allowed", n: count, unit: "ms",
      ours: median(beside), limit: median(alone), of: "the same alone", aim: .ratioAtMost(1.5),
      peakMegabytes: server.child.peakMegabytes)
  }

  private static func polls(_ device: WireDevice, _ count: Int) throws -> [Double] {
    let request = device.request()
    return try (0..<count).map { _ in
      usleep(1_000)
      return 1_000 * (try seconds { try device.exchange(request) })
    }
  }

  /// Four devices of one user on threads of their own.
  private final class Greedy: Sendable {
    private let isOver = Mutex(false)
    private let trouble = Mutex<String?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ server: Server, _ setting: Setting) throws {
      for number in 0..<4 {
        nonisolated(unsafe) let device = try WireDevice(
          server, name: "greedy-\(number)", user: "mallory")
        Thread.detachNewThread { [self] in
          do {
            var next = Int64(number) << 40
            while !isOver.withLock({ $0 }) {
              switch number {
              case 0, 1:
                let operations = (0..<250).map { ReplayRun.operation(Int(next) + $0) }
                next += 250
                _ = try device.exchangeAnyhow(device.request(replay: operations.map(\.bytes)))
              case 2:
                let open = (0..<WireLimits.operationsInFlight).map { Bounds.id($0) }
                _ = try device.exchangeAnyhow(device.request(open: open))
              default: _ = try device.exchangeAnyhow(device.request())
              }
            }
          } catch { trouble.withLock { $0 = "\(error)" } }
          ended.signal()
        }
      }
    }

    func stop() throws {
      isOver.withLock { $0 = true }
      for _ in 0..<4 { ended.wait() }
      if let text = trouble.withLock({ $0 }) { throw Trouble(text) }
    }
  }

  static func id(_ number: Int) -> OperationID {
    let digits = String(number, radix: 16)
    guard let id = OperationID(String(repeating: "0", count: 32 - digits.count) + digits) else {
      preconditionFailure("32 digits are an id")
    }
    return id
  }

  // Logins.

  /// Seconds of one right login from a quiet address while 2,000 wrong ones from 100 addresses wait.
  static func rightLogin(_ setting: Setting) throws -> Figure {
    let count = setting.n(2_000, quick: 100)
    var waits: [Double] = []
    for _ in setting.eachRound() {
      let server = try Server(items: 0, options: ["--proxy", "127.0.0.1"], setting)
      defer { server.end() }
      let wrong = try (0..<count).map { number in
        let line = try Line(port: server.port)
        try line.send(login("wrong", user: "user-\(number % 50)", from: "192.0.2.\(number % 100)"))
        return line
      }
      let line = try Line(port: server.port)
      waits.append(
        try seconds {
          let reply = try line.ask(login(Server.password, user: "anna", from: "198.51.100.7"))
          guard reply.status == 200 else { throw Trouble("the login was \(reply.status)") }
        })
      withExtendedLifetime(wrong) {}
    }
    return Figure(
      29, "a right login beside \(count) wrong ones from 100 addresses", n: count, unit: "s",
      ours: median(waits), aim: .atMost(1))
  }

  private static func login(_ password: String, user: String, from address: String) -> [UInt8] {
    let body = #"{"user": "\#(user)", "password": "\#(password)", "device": "d"}"#
    return Array(
      ("POST /ferry/1/login HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: \(address)\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
  }

  // Memory.

  static func memory(under exploit: Exploit, _ setting: Setting) throws -> Figure {
    let server = try Server(
      items: setting.n(10_000, quick: 200), options: ["--proxy", "127.0.0.1"], setting)
    defer { server.end() }
    let idle = server.child.residentMegabytes
    try exploit.run(server, setting)
    // It must be there still.
    guard try Line(port: server.port).ask(HTTPText.get("/health")).status == 200 else {
      throw Trouble("the server is not well after: \(exploit.name)")
    }
    return Figure(
      29, "memory: \(exploit.name)", n: 1, unit: "MB", ours: server.child.peakMegabytes,
      limit: 1.2 * idle + 64, of: "1.2 x idle + 64 MB", aim: .ratioAtMost(1))
  }

  static let exploits: [Exploit] = [
    Exploit(name: "frames that expand to 64 MB each") { server, _ in
      let device = try WireDevice(server, name: "inflating", user: "mallory")
      let inner = Array(#"{"operations":["#.utf8) + [UInt8](repeating: 32, count: 64 << 20)
      let frame = Frame(.replay, inner).encoded()
      for count in [1, 8, 30] {
        _ = try device.exchangeAnyhow(
          device.request(after: Array(repeatElement(frame, count: count).joined())))
      }
    },
    Exploit(name: "32 strangers with half a body of 8 MB") { server, _ in
      let head = Array(
        "POST /ferry/1/exchange HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n".utf8)
      let body = [UInt8](repeating: 120, count: 8_388_607)
      for _ in 0..<32 { try? Line(port: server.port).send(head + body) }
    },
    Exploit(name: "half groups of 1 MB changes") { server, _ in
      let device = try WireDevice(server, name: "hoarding", user: "mallory")
      for round in 0..<20 {
        let text = String(repeating: "a", count: 1_000_000)
        let operations = (0..<15).map { number in
          let id = Bounds.id(round * 100 + number + 1)
          return Operation(
            id: id, chain: id, position: 0, count: 2, entity: "Item", kind: .create,
            key: ObjectKey([.integer(Int64(round * 100 + number))]), changed: [8: .text(text)],
            base: [:]
          ).encoded(for: Item.entity)
        }
        _ = try device.exchangeAnyhow(device.request(replay: operations))
      }
    },
    Exploit(name: "1.8 million open operations in a hello") { server, _ in
      let device = try WireDevice(server, name: "open", user: "mallory")
      _ = try device.exchangeAnyhow(device.request(open: (0..<1_800_000).map { Bounds.id($0) }))
    },
    Exploit(name: "2,060 channels of one user") { server, _ in
      let device = try WireDevice(server, name: "channels", user: "mallory")
      let request = device.request(path: "channel")
      var lines: [Line] = []
      for _ in 0..<2_060 {
        guard let line = try? Line(port: server.port), (try? line.send(request)) != nil else {
          break
        }
        lines.append(line)
      }
      sleep(2)
    },
    Exploit(name: "2,000 wrong logins at once") { server, _ in
      let lines = try (0..<2_000).map { number in
        let line = try Line(port: server.port)
        try line.send(login("wrong", user: "user-\(number)", from: "192.0.2.\(number % 100)"))
        return line
      }
      sleep(3)
      withExtendedLifetime(lines) {}
    },
  ]
}
