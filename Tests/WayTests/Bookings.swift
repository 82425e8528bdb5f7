import Testing

extension Phone {
  /// Makes bookings `Passenger 3`, `Passenger 4`, … of the first agency, on flights with seats left.
  func book(_ numbers: Range<Int>, _ business: Business) async throws {
    let flights = try business.connection().rows(
      "SELECT FlightID FROM Flights WHERE Status = 'planned' AND SeatsLeft > 20"
    ).compactMap { $0[0].integer }
    try #require(flights.count > 3)
    for number in numbers {
      _ = try await create(
        "Bookings",
        """
        {"agencyID":"AG-01","flightID":\(flights[number % flights.count]),\
        "passenger":"Passenger \(number)","cabin":"economy","seats":1}
        """)
    }
  }
}

extension Business {
  /// How many of them are there.
  func booked() throws -> Int64 {
    try value("SELECT count(*) FROM Bookings WHERE Passenger LIKE 'Passenger %'")
  }

  /// So many are there, and none twice.
  func expectOnce(_ count: Int) throws {
    let each = try connection().row(
      """
      SELECT count(*), count(DISTINCT Passenger) FROM Bookings
      WHERE Passenger LIKE 'Passenger %'
      """)
    #expect(each?.compactMap(\.integer) == [Int64(count), Int64(count)])
  }
}
