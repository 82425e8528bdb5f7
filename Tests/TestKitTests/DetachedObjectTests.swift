import Ferry
import FerryTestKit
import FerryTravel
import Testing

@Suite("Objects made without a database", .timeLimit(.minutes(60)))
struct DetachedObjectTests {
  private typealias Customer = Trade.Customer

  private func customer(_ name: String) -> Customer {
    var customer = Customer(record: ObjectRecord(Customer.entity))
    customer.name = name
    return customer
  }

  private var booking: Booking {
    Booking(agencyID: "A07", flightID: 318, passenger: "Ada", cabin: .first, seats: 1)
  }

  @Test("A generated type is a value: it is made, changed, compared and shown without a database")
  func value() {
    var (one, other) = (booking, booking)
    #expect(one == other && Set([one, other]).count == 1 && one.id != other.id)
    #expect(one.isNew && !one.isDirty && !one.isPending && one.surrogateKey == nil)
    other.seats = 2
    #expect(one != other && one.seats == 1 && other.seats == 2)
    one.copyAll(from: other)
    #expect(one == other)
    #expect(
      one.debugDescription.contains("passenger: \"Ada\"") && one.debugDescription.hasSuffix(" new"))
  }

  @Test("Saved with &, it becomes an object of that database, with the key that it gets there")
  func saved() async throws {
    let database = FerryDatabase.preview(Travel.package)
    var booking = booking
    try database.save(&booking, submitting: .later)
    #expect(!booking.isNew && booking.isCreated && booking.surrogateKey != nil)
    let found = try #require(try await Booking.find(in: database).first)
    #expect(found == booking && found.bookingID == booking.bookingID)
    booking.seats = 3
    try database.save(&booking, submitting: .later)
    #expect(try await Booking.find(in: database).map(\.seats) == [3])
    await database.close()
  }

  @Test("Copies that are saved one after the other are one object")
  func copies() async throws {
    let database = FerryDatabase.preview(Travel.package)
    let draft = booking
    let saved = try await database.save(draft, submitting: .later)
    #expect(draft.isNew && saved.isCreated)
    var other = draft
    other.passenger = "Grace"
    try await database.save(other, submitting: .later)
    #expect(try await Booking.find(in: database).map(\.passenger) == ["Grace"])
    #expect(try await database.refresh(draft).passenger == "Grace")
    #expect(try await database.cancel(draft) == nil)
    #expect(try await Booking.count(in: database) == 0)
    await database.close()
  }

  @Test("One value saved in two databases is an object of each")
  func twoDatabases() async throws {
    let (one, two) = (
      FerryDatabase.preview(Travel.package), FerryDatabase.preview(Travel.package)
    )
    let draft = booking
    try await one.save(draft, submitting: .later)
    let saved = try await two.save(draft, submitting: .later)
    for database in [one, two] { #expect(try await Booking.count(in: database) == 1) }
    let error = await #expect(throws: FerryError.self) { try await one.save(saved) }
    #expect(error?.code == .wrongState)
    for database in [one, two] { await database.close() }
  }

  @Test("A transaction that is undone makes it new again")
  func undone() async throws {
    let database = FerryDatabase.preview(Travel.package)
    var booking = booking
    try undone(&booking, in: database)
    #expect(booking.isNew)
    #expect(try await Booking.count(in: database) == 0)
    try database.save(&booking, submitting: .later)
    #expect(try await Booking.count(in: database) == 1)
    #expect(!booking.isNew)
    await database.close()
  }

  private func undone(_ booking: inout Booking, in database: FerryDatabase) throws(FerryError) {
    try database.transaction { () throws(FerryError) in
      try database.save(&booking, submitting: .later)
      try database.rollback()
    }
  }

  @Test("What needs a database says so, and how to give one")
  func errors() async throws {
    var detached = booking
    let saving = #expect(throws: FerryError.self) { try detached.save() }
    #expect(saving?.code == .wrongState && saving?.hint.contains("database.save") == true)
    let reading = await #expect(throws: FerryError.self) { try await detached.flight() }
    #expect(reading?.code == .wrongState && reading?.entity == "Booking")
    #expect(throws: FerryError.self) { try detached.createLogRecord(.warn, "late") }
    #expect(try detached.logRecords.isEmpty && detached.originalState == nil)
    #expect(detached.isNew && detached == booking)
  }

  @Test("A package that has no such entity is named")
  func otherPackage() async throws {
    let database = FerryDatabase.preview(Travel.package)
    var customer = customer("Ada")
    let error = #expect(throws: FerryError.self) { try database.save(&customer) }
    #expect(error?.code == .wrongState && error?.message.contains("Travel") == true)
    #expect(customer == self.customer("Ada"))
    await database.close()
  }

  @Test("Saved by its database, it reaches the business system")
  func accepted() async throws {
    let server = try await Trade.server()
    let database = try await server.database(user: "nancy")
    let draft = customer("Ben")
    try await database.save(draft)
    guard
      case .accepted(let accepted?) = try await database.outcome(of: draft, within: .seconds(600))
    else {
      Issue.record("not accepted")
      return
    }
    #expect(accepted.name == "Ben" && !accepted.isPending)
    await server.stop()
  }
}
