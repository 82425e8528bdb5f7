import Ferry
import FerryModel
import FerryReference
import FerrySQLite
import FerryTestKit
import FerryTestTraits
import FerryTravel
import Foundation
import Synchronization
import Testing

@Suite("The server for an app's tests", .timeLimit(.minutes(60)))
struct TestServerTests {
  /// Two agencies and one flight; nancy works for A07.
  private func travel() async throws -> TestServer {
    let server = try await TestServer(Travel.package)
    try await server.insert(
      Agency.self, ["agencyID": "A07", "name": "Far", "city": "Bonn", "country": "DE"],
      ["agencyID": "A08", "name": "Near", "city": "Ulm", "country": "DE"])
    try await server.insert(
      Carrier.self, ["carrierID": "LH", "name": "Lufthansa", "currency": "EUR"])
    try await server.insert(
      Flight.self,
      [
        "flightID": 318, "carrierID": "LH", "number": 400, "flightDate": try day("2026-11-21"),
        "departure": try hour("10:00:00"), "origin": "FRA", "destination": "JFK",
        "price": Decimal(400), "seats": 2, "seatsLeft": 2, "status": "open",
      ])
    try await server.insert(Booking.self, booking(1, "A07", "Ada"), booking(2, "A08", "Bob"))
    return server
  }

  private func day(_ text: String) throws -> LocalDate { try #require(LocalDate(text)) }
  private func hour(_ text: String) throws -> LocalTime { try #require(LocalTime(text)) }

  private func booking(
    _ id: Int, _ agency: String, _ passenger: String
  ) -> [String: any AttributeConvertible] {
    [
      "bookingID": id, "agencyID": agency, "flightID": 318, "passenger": passenger,
      "cabin": "economy", "seats": 1,
    ]
  }

  private func nancy(_ server: TestServer) async throws -> FerryDatabase {
    try await server.database(user: "nancy", claims: ["agency": ["A07"]])
  }

  private func grace(in database: FerryDatabase) throws -> Booking {
    var booking = Booking(
      agencyID: "A07", flightID: 318, passenger: "Grace", cabin: .economy, seats: 1, in: database)
    try booking.create()
    try booking.submitPending()
    return booking
  }

  @Test("A device of a user begins with what the user may see")
  func rights() async throws {
    let server = try await travel()
    let database = try await nancy(server)
    #expect(try Booking.findAll(in: database).map(\.passenger) == ["Ada"])
    await server.stop()
  }

  @Test("A created object comes back with the key that the business system gave it")
  func accepted() async throws {
    let server = try await travel()
    let database = try await nancy(server)
    var made = try grace(in: database)
    try await database.synchronize(awaitingAnswers: true)
    try made.refresh()
    #expect(!made.isPending)
    #expect(made.bookingID == 3)
    #expect(
      try server.rows(of: Booking.self).map { try $0["passenger"] } == ["Ada", "Bob", "Grace"])
    await server.stop()
  }

  /// Holds the business system up until it is opened.
  private final class Gate: Sendable {
    private let entry = DispatchSemaphore(value: 0)
    func pass() { entry.wait() }
    func open() { entry.signal() }
  }

  @Test("The kit's session is the one that ships: it waits for answers where it is asked to")
  func asShipped() async throws {
    let server = try await travel()
    let gate = Gate()
    defer { gate.open() }
    server.refuse(Booking.self, of: [.create], "The flight is full.") { _ in
      gate.pass()
      return true
    }
    let database = try await nancy(server)
    let made = try grace(in: database)
    // Without a word no answer is waited for: there is none before the gate opens.
    try await database.synchronize(within: .seconds(600))
    #expect(try made.logRecords.isEmpty)
    gate.open()
    try await database.synchronize(awaitingAnswers: true)
    #expect(try made.logRecords.map(\.message) == ["The flight is full."])
    await server.stop()
  }

  @Test("A database of the kit has the settings of the app, also when it is opened again")
  func settings() async throws {
    let server = try await travel()
    var settings = SessionSettings()
    settings.asyncReplay = false
    var database = try await server.database(
      user: "nancy", claims: ["agency": ["A07"]], settings: settings)
    var made = try grace(in: database)
    try await database.synchronize()
    try made.refresh()
    #expect(!made.isPending && made.bookingID == 3)
    database = try await server.reopen(database)
    made = try grace(in: database)
    try await database.synchronize()
    try made.refresh()
    #expect(!made.isPending && made.bookingID == 4)
    await server.stop()
  }

  @Test("A refusal that the test asks for reaches the object with code and message")
  func refused() async throws {
    let server = try await travel()
    server.refuse(Booking.self, of: [.create], code: 409, "The flight is full.") {
      try $0["flightID"] == 318
    }
    let database = try await nancy(server)
    var made = try grace(in: database)
    try await database.synchronize(awaitingAnswers: true)
    try made.refresh()
    #expect(made.replayFailed)
    #expect(try made.logRecords.map(\.message) == ["The flight is full."])
    #expect(try made.logRecords.map(\.code) == [409])
    server.acceptAll()
    try made.submitPending()
    try await database.synchronize(awaitingAnswers: true)
    try made.refresh()
    #expect(!made.isPending)
    await server.stop()
  }

  @Test("A rule reads a value as any type that holds it: a decimal is compared with a whole number")
  func rules() async throws {
    let server = try await travel()
    server.refuse(Flight.self, of: [.update], "too dear") { try $0["price"] > 500 }
    let ids = { try server.rows(of: Booking.self).map { try $0["bookingID"] as Int } }
    for id in [10, 9, 100] { try await server.insert(Booking.self, booking(id, "A07", "Cy")) }
    #expect(try ids() == [1, 2, 9, 10, 100])
    let price: Int = try #require(server.rows(of: Flight.self).first)["price"]
    #expect(price == 400)
    let flight = try #require(server.rows(of: Flight.self).first)
    #expect(try flight["price"] as String == "400")
    #expect(try flight["flightDate"] as String == "2026-11-21")
    await server.stop()
  }

  @Test("What someone else changes and removes comes with the next synchronize")
  func others() async throws {
    let server = try await travel()
    let database = try await nancy(server)
    let ada = try #require(try Booking.findAll(in: database).first)
    try await server.change(ada, ["note": "window"])
    try await database.synchronize()
    #expect(try Booking.findAll(in: database).map(\.note) == ["window"])
    try await server.remove(ada)
    try await database.synchronize()
    #expect(try Booking.findAll(in: database).isEmpty)
    await server.stop()
  }

  @Test("Without a network work goes on, and is sent when it is back", .reference("facts/5.3"))
  func offline() async throws {
    let server = try await travel()
    let database = try await nancy(server)
    await server.setReachable(false)
    var made = try grace(in: database)
    await #expect { try await database.synchronize(awaitingAnswers: true) } throws: { error in
      (error as? FerryError)?.code == .offline
    }
    #expect(try Booking.findAll(in: database).map(\.passenger) == ["Ada", "Grace"])
    #expect(server.rows(of: Booking.self).count == 2)
    await server.setReachable(true)
    try await database.synchronize(awaitingAnswers: true)
    try made.refresh()
    #expect(!made.isPending)
    #expect(server.rows(of: Booking.self).count == 3)
    await server.stop()
  }

