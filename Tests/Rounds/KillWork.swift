import FerryFlights
import FerryModel
import FerryStage

/// What two people and somebody at the business do in a round, decided by dice.
struct KillWork {
  let round: Int
  let agencies: [String: [String]]
  /// Bookings that each device sees and may change, and some that nobody may change.
  let open: [String: [Int64]]
  let closed: [String: [Int64]]
  let flights: [Int64]
  let closedFlights: [Int64]

  enum Action {
    case create(flight: Int64, agency: String, submit: Bool)
    case note(Int64)
    case passenger(Int64)
    case delete(Int64)
    /// Something that was touched in this round.
    case noteOwn, cancelOwn, submitOwn
    case submitAll
    case outside
  }

  init(_ round: Int, _ agencies: [String: [String]], _ connection: BusinessConnection) throws {
    self.round = round
    self.agencies = agencies
    flights = try KillWork.numbers(
      #"SELECT "FlightID" FROM "Flights" WHERE "Status" = 'planned' AND "SeatsLeft" > 9 ORDER BY 1"#,
      connection)
    closedFlights = try KillWork.numbers(
      #"SELECT "FlightID" FROM "Flights" WHERE "Status" <> 'planned' ORDER BY 1"#, connection)
    var open: [String: [Int64]] = [:]
    var closed: [String: [Int64]] = [:]
    for (device, agencies) in agencies {
      let list = agencies.map { "'\($0)'" }.joined(separator: ", ")
      let own =
        #"SELECT "BookingID" FROM "Bookings" JOIN "Flights" USING ("FlightID") "#
        + #"WHERE "AgencyID" IN (\#(list))"#
      open[device] = try KillWork.numbers(
        #"\#(own) AND "Status" = 'planned' ORDER BY 1"#, connection)
      closed[device] = try KillWork.numbers(
        #"\#(own) AND "Status" = 'departed' ORDER BY 1"#, connection)
    }
    self.open = open
    self.closed = closed
  }

  /// The business clears old bookings away before its flights are full.
  static func makeRoom(_ connection: BusinessConnection) throws {
    let free = try numbers(
      #"SELECT "FlightID" FROM "Flights" WHERE "Status" = 'planned' AND "SeatsLeft" > 9 ORDER BY 1"#,
      connection)
    guard free.count < 15 else { return }
    try connection.execute(
      """
      DELETE FROM "Bookings" WHERE "BookingID" IN (
        SELECT "BookingID" FROM "Bookings" JOIN "Flights" USING ("FlightID")
        WHERE "Status" = 'planned' ORDER BY "BookingID" LIMIT 800)
      """)
  }

  private static func numbers(_ sql: String, _ connection: BusinessConnection) throws -> [Int64] {
    try connection.integers(sql).compactMap(\.first)
  }

  func next(_ device: String, _ dice: inout Dice) -> Action {
    let agencies = agencies[device] ?? []
    switch dice.below(100) {
    case ..<38:
      let list = dice.below(8) == 0 ? closedFlights : flights
      return .create(
        flight: list[dice.below(list.count)], agency: agencies[dice.below(agencies.count)],
        submit: dice.below(2) == 0)
    case ..<56: return pick(open[device], &dice).map(Action.note) ?? .outside
    case ..<61: return pick(closed[device], &dice).map(Action.passenger) ?? .outside
    case ..<65: return pick(open[device], &dice).map(Action.delete) ?? .outside
    case ..<76: return .noteOwn
    case ..<80: return .cancelOwn
    case ..<88: return .submitOwn
    case ..<94: return .submitAll
    default: return .outside
    }
  }

  private func pick(_ list: [Int64]?, _ dice: inout Dice) -> Int64? {
    guard let list, !list.isEmpty else { return nil }
    return list[dice.below(list.count)]
  }
}
