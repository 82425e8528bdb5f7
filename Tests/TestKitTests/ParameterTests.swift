import Ferry
import FerryModel
import FerryReference
import FerryTestKit
import FerryTestTraits
import Foundation
import Testing

/// Customers by region and depot, written by hand in the form that the generator writes.
private enum Sales {
  static let territory = PersonalizationKey<String?>("territory")
  static let depot = PersonalizationKey<Int64?>("depot")
  static let mood = PersonalizationKey<String?>("mood")

  static let package = Package(
    name: "Sales", version: "1.0", entities: [Customer.entity, Visit.entity, Note.entity],
    groups: [SynchronizationGroup(name: "default")],
    parameters: [
      Parameter(name: "region", type: .string, defaultValue: .text("East")),
      Parameter(name: "year", type: .long),
      Parameter(name: "territory", type: .string, kind: .server),
      Parameter(name: "depot", type: .long, kind: .client),
      Parameter(name: "mood", type: .string, kind: .session),
    ])
}

private func entity(
  _ name: String, _ attributes: [(String, AttributeType)], _ columns: [PartitionColumn]
) -> Entity {
  Entity(
    name: name, table: name,
    attributes: attributes.map {
      Attribute(name: $0.0, column: $0.0, type: $0.1, isNullable: false)
    }, key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: .columns(columns), group: "default")
}

private struct Customer: BusinessObject {
  static let entity = FerryTestKitTests.entity(
    "Customer", [("id", .long), ("region", .string), ("year", .long)],
    [
      PartitionColumn(attribute: "region", source: .parameter("region", within: "regions")),
      PartitionColumn(attribute: "year", source: .parameter("year", within: nil)),
    ])
  var record: ObjectRecord
  var id: Int64 { record.get(0) }
  var region: String {
    get { record.get(1) }
    set { record.set(1, newValue) }
  }
}

private struct Visit: BusinessObject {
  static let entity = FerryTestKitTests.entity(
    "Visit", [("id", .long), ("territory", .string)],
    [PartitionColumn(attribute: "territory", source: .parameter("territory", within: nil))])
  var record: ObjectRecord
  var id: Int64 { record.get(0) }
}

private struct Note: BusinessObject {
  static let entity = FerryTestKitTests.entity(
    "Note", [("id", .long), ("depot", .long), ("mood", .string)],
    [
      PartitionColumn(attribute: "depot", source: .parameter("depot", within: nil)),
      PartitionColumn(attribute: "mood", source: .parameter("mood", within: nil)),
    ])
  var record: ObjectRecord
  var id: Int64 { record.get(0) }
}

@Suite("Parameters of a subscription", .timeLimit(.minutes(60)))
struct ParameterTests {
  /// Customers 1 to 8: East, South, West, North of 2025, then of 2026; visits and notes likewise.
  private func sales() async throws -> (TestServer, FerryDatabase) {
    let server = try await TestServer(Sales.package)
    var id: Int64 = 0
    for year in [2025, 2026] {
      for region in ["East", "South", "West", "North"] {
        id += 1
        try await server.insert(Customer.self, ["id": id, "region": region, "year": year])
        try await server.insert(Visit.self, ["id": id, "territory": region])
        try await server.insert(Note.self, ["id": id, "depot": year, "mood": region])
      }
    }
    let database = try await server.database(
      user: "ada", claims: ["regions": ["East", "South", "West"]])
    return (server, database)
  }

  private func customers(_ database: FerryDatabase) throws -> [Int64] {
    try Customer.findAll(in: database).map(\.id).sorted()
  }

  private func visits(_ database: FerryDatabase) throws -> [Int64] {
    try Visit.findAll(in: database).map(\.id).sorted()
  }

  @Test("Each saved set of synchronization parameters is a subscription; several bring the union")
  func sets() async throws {
    let (server, database) = try await sales()
    #expect(try customers(database) == [])
    let east = ParameterSet(["year": 2025])
    let south = ParameterSet(["region": "South", "year": 2026])
    try database.save(east)
    try await database.synchronize()
    #expect(try customers(database) == [1], "the region has its default")
    try database.save(south)
    try database.save(south)
    try await database.synchronize()
    #expect(try customers(database) == [1, 6], "only the values of one set go together")
    #expect(try database.savedParameters() == [east, south])
    try database.remove(east)
    try await database.synchronize()
    #expect(try customers(database) == [6])
    try database.purgeParameters()
    try await database.synchronize()
    #expect(try customers(database) == [])
    #expect(try database.savedParameters() == [])
    await server.stop()
  }

