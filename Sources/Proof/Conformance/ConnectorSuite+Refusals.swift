import FerryConnector
import FerryModel
import Synchronization

/// What the rules of an operation have decided.
private final class KeptDecisions: Sendable {
  private let kept = Mutex<[ConflictDecision]>([])

  var decisions: [ConflictDecision] { kept.withLock { $0 } }

  @Sendable func take(_ decisions: [ConflictDecision]) { kept.withLock { $0 = decisions } }
}

extension ConnectorSuite {
  static let refusals: [ConnectorCase] = [
    ConnectorCase("A change of what was changed meanwhile is refused with both values") { proof in
      try proof.stage.changeByOther(booking, ann, [3: .text("80")])
      let refusal = proof.refusal(
        of: proof.operation(
          .update, booking, ann, ["price": .text("120")], base: ["price": .text("99.95")]),
        code: 412)
      proof.equal(refusal?.attribute, "price", "attribute")
      proof.equal(refusal?.baseValue, .text("99.95"), "base value")
      proof.equal(refusal?.currentValue, .text("80"), "current value")
      for value in ["99.95", "80", "price"] {
        proof.expect(refusal?.message.contains(value) == true, "the message lacks \(value)")
      }
      proof.equal(try proof.value(booking, ann, "price"), .text("80"), "price")
    },
    ConnectorCase("A change of several attributes names each that was changed meanwhile") { proof in
      try proof.stage.changeByOther(
        booking, ann, [2: .text("Anna"), 3: .text("80"), 5: .boolean(false)])
      let refusal = proof.refusal(
        of: proof.operation(
          .update, booking, ann,
          ["price": .text("120"), "passenger": .text("Annette"), "flightID": .integer(17)],
          base: ["price": .text("99.95"), "passenger": .text("Ann"), "flightID": .integer(17)]),
        code: 412)
      proof.equal(refusal?.conflicts.map(\.attribute), ["passenger", "price"], "attributes")
      proof.equal(
        refusal?.conflicts.map(\.baseValue), [.text("Ann"), .text("99.95")], "base values")
      proof.equal(
        refusal?.conflicts.map(\.currentValue), [.text("Anna"), .text("80")], "current values")
      proof.equal(refusal?.attribute, "passenger", "the first attribute")
      for word in ["passenger", "Ann", "Anna", "price", "99.95", "80"] {
        proof.expect(refusal?.message.contains(word) == true, "the message lacks \(word)")
      }
    },
    ConnectorCase("Where the device wins, a change is written over that of somebody else") {
      proof in
      try proof.stage.changeByOther(booking, ann, [2: .text("Anna"), 3: .text("80")])
      var operation = proof.operation(
        .update, booking, ann, ["price": .text("120"), "passenger": .text("Annette")],
        base: ["price": .text("99.95"), "passenger": .text("Ann")])
      let kept = KeptDecisions()
      operation.conflictRules = ConflictRules([2: .deviceWins, 3: .deviceWins], note: kept.take)
      proof.equal(proof.perform(operation).0, [.accepted(key: ann)], "outcome")
      proof.equal(try proof.value(booking, ann, "price"), .text("120"), "price")
      proof.equal(try proof.value(booking, ann, "passenger"), .text("Annette"), "passenger")
      proof.equal(
        kept.decisions.map(\.conflict.currentValue), [.text("Anna"), .text("80")], "decisions")
    },
    ConnectorCase("Where the server wins, the rest of a change is made, or all of it is refused") {
      proof in
      try proof.stage.changeByOther(booking, ann, [2: .text("Anna")])
      var operation = proof.operation(
        .update, booking, ann, ["price": .text("120"), "passenger": .text("Annette")],
        base: ["price": .text("99.95"), "passenger": .text("Ann")])
      let kept = KeptDecisions()
      operation.conflictRules = ConflictRules([2: .serverWins, 3: .refuse], note: kept.take)
      let outcomes = proof.perform(operation).0
      let isMade = outcomes == [.accepted(key: ann)]
      if !isMade, case .refused(let refusal)? = outcomes.first {
        proof.equal(refusal.conflicts.map(\.attribute), ["passenger"], "conflicts")
      } else {
        proof.equal(outcomes, [.accepted(key: ann)], "outcome")
      }
      proof.equal(kept.decisions.map(\.rule), isMade ? [.serverWins] : [], "decisions")
      proof.equal(
        try proof.value(booking, ann, "price"), .text(isMade ? "120" : "99.95"), "price")
      proof.equal(try proof.value(booking, ann, "passenger"), .text("Anna"), "passenger")
    },
    ConnectorCase("One attribute without a rule refuses the whole change with every conflict") {
      proof in
      try proof.stage.changeByOther(booking, ann, [2: .text("Anna"), 3: .text("80")])
      var operation = proof.operation(
        .update, booking, ann, ["price": .text("120"), "passenger": .text("Annette")],
        base: ["price": .text("99.95"), "passenger": .text("Ann")])
      let kept = KeptDecisions()
      operation.conflictRules = ConflictRules([2: .deviceWins], note: kept.take)
      let refusal = proof.refusal(of: operation, code: 412)
      proof.equal(refusal?.conflicts.map(\.attribute), ["passenger", "price"], "conflicts")
      proof.equal(kept.decisions.count, 0, "decisions")
      proof.equal(try proof.value(booking, ann, "passenger"), .text("Anna"), "passenger")
    },
    ConnectorCase("A change of another attribute is no conflict") { proof in
      try proof.stage.changeByOther(booking, ann, [3: .text("80")])
      let (outcomes, touched) = proof.perform(
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]))
      proof.equal(outcomes, [.accepted(key: ann)], "outcome")
      proof.equal(touched.first?.values?[3], .text("80"), "the price touched")
    },
    ConnectorCase("A delete of what was changed meanwhile is refused with both values") { proof in
      try proof.stage.changeByOther(booking, ann, [2: .text("Anna")])
      let refusal = proof.refusal(
        of: proof.operation(.delete, booking, ann, base: annBase), code: 412)
      proof.equal(refusal?.attribute, "passenger", "attribute")
      proof.equal(refusal?.baseValue, .text("Ann"), "base value")
      proof.equal(refusal?.currentValue, .text("Anna"), "current value")
      proof.expect(try proof.row(booking, ann) != nil, "the row is gone")
    },
    ConnectorCase("A change of what is not there is refused with 404") { proof in
      let nobody = ObjectKey([.integer(99)])
      for kind in [OperationKind.update, .delete] {
        let refusal = proof.refusal(
          of: proof.operation(
            kind, booking, nobody, kind == .update ? ["passenger": .text("Zoe")] : [:],
            base: ["passenger": .text("Yan")]), code: 404)
        proof.expect(refusal?.message.contains("99") == true, "the message lacks the key")
      }
    },
    ConnectorCase("A create of a key that is taken is refused and names it") { proof in
      let refusal = proof.refusal(
        of: proof.operation(
          .create, carrier, ObjectKey([.text("LH")]),
          ["carrierID": .text("LH"), "name": .text("Other")]),
        code: 412)
      proof.expect(refusal?.message.contains("LH") == true, "the message lacks the key")
      proof.equal(
        try proof.value(carrier, ObjectKey([.text("LH")]), "name"), .text("Lufthansa"), "name")
    },
    ConnectorCase("A reference to nothing is refused and names attribute, value and table") {
      proof in
      let refusal = proof.refusal(
        of: proof.operation(
          .create, booking, nil, ["flightID": .integer(99), "passenger": .text("Cleo")]), code: 412)
      proof.equal(refusal?.attribute, "flightID", "attribute")
      proof.equal(refusal?.message, "flightID 99 does not exist in Flights.", "message")
      let update = proof.refusal(
        of: proof.operation(
          .update, flight, seventeen, ["carrierID": .text("XX")], base: ["carrierID": .text("LH")]),
        code: 412)
      proof.equal(update?.message, "carrierID \"XX\" does not exist in Carriers.", "message")
    },
    ConnectorCase("A delete of what others refer to is refused and names them") { proof in
      let refusal = proof.refusal(
        of: proof.operation(.delete, carrier, ObjectKey([.text("LH")])), code: 412)
      proof.equal(
        refusal?.message, "Carrier \"LH\" is still needed: 2 rows of Flights refer to it.",
        "message")
    },
    ConnectorCase("A required attribute without a value is refused and named") { proof in
      let refusal = proof.refusal(
        of: proof.operation(
          .update, booking, ann, ["passenger": .null], base: ["passenger": .text("Ann")]), code: 412
      )
      proof.equal(refusal?.attribute, "passenger", "attribute")
      proof.equal(refusal?.message, "passenger must have a value.", "message")
    },
    ConnectorCase("A rule of the business refuses in its own words") { proof in
      let refusal = proof.refusal(
        of: proof.operation(
          .create, booking, nil, ["flightID": .integer(18), "passenger": .text("Cleo")]), code: 412)
      proof.equal(refusal?.message, noSeat(flight: "18"), "message")
      proof.equal(try proof.loaded()["Booking"]?.count, 2, "number of bookings")
    },
    ConnectorCase("A refusal in a group undoes the group, or stops it where there is no whole") {
      proof in
      let group = [
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]),
        proof.operation(
          .create, booking, nil, ["flightID": .integer(18), "passenger": .text("Cleo")]),
        proof.operation(
          .update, booking, ann, ["price": .text("1")], base: ["price": .text("99.95")]),
      ]
      let (outcomes, touched) = proof.perform(group[0], group[1], group[2])
      guard outcomes.count == 3, case .refused = outcomes[1] else {
        return proof.expect(false, "the second was not refused: \(outcomes)")
      }
      proof.equal(outcomes[2], .notTried, "the third")
      let whole = proof.stage.isTransactional
      proof.equal(outcomes[0], whole ? .notTried : .accepted(key: ann), "the first")
      proof.equal(touched.count, whole ? 0 : 1, "touched rows")
      proof.equal(
        try proof.value(booking, ann, "passenger"), .text(whole ? "Ann" : "Anna"), "passenger")
      proof.equal(try proof.value(booking, ann, "price"), .text("99.95"), "price")
    },
  ]
}
