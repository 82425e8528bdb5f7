import FerrySQLite

/// The sample business: travel agencies that book seats on flights, made from a seed.
///
/// The same seed and number of rows give the same rows. "Today" is 2026-03-01: flights before it
/// have departed. Every fiftieth flight to come is full, every fortieth is cancelled.
public enum FlightsSample {
  public static let today: String = "2026-03-01"
  private static let dayOfToday: Int = 56

  /// The tables, indexes and rules.
  public static var schema: String { String(decoding: PackageResources.schema_sql, as: UTF8.self) }

  /// The tables and indexes for PostgreSQL, with the names of `schema`.
  public static var postgreSQLTables: String {
    String(decoding: PackageResources.postgresql_tables_sql, as: UTF8.self)
  }

  /// The rules for PostgreSQL, to be made when the rows are there.
  public static var postgreSQLRules: String {
    String(decoding: PackageResources.postgresql_rules_sql, as: UTF8.self)
  }

  /// Writes a new database with `bookings` bookings on a tenth as many flights.
  public static func write(
    to path: String, seed: UInt64, bookings: Int = 20_000
  )
    throws(SQLiteError)
  {
    let connection = try Connection(path: path)
    try connection.execute("PRAGMA foreign_keys = ON")
    try connection.transaction { () throws(SQLiteError) in
      try connection.execute(schema)
      var dice = Dice(state: seed)
      try writeAgencies(connection)
      try writeCarriers(connection)
      let seats = try writeFlights(max(20, bookings / 10), &dice, connection)
      try writeBookings(bookings, seats, &dice, connection)
      try close(connection)
    }
  }

  private static func writeAgencies(_ connection: Connection) throws(SQLiteError) {
    for (index, agency) in SampleNames.agencies.enumerated() {
      try connection.run(
        "INSERT INTO Agencies VALUES (?, ?, ?, ?, ?, ?)", .text(agency.id), .text(agency.name),
        .text("\(SampleNames.streets[index % SampleNames.streets.count]) \(index + 3)"),
        .text(agency.city), .text(agency.country), .text("+\(30 + index) 555 0\(100 + index)"))
    }
  }

  private static func writeCarriers(_ connection: Connection) throws(SQLiteError) {
    for carrier in SampleNames.carriers {
      try connection.run(
        "INSERT INTO Carriers VALUES (?, ?, ?, ?)", .text(carrier.id), .text(carrier.name),
        .text(carrier.currency), .text("https://\(carrier.id.lowercased()).example"))
    }
  }

  /// The seats of each flight, by flight id from 1.
  private static func writeFlights(
    _ count: Int, _ dice: inout Dice, _ connection: Connection
  ) throws(SQLiteError) -> [Int] {
    var seats: [Int] = []
    for index in 0..<count {
      let carrier = SampleNames.carriers[index % SampleNames.carriers.count]
      // Each of a carrier's seven numbers flies once in ten days, a third of them in the past:
      // carrier, number and day are never the same twice.
      let turn = index / SampleNames.carriers.count
      let number = 400 + turn % 7 * 2
      let decade = turn / 7
      let day =
        dayOfToday + ((index + turn) % 3 == 0 ? -10 * (decade + 1) : 10 * decade) + dice.below(10)
      let origin = dice.below(SampleNames.airports.count)
      let step = 1 + dice.below(SampleNames.airports.count - 1)
      let destination = (origin + step) % SampleNames.airports.count
      let places = 40 + dice.below(18) * 10
      seats.append(places)
      try connection.run(
        """
        INSERT INTO Flights (FlightID, CarrierID, Number, FlightDate, Departure, Origin,
          Destination, Price, Seats, SeatsLeft) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          .integer(Int64(index + 1)), .text(carrier.id), .integer(Int64(number)),
          .text(date(day)), .text(time(300 + dice.below(200) * 5)),
          .text(SampleNames.airports[origin]), .text(SampleNames.airports[destination]),
          .text(price(4_900 + dice.below(120_000))), .integer(Int64(places)),
          .integer(Int64(places)),
        ])
    }
    return seats
  }

  private static func writeBookings(
    _ count: Int, _ seats: [Int], _ dice: inout Dice, _ connection: Connection
  ) throws(SQLiteError) {
    var left = seats
    let cabins = ["economy", "economy", "economy", "business", "first"]
    for index in 0..<count {
      var flight = dice.below(left.count)
      let wanted = 1 + dice.below(10) / 6
      var looked = 0
      while left[flight] < wanted, looked < left.count {
        flight = (flight + 1) % left.count
        looked += 1
      }
      // More bookings than seats were asked for: the sample ends full rather than wrong.
      guard left[flight] >= wanted else { return }
      left[flight] -= wanted
      let agency = SampleNames.agencies[dice.below(SampleNames.agencies.count)]
      let passenger =
        "\(SampleNames.first[dice.below(SampleNames.first.count)]) "
        + SampleNames.last[dice.below(SampleNames.last.count)]
      let note: String? =
        dice.below(8) == 0 ? SampleNames.notes[dice.below(SampleNames.notes.count)] : nil
      try connection.run(
        """
        INSERT INTO Bookings (AgencyID, FlightID, Passenger, Cabin, Seats, BookedAt, Note)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        [
          .text(agency.id), .integer(Int64(flight + 1)), .text(passenger),
          .text(cabins[dice.below(cabins.count)]), .integer(Int64(wanted)),
          .text("\(date(-200 + index * 90 / max(1, count))) \(time(480 + dice.below(600))):00"),
          .optional(note),
        ])
    }
  }

  /// What time has done: flights that left, were cancelled or are full.
  private static func close(_ connection: Connection) throws(SQLiteError) {
    try connection.run("UPDATE Flights SET Status = 'departed' WHERE FlightDate < ?", .text(today))
    try connection.execute(
      """
      UPDATE Flights SET Seats = Seats - SeatsLeft, SeatsLeft = 0
      WHERE Status = 'planned' AND FlightID % 50 = 2 AND SeatsLeft < Seats;
      UPDATE Flights SET Status = 'cancelled' WHERE Status = 'planned' AND FlightID % 40 = 8;
      """)
  }

  /// Days after 2026-01-01, or before; every month has at least 28 days, so days 1 to 28 are used.
  private static func date(_ day: Int) -> String {
    let months = day >= 0 ? day / 28 : (day - 27) / 28
    let year = 2026 + (months >= 0 ? months / 12 : (months - 11) / 12)
    let month = months - (year - 2026) * 12 + 1
    return "\(year)-\(padded(month))-\(padded(day - months * 28 + 1))"
  }

  private static func time(_ minutes: Int) -> String {
    "\(padded(minutes / 60 % 24)):\(padded(minutes % 60))"
  }

  private static func price(_ cents: Int) -> String { "\(cents / 100).\(padded(cents % 100))" }

  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// SplitMix64: numbers that are the same on every machine and with every Swift.
package struct Dice: Sendable {
  var state: UInt64

  package init(state: UInt64) { self.state = state }

  /// 0 up to, not including, `limit`.
  package mutating func below(_ limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
  }
}
