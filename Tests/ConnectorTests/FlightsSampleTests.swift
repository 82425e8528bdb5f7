import FerryConnector
import FerryFlights
import FerryModel
import FerrySQLConnector
import FerrySQLite
import Testing

@Suite("The sample business of flights")
struct FlightsSampleTests {
  let flight: Entity = Entity(
    name: "Flight", table: "Flights",
    attributes: [
      Attribute(name: "flightID", column: "FlightID", type: .long, isNullable: false),
      Attribute(name: "seatsLeft", column: "SeatsLeft", type: .int, isNullable: false),
      Attribute(name: "price", column: "Price", type: .decimal, isNullable: false),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "all")

  let booking: Entity = Entity(
    name: "Booking", table: "Bookings",
    attributes: [
      Attribute(name: "bookingID", column: "BookingID", type: .long, isNullable: false),
      Attribute(name: "agencyID", column: "AgencyID", type: .string, isNullable: false),
      Attribute(name: "flightID", column: "FlightID", type: .long, isNullable: false),
      Attribute(name: "passenger", column: "Passenger", type: .string, isNullable: false),
      Attribute(name: "seats", column: "Seats", type: .int, isNullable: false),
      Attribute(name: "price", column: "Price", type: .decimal, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: Set(OperationKind.allCases), partition: nil, group: "all")

  @Test("The same seed gives the same rows, another seed gives others")
  func seeded() throws {
    let folder = try TemporaryFolder()
    func text(_ name: String, _ seed: UInt64) throws -> [[SQLiteValue]] {
      try FlightsSample.write(to: folder.path(name), seed: seed, bookings: 500)
      let connection = try Connection(path: folder.path(name))
      return try connection.rows("SELECT * FROM Bookings JOIN Flights USING (FlightID)")
    }
    let first = try text("a", 1)
    #expect(first.count == 500)
    #expect(try text("b", 1) == first)
    #expect(try text("c", 2) != first)
  }

  @Test("A booking takes seats and gets a price; full, departed and unknown flights refuse it")
  func rules() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("flights.db")
    try FlightsSample.write(to: path, seed: 7, bookings: 2_000)
    let other = try Connection(path: path)
    let connector = SQLiteConnector(path: path, package: Business.package([flight, booking]))
    #expect(try connector.mismatches(with: Business.package([flight])) == [])
    var number = 10
    func book(_ condition: String) throws -> (PerformResult, AttributeValue, Int64) {
      let row = try other.row("SELECT FlightID, SeatsLeft FROM Flights WHERE \(condition) LIMIT 1")
      let id = AttributeValue.integer(row?[0].integer ?? 99_999)
      number += 1
      let create = ConnectorOperation(
        id: OperationID(String(repeating: "b", count: 30) + String(number))!, entity: booking,
        kind: .create, key: nil,
        changed: [1: .text("AG-01"), 2: id, 3: .text("Zoë"), 4: .integer(2)], base: [:])
      return (connector.perform([create]), id, row?[1].integer ?? 0)
    }
    let (booked, id, left) = try book("Status = 'planned' AND SeatsLeft > 5")
    guard case .done(let outcomes, let touched) = booked, case .accepted? = outcomes.first else {
      Issue.record("not accepted: \(booked)")
      return
    }
    #expect(touched.first { $0.entity == "Flight" }?.key == ObjectKey([id]))
    #expect(touched.first { $0.entity == "Flight" }?.values?[1] == .integer(left - 2))
    #expect(touched.first { $0.entity == "Booking" }?.values?[5].isNull == false)
    for (condition, words) in [
      ("Status = 'planned' AND SeatsLeft = 0", "This flight has not enough seats left"),
      ("Status = 'departed'", "This flight has departed or was cancelled and takes no booking"),
      ("Status = 'cancelled'", "This flight has departed or was cancelled and takes no booking"),
      ("Status = 'lost'", "flightID 99999 does not exist in Flights."),
    ] {
      guard case .done(let outcomes, _) = try book(condition).0,
        case .refused(let refusal)? = outcomes.first
      else {
        Issue.record("not refused: \(condition)")
        continue
      }
      #expect(refusal.message == words)
    }
  }
}
