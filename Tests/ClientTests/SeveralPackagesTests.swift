import Ferry
import FerryHTTPClient
import FerryModel
import FerryReference
import FerryTestTraits
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import Ferry

/// Several packages in one app, open at once for the same user: each has a file, a login, pending work
/// and synchronizations of its own.
@Suite("Several packages in one app", .timeLimit(.minutes(60)))
struct SeveralPackagesTests {
  /// One of them, with a server of its own.
  private struct Opened {
    let database: FerryDatabase
    let path: String
    let witness: Witness

    init(
      _ model: Package, in folder: URL, putting rows: sending (Shore) -> Void = { _ in }
    ) throws {
      path = FerryDatabase.path(of: "nancy", package: model.name, in: folder.path)
      witness = Witness()
      let shore = Shore(model)
      rows(shore)
      database = FerryDatabase(
        try Store(path: path, model: model, world: .system(), durability: .application),
        ConnectionProfile(server: "http://\(model.name)"), witness,
        ShoreTransport(shore) { shore, operation in shore.accept(operation.id) }, .system())
    }

    func start() async throws {
      try await database.onlineLogin(user: "nancy", password: "p")
      try database.subscribe()
      try await database.synchronize()
    }

    func create(_ values: [AttributeValue], of entity: Entity) throws -> ObjectRecord {
      var record = ObjectRecord(entity, in: database)
      record.values = values
      return try #require(try PendingStore.save(try record.change(.create), in: database.store))
    }
  }

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  @Test(
    "Each database has pending work of its own, and sends it to its own server",
    .reference("facts/1.4"))
  func apart() async throws {
    try await withFolder { folder in
      let shop = try Opened(Shop.package, in: folder)
      let goods = try Opened(Warehouse.package(), in: folder) {
        $0.put(Maker.entity, [.integer(1), .text("Ada"), .text("Berlin"), .null])
      }
      let baskets = try Opened(Baskets.package, in: folder)
      let all = [shop, goods, baskets]
      #expect(Set(all.map(\.path)).count == 3)
      for opened in all { try await opened.start() }
      #expect(try await Maker.count(in: goods.database) == 1)

      var line = Line(
        record: try shop.create([.integer(1), .integer(1), .text("tea")], of: Line.entity))
      var maker = Maker(
        record: try goods.create([.integer(2), .text("Bo"), .null, .null], of: Maker.entity))
      _ = try baskets.create([.integer(1), .text("2.5")], of: Receipt.entity)
      #expect(try all.map { try $0.database.hasPendingOperations } == [true, true, true])

      try line.submitPending()
      while try shop.database.hasPendingOperations { try await shop.database.synchronize() }
      #expect(try all.map { try $0.database.hasPendingOperations } == [false, true, true])
      await shop.witness.hears("accepted 1,1")
      try maker.submitPending()
      while try goods.database.hasPendingOperations { try await goods.database.synchronize() }
      await goods.witness.hears("accepted 2")
      #expect(try all.map { try $0.database.hasPendingOperations } == [false, false, true])
      #expect(!goods.witness.heard.contains("accepted 1,1"))
      #expect(!baskets.witness.heard.contains { $0.hasPrefix("accepted") })

      // Closing and cleaning one is nothing to the others.
      await shop.database.close()
      try goods.database.cleanAllData()
      #expect(try await Maker.count(in: goods.database) == 0)
      #expect(try await Receipt.count(in: baskets.database) == 1)
      #expect(try baskets.database.hasPendingOperations)
      try await baskets.database.synchronize()
      try baskets.database.submitPendingOperations()
      while try baskets.database.hasPendingOperations {
        try await baskets.database.synchronize()
      }
      await baskets.witness.hears("accepted 1")
      await goods.database.close()
      await baskets.database.close()
    }
  }

  @Test(
    "What was pending in each is there when all are opened again, by its own package",
    .reference("facts/1.4"))
  func again() async throws {
    try await withFolder { folder in
      for _ in 0..<2 {
        let shop = try Opened(Shop.package, in: folder)
        let baskets = try Opened(Baskets.package, in: folder)
        if try await Line.count(in: shop.database) == 0 {
          _ = try shop.create([.integer(1), .integer(1), .text("tea")], of: Line.entity)
          _ = try baskets.create([.integer(1), .text("2.5")], of: Receipt.entity)
        }
        #expect(try Line.countPendingObjects(in: shop.database) == 1)
        #expect(try Receipt.countPendingObjects(in: baskets.database) == 1)
        await shop.database.close()
        await baskets.database.close()
      }
      let path = FerryDatabase.path(of: "nancy", package: "Shop", in: folder.path)
      let error = #expect(throws: FerryError.self) {
        try Store(
          path: path, model: Baskets.package, world: .system(), durability: .application)
      }
      #expect(error?.code == .otherOwner)
      #expect(error?.message.contains("holds Shop:1.0, not Baskets:1.0") == true)
      #expect(error?.hint.contains("a file of its own") == true)
    }
  }
}