  @Test("A server that is adopted is given the keys that the old one kept for the user")
  func adopted() async throws {
    let (server, database) = try await sales()
    try database.set(Sales.territory, to: "West")
    try await database.synchronize()
    #expect(try visits(database) == [3, 7])
    await database.close()
    let (other, _) = try await sales()
    let moved = try other.open(copyOf: server.file(of: database), user: "ada")
    try await moved.onlineLogin(user: "ada", password: "any")
    #expect(try moved.value(of: Sales.territory) == "West")
    #expect(try visits(moved) == [3, 7])
    await server.stop()
    await other.stop()
  }

  @Test("A set that is saved already is taken also where no more are taken, and one more is not")
  func limit() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID()).db").path
    let database = try FerryDatabase.open(
      at: path, package: Sales.package, profile: ConnectionProfile(server: "http://127.0.0.1:9"))
    try await database.transaction { () throws(FerryError) in
      for year in 1...200 { try database.save(ParameterSet(["year": year])) }
    }
    try database.save(ParameterSet(["year": 7]))
    #expect(try database.savedParameters().count == 200)
    #expect { try database.save(ParameterSet(["year": 201])) } throws: { error in
      "\(error)".contains("200 sets of parameters are already saved")
    }
    let saved = try database.savedParameters()
    #expect(saved.compactMap { $0.value(of: "year", as: Int.self) } == Array(1...200))
    await database.close()
    try FerryDatabase.delete(at: path)
  }

  @Test(
    "Values that no message could carry are refused at once, and the earlier ones stay",
    .reference("facts/1.5"))
  func tooLarge() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID()).db").path
    let database = try FerryDatabase.open(
      at: path, package: Sales.package, profile: ConnectionProfile(server: "http://127.0.0.1:9"))
    let long = String(repeating: "x", count: 40_000)
    try database.set(Sales.territory, to: long)
    func isTooLarge(_ error: any Error) -> Bool { (error as? FerryError)?.code == .tooLarge }
    #expect { try database.set(Sales.mood, to: long) } throws: { isTooLarge($0) }
    #expect(try database.value(of: Sales.mood) == nil)
    #expect { try database.save(ParameterSet(["region": long])) } throws: { isTooLarge($0) }
    #expect(try database.savedParameters().isEmpty)
    #expect {
      try database.set(Sales.territory, to: String(repeating: "y", count: 70_000))
    } throws: {
      isTooLarge($0)
    }
    #expect(try database.value(of: Sales.territory) == long)
    try database.set(Sales.territory, to: "South")
    try database.set(Sales.mood, to: long)
    #expect(try database.value(of: Sales.mood) == long)
    await database.close()
    try FerryDatabase.delete(at: path)
  }

  @Test("A set that is removed takes no pending change along")
  func pending() async throws {
    let (server, database) = try await sales()
    let set = ParameterSet(["year": 2025])
    try database.save(set)
    try await database.synchronize()
    database.submitsAutomatically = false
    var customer = try #require(try Customer.findAll(in: database).first)
    customer.region = "West"
    try customer.update()
    try database.remove(set)
    try await database.synchronize()
    #expect(try Customer.findAll(in: database).map(\.region) == ["West"])
    try customer.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try server.rows(of: Customer.self).first?["region"] == "West")
    #expect(try customers(database) == [])
    await server.stop()
  }

  @Test("A value that the user's claims do not list brings nothing")
  func withinClaims() async throws {
    let (server, database) = try await sales()
    try database.save(ParameterSet(["region": "North", "year": 2025]))
    try database.save(ParameterSet(["region": "West", "year": 2025]))
    try await database.synchronize()
    #expect(try customers(database) == [3])
    await server.stop()
  }

  @Test("A set that is saved while the channel is open brings its rows by itself")
  func channel() async throws {
    let (server, database) = try await sales()
    let arrivals = Arrivals()
    database.registerCallbackHandler(arrivals)
    database.startBackgroundSynchronization()
    try database.save(ParameterSet(["region": "West", "year": 2026]))
    while try customers(database) != [7] { await arrivals.next() }
    // The channel itself asks for the new set too: nothing else fetches what comes later.
    try await server.insert(Customer.self, ["id": 9, "region": "West", "year": 2026])
    while try customers(database) != [7, 9] { await arrivals.next() }
    await server.stop()
  }

  @Test(
    "A personalization key of the server holds for all of the user's devices, open channels too")
  func serverKeys() async throws {
    let (server, phone) = try await sales()
    let tablet = try await server.database(user: "ada")
    let other = try await server.database(user: "ben")
    let arrivals = Arrivals()
    tablet.registerCallbackHandler(arrivals)
    try tablet.set(Sales.depot, to: 1)
    try tablet.set(Sales.mood, to: "calm")
    tablet.startBackgroundSynchronization()
    // What comes unasked shows that the channel is open.
    try await server.insert(Note.self, ["id": 20, "depot": 1, "mood": "calm"])
    while try Note.findAll(in: tablet).isEmpty { await arrivals.next() }
    try await server.insert(Note.self, ["id": 21, "depot": 1, "mood": "calm"])
    while try Note.findAll(in: tablet).count != 2 { await arrivals.next() }
    #expect(try visits(phone) == [])
    try phone.set(Sales.territory, to: "South")
    #expect(try phone.value(of: Sales.territory) == "South")
    try await phone.synchronize()
    #expect(try visits(phone) == [2, 6])
    while try visits(tablet) != [2, 6] { await arrivals.next() }
    #expect(try tablet.value(of: Sales.territory) == "South")
    try await other.synchronize()
    #expect(try other.value(of: Sales.territory) == nil)
    #expect(try visits(other) == [])
    try phone.set(Sales.territory, to: nil)
    try await phone.synchronize()
    #expect(try visits(phone) == [])
    await server.stop()
  }

  @Test("Keys of the device and of the session stay where they are, and narrow together")
  func ownKeys() async throws {
    let (server, phone) = try await sales()
    let tablet = try await server.database(user: "ada")
    try phone.set(Sales.depot, to: 2026)
    try phone.set(Sales.mood, to: "West")
    try await phone.synchronize()
    #expect(try Note.findAll(in: phone).map(\.id) == [7])
    try await tablet.synchronize()
    #expect(try Note.findAll(in: tablet).isEmpty)
    #expect(try tablet.value(of: Sales.depot) == nil)
    await server.stop()
  }

  @Test("A key of the session is forgotten when the app ends, one of the device is not")
  func kept() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "ferry-\(UUID()).db").path
    let open = {
      try FerryDatabase.open(
        at: path, package: Sales.package, profile: ConnectionProfile(server: "http://127.0.0.1:9"))
    }
    let database = try open()
    try database.set(Sales.depot, to: 7)
    try database.set(Sales.mood, to: "blue")
    try database.save(ParameterSet(["year": 2025]))
    await database.close()
    let again = try open()
    #expect(try again.value(of: Sales.depot) == 7)
    #expect(try again.value(of: Sales.mood) == nil)
    #expect(try again.savedParameters() == [ParameterSet(["year": 2025])])
    await again.close()
    try FerryDatabase.delete(at: path)
  }

  @Test("A name or a value that the model does not know is told with those that it does")
  func unknown() async throws {
    let (server, database) = try await sales()
    #expect { try database.save(ParameterSet(["reigon": "West"])) } throws: {
      "\($0)".contains("Sales:1.0 has no synchronization parameter reigon. It has region, year")
    }
    #expect { try database.save(ParameterSet(["year": "soon"])) } throws: {
      "\($0)".contains("the synchronization parameter year cannot be")
    }
    #expect { try database.save(ParameterSet(["depot": 7])) } throws: {
      ($0 as? FerryError)?.code == .unknownName
    }
    #expect { try database.set(PersonalizationKey<Int>("region"), to: 3) } throws: {
      "\($0)".contains("has no personalization key region")
    }
    #expect(try database.savedParameters() == [])
    await server.stop()
  }
}

/// Lets a test look again after each import.
private final class Arrivals: CallbackHandler {
  private let (stream, told) = AsyncStream<Void>.makeStream()

  func onImportSuccess(group: String) { told.yield() }

  func next() async {
    for await _ in stream { return }
  }
}