  @Test("A login that the test refuses is refused, until it is accepted again")
  func login() async throws {
    let server = try await travel()
    let database = try await nancy(server)
    server.refuseLogin(user: "nancy")
    // The file belongs to nancy: nobody else is even asked about.
    for (user, code) in [("nancy", FerryError.Code.notLoggedIn), ("nobody", .otherOwner)] {
      await #expect { try await database.onlineLogin(user: user, password: "p") } throws: { error in
        (error as? FerryError)?.code == code
      }
    }
    server.acceptLogin(user: "nancy")
    try await database.onlineLogin(user: "nancy", password: "p")
    try await database.synchronize()
    await server.stop()
  }

  @Test("A device's file is opened again as after a restart of the app, with what was pending")
  func reopened() async throws {
    let server = try await travel()
    var database = try await nancy(server)
    await server.setReachable(false)
    var made = try grace(in: database)
    database = try await server.reopen(database)
    #expect { try made.refresh() } throws: { ($0 as? FerryError)?.code == .closed }
    made = try #require(try Booking.getReplayPendingObjects(in: database).first)
    #expect(try made.passenger == "Grace" && database.isSubscribed)
    await server.setReachable(true)
    try await database.synchronize(awaitingAnswers: true)
    try made.refresh()
    #expect(!made.isPending && made.bookingID == 3)
    await server.stop()
  }

  @Test("A channel brings what others change without being asked")
  func channel() async throws {
    let server = try await travel()
    let database = try await nancy(server)
    let ada = try #require(try Booking.findAll(in: database).first)
    let imports = Imports()
    database.registerCallbackHandler(imports)
    database.startBackgroundSynchronization()
    try await server.change(ada, ["note": "aisle"])
    await imports.next()
    #expect(try Booking.findAll(in: database).map(\.note) == ["aisle"])
    // Who is stopped holds no lock, for which a system would end a suspended app.
    try await database.stopBackgroundSynchronization(within: .seconds(600))
    #expect(await !database.isBackground)
    let lock = try Connection(
      path: server.file(of: database) + "-session", busyTimeoutMilliseconds: 0)
    try lock.execute("BEGIN EXCLUSIVE")
    await server.stop()
  }

  @Test("A name or a value that the model does not know is told, and nothing is inserted")
  func unknownNames() async throws {
    let server = try await travel()
    await #expect(throws: FerryError.self) {
      try await server.insert(Carrier.self, ["carrierID": "AA", "name": "A", "curency": "USD"])
    }
    await #expect {
      try await server.insert(Carrier.self, ["carrierID": "AA", "name": "A"])
    } throws: { error in "\(error)".contains("currency") }
    await #expect { try await server.insert(Booking.self, ["seats": "two"]) } throws: { error in
      "\(error)".contains("Booking.seats cannot be")
    }
    await #expect {
      try await server.insert(Booking.self, booking(4, "A07", "Eve"), booking(5, "A99", "Eve"))
    } throws: { error in (error as? FerryError)?.code == .invalidReference }
    #expect(server.rows(of: Carrier.self).count == 1)
    #expect(server.rows(of: Booking.self).count == 2)
    await server.stop()
  }
}

/// Lets a test wait for the next import.
private final class Imports: CallbackHandler {
  private let (stream, told) = AsyncStream<Void>.makeStream()

  /// The first download is owed to a new handler too, and has only inserted.
  func onImport(_ changes: EntityChanges) { if changes.updated > 0 { told.yield() } }

  func next() async {
    for await _ in stream { return }
  }
}
