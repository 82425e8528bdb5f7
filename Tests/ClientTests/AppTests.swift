import Ferry
import FerryHTTPClient
import FerryReference
import FerrySQLite
import FerryTestTraits
import FerryTravel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// A travel agency's device in a folder of its own.
private final class TravelDevice {
  let folder: URL = FileManager.default.temporaryDirectory.appending(
    path: "ferry-\(UUID().uuidString)")
  var path: String { folder.appending(path: "device.db").path }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func open(
    _ transport: some Transport = ShoreTransport(Shore(Travel.package)) { _, _ in },
    _ handler: (any CallbackHandler)? = nil
  ) throws -> FerryDatabase {
    var profile = ConnectionProfile(server: "http://shore")
    profile.session.asyncReplay = false
    let world = World.system()
    return FerryDatabase(
      try Store(path: path, model: Travel.package, world: world, durability: .application),
      profile, handler, transport, world)
  }
}

@Suite("An app's code", .timeLimit(.minutes(60)))
struct AppTests {
  private func booking(_ passenger: String, _ database: FerryDatabase) -> Booking {
    Booking(
      agencyID: "A1", flightID: 17, passenger: passenger, cabin: .economy, seats: 1, in: database)
  }

  @Test(
    "The README's lines run without a network, and its change goes later",
    .reference("sync/P1", "sync/P2", "sync/P23"))
  func readme() async throws {
    let device = try TravelDevice()
    let offline = try Readme.run(
      path: device.path, server: "http://127.0.0.1:9", password: "secret")
    let mine = try #require(try Booking.findAll(in: offline).first)
    #expect(mine.seats == 2 && mine.pendingChange == .create)
    await offline.close()

    let shore = Shore(Travel.package)
    let flight: [AttributeValue] = [
      .integer(17), .text("LH"), .integer(400), .text("2026-03-02"), .text("10:00:00"),
      .text("FRA"), .text("JFK"), .text("500"), .integer(200), .integer(12), .text("planned"),
    ]
    shore.put(Flight.entity, flight)
    let transport = ShoreTransport(shore) { shore, operation in
      shore.accept(operation.id, newKey: ObjectKey([.integer(901)]), changing: [6: .text("1000")])
    }
    let database = try device.open(transport)
    try await database.onlineLogin(user: "nancy", password: "secret")
    try database.subscribe()
    try await database.synchronize()
    var booking = try await #require(try Booking.find(901, in: database))
    #expect(booking.price == 1000 && booking.seats == 2 && !booking.isPending)
    #expect(try await booking.flight()?.seatsLeft == 12)
    #expect(try booking.logRecords.isEmpty)
    #expect(try await Booking.find(mine.bookingID, in: database)?.bookingID == 901)
    booking.note = "window"
    try booking.update()
    #expect(try Booking.getPendingObjects(in: database).map(\.bookingID) == [901])
    await database.close()
  }

  @Test(
    "A callback hands over the refused object with its log record",
    .reference("sync/P15", "sync/P18", "sync/M2"))
  func refusal() async throws {
    let device = try TravelDevice()
    let transport = ShoreTransport(Shore(Travel.package)) { shore, operation in
      shore.refuse(operation.id, "This flight has not enough seats left")
    }
    let (answered, continuation) = AsyncStream.makeStream(of: Booking.self)
    let database = try device.open(transport, BookingCallbacks(answered: continuation))
    try await database.onlineLogin(user: "nancy", password: "secret")
    try database.subscribe()
    var mine = booking("Ada", database)
    try mine.create()
    try mine.submitPending()
    try await database.synchronize()
    var answers = answered.makeAsyncIterator()
    var refused = try #require(await answers.next())
    #expect(refused.replayFailed)
    #expect(try refused.logRecords.map(\.message) == ["This flight has not enough seats left"])
    try refused.cancelPending()
    #expect(refused.isDeleted)
    #expect(try database.logRecords().isEmpty)
    #expect(try !database.hasPendingOperations)
    await database.close()
  }

  @Test("Objects go from an actor to the main actor and on, and are edited where they lie")
  func isolation() async throws {
    let device = try TravelDevice()
    let database = try device.open()
    let desk = BookingDesk(database)
    await desk.draft(booking("Ada", database))
    await desk.draft(booking("Grace", database))
    let created = try await desk.close()
    #expect(created.map(\.isPending) == [true, true])
    let screen = await BookingScreen(database)
    try await screen.show()
    try await screen.changeSeats(of: 1, to: 3)
    #expect(await screen.describe(1) == "Grace 3")
    #expect(try CallSites.rebook("Ada", to: 18, in: database).map(\.flightID) == [18])
    try await screen.takeBack(1)
    #expect(await screen.bookings.map(\.passenger) == ["Ada"])
    await database.close()
  }

  @Test("What is submitted inside a transaction is told to the session after its end")
  func submitInTransaction() async throws {
    let device = try TravelDevice()
    let database = try device.open()
    let other = try Store(
      path: device.path, model: Travel.package, world: .system(), durability: .application)
    let seen = Mutex<[Bool]>([])
    database.store.bell.onRing {
      let found = try? other.withSnapshot { transaction throws(FerryError) in
        try OperationQueue(transaction).hasOutgoing()
      }
      seen.withLock { $0.append(found ?? false) }
    }
    let new = booking("Ada", database)
    try await database.transaction { () throws(FerryError) in
      var mine = new
      try mine.create()
      try mine.submitPending()
    }
    #expect(seen.withLock { $0.last } == true)
    await database.close()
  }
}
