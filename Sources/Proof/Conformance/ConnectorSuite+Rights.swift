import FerryConnector
import FerryModel

extension ConnectorSuite {
  /// Whose rows may be changed: here, by their flight's carrier.
  static let rights: [ConnectorCase] = [
    ConnectorCase("A row of somebody else is refused with 403 before its values are compared") {
      proof in
      for kind in [OperationKind.update, .delete] {
        let refusal = proof.refusal(
          of: proof.operation(
            kind, booking, ann, kind == .update ? ["passenger": .text("Eve")] : [:],
            base: ["passenger": .text("nobody")]
          ).judged(by: carrierJudge("AZ")), code: 403)
        proof.equal(refusal, .notTheUsers(booking), "it tells nothing of the row")
      }
      proof.equal(try proof.value(booking, ann, "passenger"), .text("Ann"), "passenger")
      let (outcomes, _) = proof.perform(
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]
        ).judged(by: carrierJudge("LH")))
      proof.equal(outcomes, [.accepted(key: ann)], "the owner's own")
    },
    ConnectorCase("The row is judged as it is now: it was somebody else's, or becomes theirs") {
      proof in
      try proof.stage.changeByOther(flight, seventeen, [1: .text("AZ")])
      _ = proof.refusal(
        of: proof.operation(
          .update, booking, ann, ["passenger": .text("Eve")], base: ["passenger": .text("Ann")]
        ).judged(by: carrierJudge("LH")), code: 403)
      let (outcomes, _) = proof.perform(
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]
        ).judged(by: carrierJudge("AZ")))
      proof.equal(outcomes, [.accepted(key: ann)], "who has it now")
      // The change itself would give it away.
      _ = proof.refusal(
        of: proof.operation(
          .update, flight, seventeen, ["carrierID": .text("LH")], base: ["carrierID": .text("AZ")]
        ).judged(by: carrierJudge("AZ")), code: 403)
      proof.equal(try proof.value(flight, seventeen, "carrierID"), .text("AZ"), "carrierID")
    },
    ConnectorCase("A new row is judged as it was made, with what its group made before it") {
      proof in
      let before = try proof.value(flight, seventeen, "seatsLeft")
      _ = proof.refusal(
        of: proof.operation(
          .create, booking, nil, ["flightID": .integer(17), "passenger": .text("Eve")]
        ).judged(by: carrierJudge("AZ")), code: 403)
      proof.equal(try proof.value(flight, seventeen, "seatsLeft"), before, "seats that it took")
      let stand: ObjectKey = ObjectKey([.integer(-5)])
      let (outcomes, _) = proof.perform(
        proof.operation(
          .create, flight, nil,
          ["flightID": .integer(-5), "carrierID": .text("AZ"), "seatsLeft": .integer(1)],
          temporaryKey: stand
        ).judged(by: carrierJudge("AZ")),
        proof.operation(
          .create, booking, nil, ["flightID": .integer(-5), "passenger": .text("Zoe")]
        ).judged(by: carrierJudge("AZ")))
      proof.equal(outcomes.count, 2, "outcomes")
      proof.expect(
        outcomes.allSatisfy { if case .accepted = $0 { true } else { false } },
        "a new booking of a new flight: \(outcomes)")
    },
    ConnectorCase("A reference to somebody else's object and one to none are refused alike") {
      proof in
      try proof.stage.changeByOther(flight, eighteen, [1: .text("AZ"), 2: .integer(5)])
      var said: [Refusal?] = []
      for number in [Int64(18), 999] {
        said.append(
          proof.refusal(
            of: proof.operation(
              .create, booking, nil, ["flightID": .integer(number), "passenger": .text("Eve")]
            ).judged(by: referenceJudge("LH")), code: 403))
        said.append(
          proof.refusal(
            of: proof.operation(
              .update, booking, ann, ["flightID": .integer(number)],
              base: ["flightID": .integer(3)]
            ).judged(by: referenceJudge("LH")), code: 403))
      }
      let expected: Refusal = .notTheUsers(booking.relationships[0], of: booking)
      proof.expect(said.allSatisfy { $0 == expected }, "\(said)")
      let (own, _) = proof.perform(
        proof.operation(
          .create, booking, nil, ["flightID": .integer(17), "passenger": .text("Zoe")]
        ).judged(by: referenceJudge("LH")))
      proof.expect(
        own.allSatisfy { if case .accepted = $0 { true } else { false } }, "the user's own: \(own)")
      // What it refers to already is not judged: it is not the user who made it so.
      let (kept, _) = proof.perform(
        proof.operation(
          .update, booking, ann, ["flightID": .integer(17), "passenger": .text("Anna")],
          base: ["passenger": .text("Ann")]
        ).judged(by: referenceJudge("AZ")))
      proof.equal(kept, [.accepted(key: ann)], "an unchanged reference")
    },
  ]

  /// The user may refer to the flights of one carrier; every row is theirs.
  private static func referenceJudge(_ carrier: String) -> @Sendable (Entity) -> RowJudge {
    return { entity in
      let flights = entity.relationships[0]
      return RowJudge(
        foreignReference: { changed, before, lookup throws(ConnectorError) in
          guard let flightID = changed[1], flightID != before?[1] else { return nil }
          return try lookup(flight, [0], [flightID])?[1] == .text(carrier) ? nil : flights
        },
        { _, _ in true })
    }
  }

  /// The user has the flights of one carrier, and the bookings of those.
  private static func carrierJudge(_ carrier: String) -> @Sendable (Entity) -> RowJudge {
    return { entity in
      RowJudge { row, lookup throws(ConnectorError) in
        if entity.name == flight.name { return row[1] == .text(carrier) }
        return try lookup(flight, [0], [row[1]])?[1] == .text(carrier)
      }
    }
  }
}

extension ConnectorOperation {
  fileprivate func judged(by judge: (Entity) -> RowJudge) -> ConnectorOperation {
    ConnectorOperation(
      id: id, entity: entity, kind: kind, key: key, changed: changed, base: base,
      temporaryKey: temporaryKey, contents: contents, judge: judge(entity))
  }
}
