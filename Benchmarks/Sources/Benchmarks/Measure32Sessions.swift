import Foundation
import Synchronization

extension Measure {
  /// What working devices feel while many others renew their sessions, and while a key is rotated.
  static let sessions = Measure(number: 32, name: "sessions") { setting in
    try Sessions.renewals(setting)
  }
}

enum Sessions {
  /// The rate of 10,000 renewals a minute.
  private static let renewalsPerSecond: Double = 10_000 / 60
  private static let workers = 4
  private static let devicesPerWorker = 25

  /// 100 devices poll one after the other, alone and beside the renewals of others, with a rotation of
  /// the key in the middle.
  static func renewals(_ setting: Setting) throws -> [Figure] {
    let server = try Server(items: setting.n(10_000, quick: 200), setting)
    defer { server.end() }
    let crews = try (0..<workers).map { number in
      try Crew(server, number, devices: setting.n(devicesPerWorker, quick: 1))
    }
    let renewers = try (0..<16).map { try Renewer(server, "renewer-\($0)", user: "user-\($0)") }
    let count = setting.n(2_500, quick: 16)
    let polls = setting.n(600, quick: 5)
    var alone: [Double] = []
    var beside: [Double] = []
    var failures = 0
    for _ in setting.eachRound() {
      alone.append(percentile99(try work(crews, polls: polls).times))
      let renewing = Thread.returning { try renew(renewers, count: count, server) }
      var times: [Double] = []
      while !renewing.isOver {
        let done = try work(crews, polls: polls / 4 + 1)
        times += done.times
        failures += done.failures
      }
      failures += try renewing.value()
      beside.append(percentile99(times))
    }
    return [
      Figure(
        32, "p99 of a poll while others renew, 10,000 a minute", n: count, unit: "ms",
        ours: median(beside), limit: median(alone), of: "the same alone", aim: .ratioAtMost(1.5)),
      Figure(
        32, "requests that failed during renewals and a rotation of the key", n: count,
        unit: "requests", ours: Double(failures), aim: .atMost(0)),
    ]
  }

  /// Devices of one thread.
  private final class Crew: @unchecked Sendable {
    let devices: [WireDevice]

    init(_ server: Server, _ number: Int, devices count: Int) throws {
      devices = try (0..<count).map {
        try WireDevice(server, name: "worker-\(number)-\($0)", user: "user-\(4 * number + $0 % 4)")
      }
      for device in devices { while try device.exchange(device.request()).bytes > 1_000 {} }
    }

    func work(polls: Int) throws -> (times: [Double], failures: Int) {
      var times: [Double] = []
      var failures = 0
      for number in 0..<polls {
        usleep(2_000)
        let device = devices[number % devices.count]
        let request = device.request()
        times.append(
          1_000
            * (try seconds { if try device.exchangeAnyhow(request) != 200 { failures += 1 } }))
      }
      return (times, failures)
    }
  }

  private static func work(
    _ crews: [Crew], polls: Int
  ) throws -> (times: [Double], failures: Int) {
    let working = crews.map { crew in Thread.returning { try crew.work(polls: polls) } }
    let done = try working.map { try $0.value() }
    return (done.flatMap(\.times), done.map(\.failures).reduce(0, +))
  }

  /// Renews at the rate, rotates the key in the middle, and gives how many requests failed.
  private static func renew(
    _ renewers: [Renewer], count: Int, _ server: Server
  ) throws -> Int {
    let start = ContinuousClock.now
    var failures = 0
    for number in 0..<count {
      let due = Double(number) / renewalsPerSecond
      let early = due - start.duration(to: .now).seconds
      if early > 0 { usleep(UInt32(early * 1e6)) }
      if try !renewers[number % renewers.count].renew() { failures += 1 }
      if number == count / 2 {
        let key = try String(contentsOfFile: "\(server.data)/operator.key", encoding: .utf8)
        let rotated = try Line(port: server.port).ask(
          HTTPText.post("/ferry/1/operator/keys", [], token: key))
        if rotated.status != 200 { throw Trouble("no rotation: \(rotated.text)") }
      }
    }
    return failures
  }

  /// A device that renews its session again and again.
  private final class Renewer: @unchecked Sendable {
    private let name: String
    private let line: Line
    private var token: String

    init(_ server: Server, _ name: String, user: String) throws {
      self.name = name
      line = try Line(port: server.port)
      let login = #"{"user": "\#(user)", "password": "\#(Server.password)", "device": "\#(name)"}"#
      token = try Renewer.refreshToken(
        try line.ask(HTTPText.post("/ferry/1/login", Array(login.utf8))).body)
    }

    func renew() throws -> Bool {
      let body = #"{"refreshToken": "\#(token)", "device": "\#(name)"}"#
      let reply = try line.ask(HTTPText.post("/ferry/1/token", Array(body.utf8)))
      guard reply.status == 200 else { return false }
      token = try Renewer.refreshToken(reply.body)
      return true
    }

    private static func refreshToken(_ body: [UInt8]) throws -> String {
      let node = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
      guard let token = node?["refreshToken"] as? String else {
        throw Trouble("no refresh token: \(String(decoding: body, as: UTF8.self))")
      }
      return token
    }
  }
}

extension Thread {
  /// What a thread of its own gives.
  fileprivate final class Returning<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
      Thread.detachNewThread { [self] in
        let made = Result { try body() }
        result.withLock { $0 = made }
        ended.signal()
      }
    }

    var isOver: Bool { result.withLock { $0 != nil } }

    /// Waits for its end. Call it once.
    func value() throws -> Value {
      ended.wait()
      guard let result = result.withLock({ $0 }) else { throw Trouble("a thread gave nothing") }
      return try result.get()
    }
  }

  fileprivate static func returning<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) -> Returning<Value> { Returning(body) }
}
