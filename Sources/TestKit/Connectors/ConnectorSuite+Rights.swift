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
      let stand: Key = Key([.integer(-5)])
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
  ]

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
