import FerryModel
import FerrySQLite
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite struct StoreTests {
  private func code(
    _ bench: Bench, _ package: Package = Shop.package, folder: String? = nil
  )
    -> ServerError.Code?
  {
    do {
      _ = try Service(
        package: package, folder: folder ?? bench.folder,
        world: World(clock: bench.clock, chance: bench.chance, log: bench.log))
      return nil
    } catch {
      #expect(!error.hint.isEmpty)
      return error.code
    }
  }

  @Test("What is there of a chain is found by the chain, however much its device has sent")
  func membersOfChain() throws {
    let bench = try Bench()
    let plan = try bench.database.rows("EXPLAIN QUERY PLAN \(SQLiteStore.membersOfChain)")
      .compactMap { $0.last?.text }
    #expect(plan.count == 1 && plan[0].contains("operation_chain"), "\(plan)")
  }

  @Test("Two servers on one folder: the second is told, the first goes on")
  func twoServers() throws {
    let bench = try Bench()
    #expect(code(bench) == .folderInUse)
    try bench.load()
    bench.stop()
    #expect(code(bench) == nil)
  }

  @Test("A server that ended holds no folder, though a child just forked has its files open")
  func inheritedLock() throws {
    let bench = try Bench()
    var lock = stat()
    try #require(stat("\(bench.folder)/lock", &lock) == 0)
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd")
    let open = descriptors.compactMap { Int32($0) }.first { descriptor in
      var file = stat()
      return fstat(descriptor, &file) == 0 && file.st_dev == lock.st_dev
        && file.st_ino == lock.st_ino
    }
    // What fork gives to a child: another name of the same open file.
    let inherited = dup(try #require(open))
    defer { close(inherited) }
    bench.stop()
    #expect(code(bench) == nil)
  }

  @Test("A store that is damaged, newer or of another program is refused with its own code")
  func badStores() throws {
    let bench = try Bench()
    bench.stop()
    let file = "\(bench.folder)/server.sqlite"
    do {
      let connection = try Connection(path: file)
      try connection.execute("PRAGMA user_version = 99")
    }
    #expect(code(bench) == .newerStore)
    try FileManager.default.removeItem(atPath: file)
    try Data("this is no database, but a text that is long enough".utf8).write(
      to: URL(fileURLWithPath: file))
    #expect(code(bench) == .damagedStore)
    try FileManager.default.removeItem(atPath: file)
    do {
      let connection = try Connection(path: file)
      try connection.execute("CREATE TABLE customers (id INTEGER)")
    }
    let before = try Data(contentsOf: URL(filePath: file))
    #expect(code(bench) == .damagedStore)
    #expect(try Data(contentsOf: URL(filePath: file)) == before)
  }

  @Test("A folder with keys whose store is missing or empty is refused, and not given a new store")
  func leftBehind() throws {
    let bench = try Bench()
    bench.stop()
    let file = "\(bench.folder)/server.sqlite"
    for name in [file, file + "-wal", file + "-shm"] {
      try? FileManager.default.removeItem(atPath: name)
    }
    for _ in 1...2 {
      let error = #expect(throws: ServerError.self) {
        try Service(
          package: Shop.package, folder: bench.folder, world: .system(log: SilentLog()))
      }
      #expect(error?.code == .damagedStore)
      #expect(error?.message.contains("\(file)-wal") == true, "\(String(describing: error))")
      #expect(error?.hint.contains("ferry restore") == true)
    }
    // Who wants a new store says so by removing the keys.
    for name in ["token.key", "refresh.key"] {
      try FileManager.default.removeItem(atPath: "\(bench.folder)/\(name)")
    }
    #expect(code(bench) == nil)
  }

  @Test("A folder that cannot be made names the cure")
  func folder() throws {
    let bench = try Bench()
    #expect(code(bench, folder: "/proc/ferry") == .folderNotWritable)
  }

  @Test("A model that changed without a new version is refused; a new version has its own clock")
  func changedModel() throws {
    let bench = try Bench()
    bench.business.put(Shop.product, [.integer(1), .text("tea")])
    try bench.load()
    bench.stop()
    let other = Shop.entity("Product", [("id", .int, false)], key: [0])
    let groups = Shop.package.groups
    #expect(
      code(bench, Package(name: "shop", version: "1.0", entities: [other], groups: groups))
        == .changedModel)
    #expect(
      code(bench, Package(name: "shop", version: "2.0", entities: [other], groups: groups)) == nil)
    try bench.restart()
    #expect(try bench.service.cachedRows().count == 1)
  }

  @Test("The key of the tokens is made once and readable by its owner only")
  func secret() throws {
    let bench = try Bench()
    let path = "\(bench.folder)/token.key"
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let pair = try bench.service.login(UserRecord(name: "anna"), device: "phone")
    try bench.restart()
    _ = try bench.service.accessTokens.verify(pair.accessToken, now: bench.clock.now)
  }

  @Test("A folder that others may enter is refused with what to type", arguments: [0o755, 0o710])
  func openFolder(mode: Int) throws {
    let bench = try Bench()
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: bench.folder)
    let error = #expect(throws: ServerError.self) { try bench.restart() }
    #expect(error?.code == .folderOpen)
    #expect(error?.hint == "Type: chmod 700 \(bench.folder)")
    try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: bench.folder)
    try bench.restart()
  }

  @Test(
    "A key of the tokens that is not whole is told with what to do, not used and not replaced",
    arguments: [[], [1, 2, 3], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 7, count: 33)])
  func tornSecret(bytes: [UInt8]) throws {
    let bench = try Bench()
    let file = URL(fileURLWithPath: "\(bench.folder)/token.key")
    let whole = try Data(contentsOf: file)
    try Data(bytes).write(to: file)
    let error = #expect(throws: ServerError.self) { try bench.restart() }
    #expect(error?.code == .damagedSecret)
    #expect(error?.message.contains("token.key") ?? false)
    #expect(error?.hint.contains("remove it") ?? false)
    #expect(try Data(contentsOf: file) == Data(bytes))
    try whole.write(to: file)
    try bench.restart()
    try FileManager.default.removeItem(at: file)
    try bench.restart()
    #expect(try Data(contentsOf: file).count == 32)
    #expect(!FileManager.default.fileExists(atPath: file.path + ".part"))
  }

  @Test("Why an object is here, or not, is told beside a running server (adr why)")
  func why() throws {
    let bench = try Bench()
    bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
    #expect(try bench.service.why("Order", "10").verdict.contains("not been read"))
    try bench.load()
    let device = try Device(bench).exchange()
    let change = bench.operation(
      Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("forbidden")], base: [:])
    try device.exchange([change.1])
    try bench.replay()
    let found = try Explanation.read(folder: bench.folder, entity: "Order", key: "10")
    let line = try #require(found.first)
    #expect(line.rule == "claim:employee")
    #expect(line.place == "1")
    #expect(line.verdict == "Devices whose user has [1] for claim:employee have the row.")
    #expect(line.operations.first?.reason == "412 a rule was broken")
    #expect(line.operations.first?.outcome == "replayFailed")
    #expect(found.first?.similar == [])
    func similar(_ entity: String, _ key: String) throws -> [String]? {
      try Explanation.read(folder: bench.folder, entity: entity, key: key).first?.similar
    }
    #expect(try similar("Order", "11") == ["10"])
    #expect(try similar("order", "10") == ["Order"])
    #expect(try similar("Order", "99999") == [])
    #expect(try bench.service.why("Order", "11").verdict.contains("no such row"))
    #expect(try bench.service.why("Ghost", "1").verdict.contains("no such entity"))
  }

  @Test("The same seed gives the same state and the same bytes")
  func deterministic() throws {
    func run() throws -> (String, [Message]) {
      let bench = try Bench(seed: 7)
      for id in 1...20 { bench.business.put(Shop.order, Shop.order(Int64(id), Int64(id % 3), "x")) }
      try bench.load()
      let device = Device(bench, "phone", bench.identity(employees: [0, 1, 2]))
      try device.exchange()
      let change = bench.operation(
        Shop.order, .update, ObjectKey([.integer(1)]), changed: [2: .text("y")], base: [:])
      try device.exchange([change.1])
      try bench.replay()
      try device.exchange()
      return (try bench.service.dump(), device.messages)
    }
    let (dump, messages) = try run()
    let (again, sameMessages) = try run()
    #expect(dump == again)
    #expect(messages == sameMessages)
  }

  @Test("An operator ends an unknown outcome: refused, accepted or again")
  func decide() throws {
    for decision in [
      OperationDecision.refused(message: "it was cancelled"),
      .accepted(key: ObjectKey([.integer(10)])),
      .again,
    ] {
      let bench = try Bench()
      bench.business.put(Shop.order, Shop.order(10, 1, "Oslo"))
      try bench.load()
      let device = try Device(bench).exchange()
      let change = bench.operation(
        Shop.order, .update, ObjectKey([.integer(10)]), changed: [2: .text("Rome")], base: [:])
      bench.business.next = .unknown(reason: "the line broke")
      bench.business.remembers = false
      try device.exchange([change.1])
      try bench.replay()
      try device.exchange().exchange()
      #expect(device.answers[change.0]?.outcome == .unknown)
      try bench.service.decide(change.0, decision)
      try bench.replay()
      try device.exchange()
      let isRefused = decision == .refused(message: "it was cancelled")
      #expect(device.answers[change.0]?.outcome == (isRefused ? .replayFailed : .replayResult))
      #expect(bench.business.performed[change.0] == (decision == .again ? 1 : nil))
      #expect(throws: ServerError.self) { try bench.service.decide(change.0, decision) }
    }
  }

  @Test(
    "The number of a commit that failed is given to nothing else: it may be in the log (seed 1641)")
  func failedCommit() throws {
    let bench = try Bench()
    let store = bench.service.store
    try bench.database.execute(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (parent REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      PRAGMA foreign_keys = ON
      """)
    let clock = try store.clock()
    let sqlStore = try #require(store as? SQLiteStore)
    #expect(throws: StoreError.self) {
      try store.numbered { transaction throws(StoreError) in
        transaction.hasWritten = true
        try sqlStore.sql { () throws(SQLiteError) in
          try sqlStore.writer.run("INSERT INTO child VALUES (1)")
        }
      }
    }
    #expect(try store.clock() == clock)
    try store.numbered { _ throws(StoreError) in }
    #expect(try store.clock() == clock, "nothing was written")
    let next = try store.numbered { transaction throws(StoreError) in
      transaction.hasWritten = true
      return transaction.version
    }
    #expect(next == clock + 2)
    #expect(try store.clock() == next)
  }
}
