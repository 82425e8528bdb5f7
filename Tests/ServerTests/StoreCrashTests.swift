import FerryFaultVFS
import FerryModel
import FerrySQLite
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// The machine or the process dies at each write of the store.
@Suite struct StoreCrashTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ferry-crash-\(UUID().uuidString)").path
  private let business = Business()

  private func open(_ disk: FaultDisk, seed: Int = 1) throws -> Service {
    let world = World(clock: HandClock(), chance: SeededChance(UInt64(seed)), log: KeptLog())
    return try Service(package: Shop.package, world: world) { package throws(ServerError) in
      try SQLiteStore(folder: folder, package: package, world: world, vfs: disk.vfs)
    }
  }

  private func load(_ service: Service) throws -> LoadSummary {
    let ticket = try service.beginLoad()
    for entity in Shop.all { try service.stage(ticket, entity, business.images(entity)) }
    while true {
      if case .done(let summary) = try service.endLoad(ticket) { return summary }
    }
  }

  /// What is left after a crash at each write from `first` on, three ways each.
  private func crashes(
    _ disk: FaultDisk, from first: Int, _ body: (FaultDisk) throws -> Void
  ) throws {
    for number in first..<disk.operations {
      for crash in FaultDisk.Crash.allCases {
        try body(disk.survivors(at: number, crash, seed: UInt64(number)))
      }
    }
  }

  @Test("A crash at each write of a first load: it was whole, or nobody sees a part of it")
  func firstLoad() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for id in 1...4 as ClosedRange<Int64> {
      business.put(Shop.order, Shop.order(id, id % 2, "Oslo"))
      business.put(Shop.line, Shop.line(id, 1))
      business.put(Shop.product, [.integer(id), .text("p")])
    }
    let disk = FaultDisk()
    var service: Service? = try open(disk)
    let first = disk.operations
    #expect(try service.map(load)?.changedRows == 12)
    let whole = try service?.store.liveRows().map { "\($0.name) \($0.place ?? "-")" }
    service = nil
    var parts: Set<Int> = []
    try crashes(disk, from: first) { left in
      let service = try open(left, seed: 2)
      let rows = try service.store.liveRows().count
      if try service.isLoaded() { #expect(rows == 12) } else { parts.insert(rows) }
      _ = try load(service)
      #expect(try service.isLoaded())
      #expect(try service.store.liveRows().map { "\($0.name) \($0.place ?? "-")" } == whole)
      #expect(try load(service) == LoadSummary())
    }
    #expect(parts == [0, 4, 8, 12], "crashes between the pieces, and before the end")
  }

  @Test("A crash at each write of a step of the schema leaves the version before or after it")
  func schema() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let disk = FaultDisk()
    do {
      let old = try Connection(path: "\(folder)/server.sqlite", vfs: disk.vfs)
      try old.configureStore(synchronous: .full)
      try old.execute(
        Schema.tables + """
          INSERT INTO server VALUES (1, 'kept', 0, 7);
          INSERT INTO package VALUES (1, '\(Shop.package.id)', '\(Shop.package.shape)', 5, 1);
          INSERT INTO refresh_token VALUES (x'AB', NULL, 'anna', 'phone', 9000000000);
          PRAGMA application_id = \(Schema.applicationID);
          PRAGMA user_version = 1;
          """)
    }
    let first = disk.operations
    _ = try open(disk)
    var versions: Set<Int64> = []
    try crashes(disk, from: first) { left in
      do {
        let found = try Connection(path: "\(folder)/server.sqlite", vfs: left.vfs)
        let version = try found.value("PRAGMA user_version")?.integer ?? 0
        versions.insert(version)
        let table = version < 3 ? "refresh_token" : "session"
        #expect(try found.value("SELECT count(*) FROM \(table)") == .integer(1))
      }
      let service = try open(left, seed: 2)
      #expect(service.server == "kept")
      let writer = try #require(service.store as? SQLiteStore).writer
      #expect(try writer.value("PRAGMA user_version") == .integer(Schema.version))
      #expect(try writer.value("SELECT user FROM session") == .text("anna"))
    }
    #expect(versions == Set(1...Schema.version))
  }
}
