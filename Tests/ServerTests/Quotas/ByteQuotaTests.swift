import FerryJSON
import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// What one user sends is bounded in bytes, not in pieces alone.
@Suite("What a user makes the server keep is counted in bytes", .timeLimit(.minutes(60)))
struct ByteQuotaTests {
  private func login(_ bench: Bench, _ device: String) throws -> Identity {
    let pair = try bench.service.login(UserRecord(name: "anna"), device: device)
    return try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
  }

  private func answer(_ bytes: [UInt8], _ identity: Identity, on bench: Bench) throws -> [Message] {
    let exchange = bench.service.exchange(bytes, by: identity)
    var answer: [UInt8] = []
    while case .bytes(let more) = exchange.next() { answer += more }
    return try FrameReader.frames(of: answer).map { frame throws(WireError) in try Message(frame) }
  }

  private func storeBytes(_ bench: Bench) throws -> Int64 {
    let pages = try bench.database.value("PRAGMA page_count")?.integer ?? 0
    return pages * (try bench.database.value("PRAGMA page_size")?.integer ?? 0)
  }

  @Test(
    "A hello with texts of 1 MB is refused or cut: 20 devices add 16 KB each to the store at most")
  func hello() throws {
    let bench = try Bench()
    let before = try storeBytes(bench)
    let long = String(repeating: "x", count: 1 << 20)
    for number in 0..<20 {
      let device = "device-\(number)"
      let identity = try login(bench, device)
      var hello = Hello(
        server: nil, package: Shop.package.id, device: device, incarnation: "i", groups: [],
        partitions: [], open: [])
      hello.facts.hardware = long
      hello.facts.system = long
      hello.facts.library = long
      hello.facts.isSubscribed = true
      let told = try answer(Message.hello(hello).frame.encoded(), identity, on: bench)
      guard case .welcome? = told.first else {
        Issue.record("facts that are cut are no reason to refuse: \(told)")
        continue
      }
      for change in [
        { (hello: inout Hello) in hello.incarnation = long }, { $0.package = long },
        { $0.settings = long }, { $0.server = long },
        { $0.parameters = SubscriptionParameters(sets: [["area": long]]) },
      ] {
        var longer = hello
        change(&longer)
        let told = try answer(Message.hello(longer).frame.encoded(), identity, on: bench)
        guard case .failure(let failure)? = told.first else {
          Issue.record("it was taken")
          continue
        }
        #expect(failure.code == .badMessage)
        #expect(failure.message.contains("allowed"), "\(failure.message)")
      }
    }
    let devices = try bench.service.devices()
    #expect(devices.count == 20)
    #expect(devices.allSatisfy { $0.hardware.utf8.count == WireLimits.factBytes })
    #expect(try storeBytes(bench) - before <= 20 * 16 << 10)
  }

  @Test("A login, a renewal or a logout that names a device of more than 64 bytes is none")
  func loginTexts() {
    func body(_ device: Int, user: Int = 4) -> [UInt8] {
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("user", String(repeating: "u", count: user))
      writer.field("password", "p")
      writer.field("refreshToken", "r")
      writer.field("device", String(repeating: "d", count: device))
      writer.endObject()
      return writer.bytes
    }
    #expect(LoginRequest(body(WireLimits.idBytes, user: WireLimits.nameBytes)) != nil)
    #expect(LoginRequest(body(WireLimits.idBytes + 1)) == nil)
    #expect(LoginRequest(body(1, user: WireLimits.nameBytes + 1)) == nil)
    #expect(RenewalRequest(body(WireLimits.idBytes)) != nil)
    #expect(RenewalRequest(body(WireLimits.idBytes + 1)) == nil)
    #expect(LogoutRequest(body(WireLimits.idBytes)) != nil)
    #expect(LogoutRequest(body(WireLimits.idBytes + 1)) == nil)
  }

