import FerryModel
import FerryPostgreSQL
import FerryStage

/// The sample business: two people of one travel agency book seats on flights.
struct FlightsStory {
  private let stage: Stage
  private let database: BusinessDatabase
  private let rows: String
  static let agency = "AG-01"

  init(_ stage: Stage, _ database: BusinessDatabase, rows: String) {
    self.stage = stage
    self.database = database
    self.rows = rows
  }

  /// False when at the end something differs.
  func tell() throws -> Bool {
    let narrator = stage.narrator
    narrator.title("Ferry: an existing database goes offline")
    narrator.step("A business database, as someone has it: travel agencies, flights, bookings.")
    narrator.say(try database.makeSample(stage, rows: rows))

    narrator.step("ferry new makes a model of it; every agency gets its own bookings only.")
    let (package, _) = try stage.makeModel(
      of: database, ["--partition", "Bookings=AgencyID:claim:agency"])
    let names = package.entities.map(\.name).joined(separator: ", ")
    narrator.say("\(package.id): \(names)")

    if case .postgreSQL = database {
      narrator.step("ferry prepare makes what Ferry needs, in the schema ferry of the database.")
      narrator.say(try database.prepare(stage))
    }

    narrator.step("ferryd serves it. ada and bob work for the agency \(FlightsStory.agency).")
    try stage.writeUsers(["ada", "bob"], claims: #"{"agency":["\#(FlightsStory.agency)"]}"#)
    let time = try stage.startServer(database)
    narrator.say("The server listens at \(stage.address) after \(time.shown).")

    let scenes = Scenes(stage: stage, database: database, package: package)
    narrator.step("Two devices log in, subscribe and import.")
    let devices = try scenes.devices(["ada", "bob"])
    guard let bookings = package.entity(named: "Bookings") else {
      throw StageFailure("the model has no Bookings")
    }
    let plan = try FlightsPlan(database)
    try offline(scenes, devices, bookings, plan)

    narrator.step("Changes while everyone is online are pushed.")
    for note in ["Window, please", "Aisle, please", "Vegetarian"] {
      try scenes.push(
        from: devices[0], to: devices[1], bookings, plan.booking, "note", .text(note))
    }

    try changeByOthers(devices, plan)
    try refusal(scenes, devices, bookings, plan)

    narrator.step("Both devices change the same booking.")
    try scenes.conflict(
      devices, bookings, plan.contested, "passenger",
      [.text("Grace Hopper"), .text("Ada Lovelace")])

    narrator.step("Business database, server and both devices, row by row.")
    let comparison = Comparison(
      package: package, database: database, store: stage.path("data/server.sqlite"),
      devices: devices,
      isVisible: { _, entity, values in
        guard entity.name == "Bookings", let column = entity.position(of: "agencyID") else {
          return true
        }
        return values[column] == .text(FlightsStory.agency)
      })
    return try comparison.tell(narrator)
  }

  /// What a program that knows nothing of Ferry changes arrives at once: triggers note it.
  private func changeByOthers(_ devices: [Device], _ plan: FlightsPlan) throws {
    guard case .postgreSQL(let address) = database else { return }
    let narrator = stage.narrator
    narrator.step("Another program changes a booking in the database, with plain SQL.")
    let statement =
      "UPDATE \"Bookings\" SET \"Note\" = 'From the desk' WHERE \"BookingID\" = \(plan.booking)"
    let other = try PostgreSQLConnection(address)
    try other.execute(statement)
    let begin = ContinuousClock.now
    narrator.say(statement)
    for device in devices {
      try device.wait("Bookings", plan.booking, "the change of the desk") {
        $0["note"]?.plain == "From the desk"
      }
    }
    narrator.say("Both devices show it \(begin.duration(to: .now).shown) later.")
  }

  private func offline(
    _ scenes: Scenes, _ devices: [Device], _ bookings: Entity, _ plan: FlightsPlan
  ) throws {
    let narrator = stage.narrator
    let ada = devices[0]
    narrator.step("The server goes away.")
    try scenes.stopServer(devices)

    narrator.step("device A goes on without it: it changes a booking, makes a new one, submits.")
    try ada.update("Bookings", plan.booking, [("seats", .integer(2)), ("note", .text("Offline"))])
    let temporary = try ada.create("Bookings", plan.newBooking(on: plan.flight, "Alan Turing"))
    try ada.submit("Bookings", plan.booking)
    try ada.submit("Bookings", temporary)
    narrator.say("Booking \(plan.booking) now has 2 seats.")
    narrator.say("The new booking of Alan Turing has the temporary key \(temporary).")
    narrator.say("Both are submitted and wait on the device.")

    narrator.step("The server returns, and what waited is replayed.")
    try scenes.startServerAgain(devices)
    let begin = ContinuousClock.now
    var keys: [ObjectKey] = []
    for _ in 0..<2 { keys.append(try scenes.accepted(ada, "Bookings", "the replay")) }
    guard let created = keys.first(where: { $0 != plan.booking }) else {
      throw StageFailure("the new booking got no key")
    }
    let time = begin.duration(to: .now)
    let price = try ada.find("Bookings", created)?["price"]?.plain ?? "none"
    narrator.say("Both were accepted \(time.shown) later.")
    narrator.say("The new booking got the key \(created) from the database,")
    narrator.say("and the price \(price) from one of its triggers.")

    narrator.step("device B sees both without asking.")
    try devices[1].wait("Bookings", created, "the new booking") { _ in true }
    try devices[1].wait("Bookings", plan.booking, "the changed booking") {
      $0["seats"]?.integer == 2
    }
    narrator.say("Booking \(plan.booking) with 2 seats and booking \(created) are on device B.")
  }

  private func refusal(
    _ scenes: Scenes, _ devices: [Device], _ bookings: Entity, _ plan: FlightsPlan
  ) throws {
    let narrator = stage.narrator
    let ada = devices[0]
    narrator.step("A booking on a full flight is refused by a rule of the business database.")
    try ada.forgetEvents()
    let wish = try ada.create("Bookings", plan.newBooking(on: plan.fullFlight, "Emmy Noether"))
    try ada.submit("Bookings", wish)
    let records = try scenes.refused(ada, "Bookings", wish, "the booking on a full flight")
    narrator.say("Emmy Noether wants flight \(plan.fullFlight.plain): refused.")
    scenes.show(records)

    narrator.step("It is still on device A, is corrected there and submitted again.")
    try ada.update("Bookings", wish, [("flightID", plan.flight)])
    try ada.submit("Bookings", wish)
    let key = try scenes.accepted(ada, "Bookings", "the corrected booking")
    narrator.say("On flight \(plan.flight.plain) it is accepted, with the key \(key).")
    try devices[1].wait("Bookings", key, "the corrected booking") { _ in true }
    narrator.say("device B shows it, too.")
  }
}

/// Rows of the sample with which the story can be told.
struct FlightsPlan {
  let booking: ObjectKey
  let contested: ObjectKey
  let flight: AttributeValue
  let fullFlight: AttributeValue

