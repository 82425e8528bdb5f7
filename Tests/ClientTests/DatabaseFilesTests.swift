import Ferry
import FerrySQLite
import FerryTestTraits
import FerryTravel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("The files of databases")
struct DatabaseFilesTests {
  private let profile = ConnectionProfile(server: "http://127.0.0.1:9")

  private func inFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path)
  }

  private func book(_ passenger: String, in database: FerryDatabase) throws {
    var booking = Booking(
      agencyID: "A07", flightID: 1, passenger: passenger, cabin: .economy, seats: 1, in: database)
    try booking.create()
  }

  @Test(
    "A database is made, kept, closed, and deleted with all that belongs to it",
    .reference("facts/1.6"))
  func lifeCycle() async throws {
    try await inFolder { folder in
      let path = "\(folder)/device.db"
      #expect(!FerryDatabase.exists(at: path))
      let database = try Travel.open(at: path, profile: profile)
      try book("Ada", in: database)
      #expect(FerryDatabase.exists(at: path))
      #expect(throws: FerryError.self) { try FerryDatabase.delete(at: path) }
      let ada = try #require(try Booking.findAll(in: database).first)
      await database.close()
      #expect(ada.passenger == "Ada")
      #expect { try Booking.findAll(in: database) } throws: { ($0 as? FerryError)?.code == .closed }
      #expect { try book("Bob", in: database) } throws: { ($0 as? FerryError)?.code == .closed }
      let again = try Travel.open(at: path, profile: profile)
      #expect(try Booking.findAll(in: again).map(\.passenger) == ["Ada"])
      await again.close()
      try FerryDatabase.delete(at: path)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
      try FerryDatabase.delete(at: path)
    }
  }

  @Test("A deletion that a crash has cut short is finished by the next opening, and makes no error")
  func cutShort() async throws {
    try await inFolder { folder in
      let path = "\(folder)/device.db"
      let database = try Travel.open(at: path, profile: profile)
      try book("Ada", in: database)
      // As a kill leaves it: everything is in the log, and the file has lost its name already.
      let log = try Data(contentsOf: URL(filePath: path + "-wal"))
      let main = try Data(contentsOf: URL(filePath: path))
      await database.close()
      try FileManager.default.removeItem(atPath: path)
      try main.write(to: URL(filePath: path + DatabaseFiles.deleted))
      try log.write(to: URL(filePath: path + "-wal"))
      let again = try Travel.open(at: path, profile: profile)
      #expect(try Booking.findAll(in: again).isEmpty)
      try book("Bob", in: again)
      await again.close()
      #expect(!FerryDatabase.exists(at: path + DatabaseFiles.deleted))

      // Without that sign nobody knows that the log is rubbish: whoever took the file can put it
      // back, and whoever wants it gone says so.
      try FileManager.default.removeItem(atPath: path)
      try log.write(to: URL(filePath: path + "-wal"))
      for _ in 0..<2 {
        let error = #expect(throws: FerryError.self) {
          try Travel.open(at: path, profile: profile)
        }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("\(path)-wal, which holds changes") == true)
      }
      try main.write(to: URL(filePath: path))
      let whole = try Travel.open(at: path, profile: profile)
      #expect(try Booking.findAll(in: whole).map(\.passenger) == ["Ada"])
      await whole.close()
      try FileManager.default.removeItem(atPath: path)
      try log.write(to: URL(filePath: path + "-wal"))
      try FerryDatabase.delete(at: path)
      await (try Travel.open(at: path, profile: profile)).close()
    }
  }

  @Test("Another program's database and a text are not deleted")
  func others() async throws {
    try await inFolder { folder in
      let database = "\(folder)/business.db"
      try Connection(path: database).execute("CREATE TABLE orders (id INTEGER)")
      let text = "\(folder)/notes.txt"
      try Data("Dear diary, this is no database.".utf8).write(to: URL(filePath: text))
      for path in [database, text] {
        let before = try Data(contentsOf: URL(filePath: path))
        let error = #expect(throws: FerryError.self) { try FerryDatabase.delete(at: path) }
        #expect(error?.code == .otherOwner, "\(path)")
        #expect(error?.hint.contains("nothing was deleted") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
    }
  }

  @Test("A database that another program has locked says nothing of its owner: it is not deleted")
  func locked() async throws {
    try await inFolder { folder in
      let path = "\(folder)/business.db"
      try Connection(path: path).execute("CREATE TABLE orders (id INTEGER)")
      let before = try Data(contentsOf: URL(filePath: path))
      let other = try Connection(path: path)
      try other.execute("BEGIN EXCLUSIVE")
      let error = #expect(throws: FerryError.self) { try FerryDatabase.delete(at: path) }
      #expect(error?.code == .inUse)
      #expect(error?.hint.contains("nothing was deleted") == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).contains("business.db"))
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
      try other.execute("ROLLBACK")
      #expect(throws: FerryError.self) { try FerryDatabase.delete(at: path) }
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }

  @Test("Each user of a device has a file with pending work of their own")
  func users() async throws {
    try await inFolder { folder in
      let names = ["nancy", "Nancy", "näncy", "nancy/../x", "n%41"]
      let paths = names.map { FerryDatabase.path(of: $0, package: "Travel", in: folder) }
      #expect(Set(paths.map { $0.lowercased() }).count == names.count)
      #expect(
        paths.allSatisfy {
          $0.split(separator: "/").count == folder.split(separator: "/").count + 1
        })
      let nancy = try Travel.open(at: paths[0], profile: profile)
      let other = try Travel.open(at: paths[1], profile: profile)
      try book("Ada", in: nancy)
      try book("Bob", in: other)
      #expect(try Booking.findAll(in: nancy).map(\.passenger) == ["Ada"])
      #expect(try Booking.findAll(in: other).map(\.passenger) == ["Bob"])
      await nancy.close()
      try FerryDatabase.delete(at: paths[0])
      #expect(try other.hasPendingOperations)
      await other.close()
    }
  }

  @Test("However long the name of a user is, its file can be made, and is no other's")
  func longNames() async throws {
    try await inFolder { folder in
      let long = String(repeating: "n", count: 300)
      let users = [long, long + "x", long.uppercased(), String(repeating: "/ä", count: 200)]
      let paths = users.map { FerryDatabase.path(of: $0, package: "Travel", in: folder) }
      #expect(Set(paths.map { $0.lowercased() }).count == users.count)
      for path in paths {
        #expect(path.dropFirst(folder.count + 1).utf8.count <= 230)
        let database = try Travel.open(at: path, key: .random(), profile: profile)
        try book("Ada", in: database)
        await database.close()
        try FerryDatabase.delete(at: path)
      }
      #expect(
        FerryDatabase.path(of: long, package: "Travel", in: folder) == paths[0], "it is stable")
      // 200 characters fit, and always did.
      let known = FerryDatabase.path(of: String(long.prefix(200)), package: "Travel", in: folder)
      #expect(known == "\(folder)/Travel-\(long.prefix(200)).ferry")
      // One that an older Ferry made under its whole name keeps it.
      let whole = "\(folder)/Travel-\(long.prefix(235)).ferry"
      #expect(FileManager.default.createFile(atPath: whole, contents: nil))
      #expect(
        FerryDatabase.path(of: String(long.prefix(235)), package: "Travel", in: folder) == whole)
    }
  }

  @Test("A close returns when what still reads has ended, and then the file can be deleted")
  func closedWhileReading() async throws {
    try await inFolder { folder in
      let path = "\(folder)/device.db"
      let database = try Travel.open(at: path, profile: profile)
      let store = database.store
      let events = Mutex<[String]>([])
      let (reads, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      Thread.detachNewThread {
        try? store.read { _ throws(FerryError) in
          reads.signal()
          mayEnd.wait()
          events.withLock { $0.append("read") }
        }
      }
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          reads.wait()
          continuation.resume()
        }
      }
      let closing = Task {
        await database.close()
        events.withLock { $0.append("closed") }
        try FerryDatabase.delete(at: path)
      }
      while !store.isClosed { await Task.yield() }
      #expect { try FerryDatabase.delete(at: path) } throws: { ($0 as? FerryError)?.code == .inUse }
      // For a close that does not wait.
      Patience.moment()
      mayEnd.signal()
      try await closing.value
      #expect(events.withLock { $0 } == ["read", "closed"])
      #expect(!FerryDatabase.exists(at: path))
    }
  }

  @Test("Opened twice in one process a database loses nothing, and the log says what to do")
  func openedTwice() async throws {
    try await inFolder { folder in
      let path = "\(folder)/device.db"
      let log = HeardLog()
      let world = World(clock: SystemClock(), chance: SystemChance(), log: log)
      let open = { (profile: ConnectionProfile) throws(FerryError) in
        try FerryDatabase.open(
          at: path, package: Travel.package, profile: profile, world: world)
      }
      let app = try open(profile)
      let twice = { log.lines.filter { $0.contains("open in this process already") } }
      #expect(twice().isEmpty)
      let widget = try open(profile)
      #expect(twice().count == 1 && twice()[0].contains("isDatabaseShared"))
      try book("Ada", in: app)
      try book("Bob", in: widget)
      try await app.transaction { () throws(FerryError) in
        for var booking in try Booking.findAll(in: app) {
          booking.seats = 2
          try booking.update()
        }
      }
      #expect(try Booking.findAll(in: widget).map(\.seats) == [2, 2])
      #expect { try FerryDatabase.delete(at: path) } throws: { ($0 as? FerryError)?.code == .inUse }
      await app.close()
      try book("Eve", in: widget)
      await widget.close()
      var shared = profile
      shared.session.isDatabaseShared = true
      let (one, two) = (try open(shared), try open(shared))
      #expect(twice().count == 1, "whoever says so knows it")
      #expect(try Booking.findAll(in: two).count == 3)
      await one.close()
      await two.close()
    }
  }

  @Test(
    "cleanAllData leaves nothing but login and subscription, and everything comes anew",
    .reference("facts/1.6"))
  func cleaned() throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try shop.device.store.cleanAllData()
    #expect(try shop.device.dump() == "")
    #expect(try shop.device.operations().isEmpty)
    try shop.device.exchange(shop.shore)
    #expect(shop.shore.received.isEmpty)
    #expect(try shop.device.dump().split(separator: "\n").count == 3)
  }

  @Test("Vacuum gives back the space of what was deleted", .reference("facts/1.6"))
  func vacuumed() throws {
    let shop = try Stocked()
    for number in 0..<2_000 {
      var line = shop.device.newLine(of: 1, Int64(number), String(repeating: "x", count: 200))
      try line.create()
    }
    let size = { try Data(contentsOf: URL(filePath: shop.device.path)).count }
    try shop.device.store.vacuum()
    let full = try size()
    try shop.device.store.cleanAllData()
    try shop.device.store.vacuum()
    #expect(try size() < full / 4)
  }
}
