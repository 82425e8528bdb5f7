// A terminal program with what an app needs in its first week.
import Ferry
import Neighbours
import Travel

func start(path: String) async throws -> FerryDatabase {
  let database = try await Travel.open(at: path, server: "https://ferry.example.com")
  if await database.state.needsSignIn {
    try await database.signIn(user: "nancy", password: "secret")
  }
  return database
}

// A list that follows its data.
func list(in database: FerryDatabase) async throws {
  for try await bookings in Booking.live(
    orderBy: [.ascending(Booking.Attributes.passenger)], in: database)
  {
    for booking in bookings {
      print(booking.bookingID.map(String.init) ?? "new", booking.passenger)
    }
  }
}

// A form that saves; the change is sent by itself.
func book(_ passenger: String, in database: FerryDatabase) async throws -> Booking {
  try await Booking(passenger: passenger, in: database).save()
}

// A draft that waits.
func draft(_ passenger: String, in database: FerryDatabase) async throws {
  var draft = try await Booking(passenger: passenger, in: database).save(.later)
  draft.seats = 2
  draft = try await draft.save(.later)
  try await draft.submit()
}

// A refusal that is corrected, and a conflict.
func follow(_ database: FerryDatabase) async throws {
  for await event in database.events {
    guard case .refused(let reference, let refusal) = event,
      var booking = try await reference.as(Booking.self, in: database)
    else { continue }
    if refusal.conflict != nil {
      try await booking.cancel()  // take theirs; to keep mine, save again
    } else if refusal.attribute == "seats" {
      booking.seats = 1
      try await booking.save()
    }
  }
}

// Several changes as one.
func family(in database: FerryDatabase) async throws {
  try await database.transaction {
    for name in ["Ada", "Grace"] {
      var booking = Booking(passenger: name, in: database)
      try booking.save()
    }
  }
}

// Progress of the first import, and sign-out.
func progress(_ database: FerryDatabase) async {
  for await event in database.events {
    if case .downloading(let progress) = event { print(progress.rows, progress.fraction ?? 0) }
  }
}

func leave(_ database: FerryDatabase) async throws {
  do { try await database.signOut() } catch FerryError.pendingChanges(let details) {
    print(details.message)  // ask the user
    try await database.signOut(discardingPending: true)
  }
}

// A test.
func test(_ database: FerryDatabase) async throws {
  let booking = try await book("Ada", in: database)
  try await database.synchronize(awaitingAnswers: true)
  if case .refused(let refusal) = try await booking.outcome(within: .seconds(5)) {
    print(refusal.message)
  }
}