  init(_ database: BusinessDatabase) throws {
    let business = try database.open()
    let own = try business.integers(
      """
      SELECT "BookingID", "FlightID" FROM "Bookings" JOIN "Flights" USING ("FlightID")
      WHERE "AgencyID" = '\(FlightsStory.agency)' AND "Status" = 'planned' AND "SeatsLeft" > 8
        AND "Bookings"."Seats" = 1
      ORDER BY "BookingID" LIMIT 2
      """)
    let full = try business.integers(
      """
      SELECT "FlightID" FROM "Flights" WHERE "Status" = 'planned' AND "SeatsLeft" = 0 LIMIT 1
      """)
    guard own.count == 2, let full = full.first?.first else {
      throw StageFailure("the sample is too small for the story; ask for more --rows")
    }
    booking = ObjectKey([.integer(own[0][0])])
    contested = ObjectKey([.integer(own[1][0])])
    flight = .integer(own[0][1])
    fullFlight = .integer(full)
  }

  func newBooking(on flight: AttributeValue, _ passenger: String) -> [(String, AttributeValue)] {
    [
      ("agencyID", .text(FlightsStory.agency)), ("flightID", flight),
      ("passenger", .text(passenger)), ("cabin", .text("business")), ("seats", .integer(2)),
    ]
  }
}