  @Test("Settings that no device could read are refused where the file of templates is read")
  func templates() throws {
    func read(_ title: Int, _ name: Int, _ value: Int) throws(ServerError) {
      func x(_ count: Int) -> String { String(repeating: "x", count: count) }
      let text =
        #"{"templates":[{"name":"\#(x(title))","settings":{"custom":{"\#(x(name))":"\#(x(value))"}}}]}"#
      _ = try ConnectionTemplate.read(Array(text.utf8), name: "templates.json")
    }
    let most = (WireLimits.nameBytes, WireLimits.nameBytes - 7, WireLimits.settingBytes)
    try read(most.0, most.1, most.2)
    for longer in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
      #expect(throws: ServerError.self) {
        try read(most.0 + longer.0, most.1 + longer.1, most.2 + longer.2)
      }
    }
  }

  @Test("Partitions without a row go when the values that name them are too many bytes")
  func emptyPartitions() throws {
    var limits = ServiceLimits.standard
    limits.emptyPartitionBytesPerUser = 250
    let bench = try Bench(GrowthTests.package, limits: limits)
    try bench.load()
    let device = Device(bench)
    let areas = ["a", "b", "c", "d"].map { String(repeating: $0, count: 98) }
    for area in areas {
      device.parameters = SubscriptionParameters(sets: [["area": area]], keys: [:])
      try device.exchange()
    }
    #expect(device.failure == nil)
    let kept = try bench.database.rows("SELECT place FROM partition ORDER BY id")
      .compactMap { $0[0].text }
    #expect(kept == areas.suffix(2).map { "\"\($0)\"" })
    let other = Device(bench, "second")
    other.parameters = SubscriptionParameters(
      sets: [["area": String(repeating: "e", count: 300)]], keys: [:])
    try other.exchange()
    #expect(other.failure?.code == .tooManyPartitions)
  }

  @Test("Log records of a user go when they have too many bytes, the oldest first")
  func reports() throws {
    var limits = ServiceLimits.standard
    limits.reportBytesPerUser = 20_000
    let bench = try Bench(limits: limits)
    try bench.load()
    for number in 1...60 {
      let digits = String(number, radix: 16)
      let id = try #require(
        OperationID(String(repeating: "0", count: 32 - digits.count) + digits))
      let record = LogRecord(
        component: "Order", entityKey: "\(number)", code: 0,
        message: String(repeating: "m", count: 1_000), operation: nil, requestID: id, timestamp: 1,
        level: .info)
      let device = Device(bench, "d\(number % 7)")
      let body = device.body() + Message.report(Report(records: [record])).frame.encoded()
      try device.drain(bench.service.exchange(body, by: device.identity))
      let bytes = try bench.database.value("SELECT sum(length(record)) FROM report")?.integer ?? 0
      #expect(bytes <= 20_000)
    }
    let kept = try DeviceReport.read(folder: bench.folder, DeviceReport.Question())
      .map { Int($0.record.entityKey) ?? 0 }
    #expect(kept.count >= 10)
    let oldest = try #require(kept.first)
    #expect(kept == Array(oldest...60), "the newest are there, without a gap")
  }

  @Test("A request pulls each group once, and its small messages have a number")
  func messages() throws {
    let bench = try Bench()
    let identity = bench.identity()
    let head = Message.hello(
      Hello(
        server: nil, package: Shop.package.id, device: "phone", incarnation: "i", groups: [],
        partitions: [], open: [])
    ).frame.encoded()
    func isTaken(_ messages: [Message]) throws -> Bool {
      let body = messages.reduce(head) { $0 + $1.frame.encoded() }
      if case .welcome? = try answer(body, identity, on: bench).first { return true }
      return false
    }
    let pull = Message.pull(Pull(group: Shop.package.groups[0].name, staged: [], at: 0))
    #expect(try isTaken([pull]))
    #expect(try !isTaken([pull, pull]))
    let others = (0..<WireLimits.groupsInMessage).map {
      Message.pull(Pull(group: "g\($0)", staged: [], at: 0))
    }
    #expect(try isTaken(others))
    #expect(try !isTaken(others + [pull]))
    let confirm = Message.confirm(Confirm(group: "g", version: 0, answers: []))
    #expect(try isTaken(Array(repeating: confirm, count: WireLimits.groupsInMessage)))
    #expect(try !isTaken(Array(repeating: confirm, count: WireLimits.groupsInMessage + 1)))
    for write in [Message.report(Report(records: [])), .replay(Replay(operations: []))] {
      #expect(try isTaken(Array(repeating: write, count: WireLimits.writesInRequest)))
      #expect(try !isTaken(Array(repeating: write, count: WireLimits.writesInRequest + 1)))
    }
    let place = PartitionCursor(partition: 1, cursor: .start)
    let half = Array(repeating: place, count: WireLimits.partitionsInMessage / 2)
    func staged(_ group: String, _ cursors: [PartitionCursor]) -> Message {
      .pull(Pull(group: group, staged: cursors, at: 0))
    }
    #expect(try isTaken([staged("a", half), staged("b", half)]))
    #expect(try !isTaken([staged("a", half), staged("b", half), staged("c", [place])]))
  }
}
