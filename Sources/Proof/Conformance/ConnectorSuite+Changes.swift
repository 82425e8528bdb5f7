import FerryConnector
import FerryModel

extension ConnectorSuite {
  static let changes: [ConnectorCase] = [
    ConnectorCase("A create gets its key from the business system") { proof in
      let (outcomes, touched) = proof.perform(
        proof.operation(
          .create, booking, nil,
          [
            "flightID": .integer(17), "passenger": .text("Cleo"), "price": .text("0.1"),
            "bookedAt": .text("2026-02-28T23:59:59"), "isPaid": .boolean(false),
          ]))
      let key = proof.key(outcomes.first)
      proof.expect(key != ann, "the key of another booking was given: \(key)")
      let wanted: [AttributeValue] = [
        key.values(of: booking)?.first ?? .null, .integer(17), .text("Cleo"), .text("0.1"),
        .text("2026-02-28T23:59:59"), .boolean(false),
      ]
      proof.equal(try proof.row(booking, key), wanted, "the row read back")
      proof.expect(
        touched.contains(RowImage(entity: "Booking", key: key, values: wanted)),
        "the new row is not among the touched: \(touched)")
    },
    ConnectorCase("A create keeps the key that the app made") { proof in
      let key = ObjectKey([.text("BA")])
      let (outcomes, _) = proof.perform(
        proof.operation(
          .create, carrier, key, ["carrierID": .text("BA"), "name": .text("British Airways")]))
      proof.equal(outcomes, [.accepted(key: key)], "outcome")
      proof.equal(try proof.row(carrier, key), [.text("BA"), .text("British Airways")], "row")
    },
    ConnectorCase("An update changes its attributes and no other") { proof in
      let (outcomes, touched) = proof.perform(
        proof.operation(
          .update, booking, ann, ["price": .text("120"), "isPaid": .null],
          base: ["price": .text("99.95"), "isPaid": .boolean(true)]))
      proof.equal(outcomes, [.accepted(key: ann)], "outcome")
      let wanted: [AttributeValue] = [
        .integer(1), .integer(17), .text("Ann"), .text("120"), .text("2026-03-01T08:30:00"), .null,
      ]
      proof.equal(touched, [RowImage(entity: "Booking", key: ann, values: wanted)], "touched")
      proof.equal(try proof.row(booking, ann), wanted, "row")
    },
    ConnectorCase("A delete takes the row away") { proof in
      let (outcomes, touched) = proof.perform(
        proof.operation(.delete, booking, ann, base: annBase))
      proof.equal(outcomes, [.accepted(key: ann)], "outcome")
      proof.equal(touched, [RowImage(entity: "Booking", key: ann, values: nil)], "touched")
      proof.equal(try proof.row(booking, ann), nil, "row")
    },
    ConnectorCase("Slices of any size give each row of a load once") { proof in
      for count in 1...5 {
        for entity in package.entities {
          var rows: [RowImage] = []
          var place: [AttributeValue]?
          repeat {
            guard
              let slice = try proof.connector.slice(of: entity, after: place, count: count)
            else { return }
            proof.expect(slice.rows.count <= count, "a slice of \(slice.rows.count) rows")
            rows += slice.rows
            place = slice.next
          } while place != nil && rows.count < 10
          let loaded = try proof.loaded()[entity.name] ?? []
          proof.equal(
            rows.sorted { $0.key.text < $1.key.text }, loaded.sorted { $0.key.text < $1.key.text },
            "rows of \(entity.name) in slices of \(count)")
        }
      }
    },
    ConnectorCase("Rows changed by a rule of the business are touched") { proof in
      let (_, touched) = proof.perform(
        proof.operation(
          .create, booking, nil, ["flightID": .integer(17), "passenger": .text("Cleo")]))
      let wanted = RowImage(
        entity: "Flight", key: seventeen, values: [.integer(17), .text("LH"), .integer(1)])
      proof.expect(touched.contains(wanted), "the flight is not as it is now: \(touched)")
      proof.equal(touched.count, 2, "number of touched rows")
    },
    ConnectorCase("A group is performed in order and each row is touched once, as it is last") {
      proof in
      let (outcomes, touched) = proof.perform(
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]),
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anne")], base: ["passenger": .text("Anna")]))
      proof.equal(outcomes, [.accepted(key: ann), .accepted(key: ann)], "outcomes")
      proof.equal(touched.map(\.key), [ann], "touched keys")
      proof.equal(touched.first?.values?[2], .text("Anne"), "the passenger touched")
    },
    ConnectorCase("Groups given together are accepted or refused each by itself, in their order") {
      proof in
      func book(_ flight: Int64, _ passenger: String) -> ConnectorOperation {
        proof.operation(
          .create, booking, nil, ["flightID": .integer(flight), "passenger": .text(passenger)])
      }
      let groups = [
        [book(17, "Cleo")], [book(18, "Dora")],
        [
          proof.operation(
            .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]),
          book(18, "Emil"),
        ],
        [book(17, "Fred"), book(17, "Gina")], [book(17, "Hans")], [book(17, "Ida")],
      ]
      var results: [PerformResult] = []
      while results.count < groups.count {
        let more = proof.connector.perform(Array(groups.dropFirst(results.count))) { true }
        guard !more.isEmpty else { return proof.expect(false, "no group was performed") }
        results += more
      }
      proof.equal(results.count, groups.count, "number of results")
      let whole = proof.stage.isTransactional
      let seats = results.map { result -> AttributeValue? in
        guard case .done(let outcomes, let touched) = result else { return .text("\(result)") }
        if case .accepted? = outcomes.last {
          return touched.first { $0.entity == "Flight" }?.values?[2]
        }
        return nil
      }
      let wanted: [AttributeValue?] =
        whole
        ? [.integer(1), nil, nil, nil, .integer(0), nil]
        : [.integer(1), nil, nil, nil, nil, nil]
      proof.equal(seats, wanted, "seats left after each group that was accepted")
      proof.equal(try proof.value(flight, seventeen, "seatsLeft"), .integer(0), "seats left")
      proof.equal(
        try proof.value(booking, ann, "passenger"), .text(whole ? "Ann" : "Anna"), "passenger")
    },
    ConnectorCase("A key given inside a group is put into the later operations") { proof in
      let temporary = ObjectKey([.integer(2_000_000_000)])
      let (outcomes, _) = proof.perform(
        proof.operation(
          .create, flight, nil, ["carrierID": .text("AZ"), "seatsLeft": .integer(9)],
          temporaryKey: temporary),
        proof.operation(
          .create, booking, nil,
          ["flightID": .integer(2_000_000_000), "passenger": .text("Cleo")]),
        proof.operation(
          .update, flight, temporary, ["seatsLeft": .integer(5)], base: ["carrierID": .text("AZ")]))
      let made = proof.key(outcomes.first)
      let child = proof.key(outcomes.dropFirst().first)
      proof.expect(made != temporary, "the temporary key stayed")
      proof.equal(outcomes.last, .accepted(key: made), "the update of the new flight")
      proof.equal(
        try proof.value(booking, child, "flightID"), made.values(of: flight)?.first, "flight")
      proof.equal(try proof.value(flight, made, "seatsLeft"), .integer(5), "seats")
    },
  ]

  static let annBase: [String: AttributeValue] = [
    "bookingID": .integer(1), "flightID": .integer(17), "passenger": .text("Ann"),
    "price": .text("99.95"), "bookedAt": .text("2026-03-01T08:30:00"), "isPaid": .boolean(true),
  ]
}
