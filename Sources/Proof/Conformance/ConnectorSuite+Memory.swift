import FerryConnector
import FerryModel

extension ConnectorSuite {
  static let memory: [ConnectorCase] = [
    ConnectorCase("An operation performed twice has one effect and the same answer") { proof in
      guard proof.stage.remembersOperations else { return }
      let create = proof.operation(
        .create, booking, nil, ["flightID": .integer(17), "passenger": .text("Cleo")])
      let first = proof.perform(create)
      let second = proof.perform(create)
      let repeated = [
        OperationOutcome.accepted(key: proof.key(first.outcomes.first), isRepeated: true)
      ]
      proof.equal(second.outcomes, repeated, "the second answer")
      proof.equal(second.touched.map(\.key), [proof.key(first.outcomes.first)], "own row")
      try proof.restart()
      proof.equal(proof.perform(create).outcomes, repeated, "the answer after a restart")
      proof.equal(try proof.loaded()["Booking"]?.count, 3, "number of bookings")
      proof.equal(try proof.value(flight, seventeen, "seatsLeft"), .integer(1), "seats left")
    },
    ConnectorCase("An operation with the id of another is refused") { proof in
      guard proof.stage.remembersOperations else { return }
      let first = proof.operation(
        .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")])
      let other = ConnectorOperation(
        id: first.id, entity: booking, kind: .update, key: ann, changed: [2: .text("Anne")],
        base: [2: .text("Anna")])
      _ = proof.perform(first)
      _ = proof.refusal(of: other, code: 422)
      proof.equal(try proof.value(booking, ann, "passenger"), .text("Anna"), "passenger")
    },
    ConnectorCase("What was performed is recalled after a restart, what was refused is not") {
      proof in
      guard proof.stage.remembersOperations else { return }
      let create = proof.operation(
        .create, booking, nil, ["flightID": .integer(17), "passenger": .text("Cleo")])
      let refused = proof.operation(
        .create, booking, nil, ["flightID": .integer(18), "passenger": .text("Cleo")])
      let never = proof.operation(.delete, booking, ann, base: annBase)
      proof.equal(
        try proof.connector.recall([create, refused]), [.notPerformed, .notPerformed],
        "before anything was performed")
      let (outcomes, _) = proof.perform(create)
      _ = proof.perform(refused)
      try proof.restart()
      let recalled = try proof.connector.recall([refused, create, never])
      proof.equal(
        recalled, [.notPerformed, Recall(recorded: outcomes.first), .notPerformed], "recalled")
    },
    ConnectorCase("A refused operation may be tried again under its id") { proof in
      let create = proof.operation(
        .create, booking, nil, ["flightID": .integer(18), "passenger": .text("Cleo")])
      _ = proof.refusal(of: create, code: 412)
      try proof.stage.changeByOther(flight, eighteen, [2: .integer(1)])
      _ = proof.key(proof.perform(create).outcomes.first)
    },
    ConnectorCase("Recall says that it cannot tell where nothing is remembered") { proof in
      guard !proof.stage.remembersOperations else { return }
      do throws(ConnectorError) {
        let recalled = try proof.connector.recall([
          proof.operation(.delete, booking, ann, base: annBase)
        ])
        guard case .cannotTell = recalled.first else {
          return proof.expect(false, "answered \(recalled)")
        }
      } catch {
        proof.expect(!error.hint.isEmpty, "no hint")
      }
    },
  ]

  static let looking: [ConnectorCase] = [
    ConnectorCase("A load gives each row once, canonical, and nothing else") { proof in
      let loaded = try proof.loaded()
      for (entity, rows) in rows {
        let wanted = rows.map {
          RowImage(entity: entity.name, key: entity.key(of: $0), values: $0)
        }
        let found = (loaded[entity.name] ?? []).sorted { $0.key.text < $1.key.text }
        proof.equal(found, wanted, "rows of \(entity.name)")
      }
    },
    ConnectorCase("A load is one snapshot, whatever others do meanwhile") { proof in
      guard proof.connector.abilities(of: booking).snapshots else { return }
      let loaded = try proof.loaded {
        try proof.stage.changeByOther(booking, ann, [2: .text("Anna")])
      }
      let row = loaded["Booking"]?.first { $0.key == ann }
      proof.equal(row?.values?[2], .text("Ann"), "the passenger of the snapshot")
      proof.equal(try proof.value(booking, ann, "passenger"), .text("Anna"), "passenger now")
    },
    ConnectorCase("Read gives rows in the order of the keys, and nothing for what is not there") {
      proof in
      let keys = [ObjectKey([.text("LH")]), ObjectKey([.text("XX")]), ObjectKey([.text("AZ")])]
      let images = try proof.connector.read(carrier, keys: keys)
      proof.equal(images.map(\.key), keys, "keys")
      proof.equal(
        images.map { $0.values?[1] }, [.text("Lufthansa"), nil, .text("Alitalia")], "names")
    },
    ConnectorCase("Changes by others are noticed, own ones are not") { proof in
      proof.expect(try proof.connector.changedByOthers(), "not true the first time")
      proof.expect(try !proof.connector.changedByOthers(), "true though nothing happened")
      _ = proof.perform(
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]))
      _ = try proof.loaded()
      proof.expect(try !proof.connector.changedByOthers(), "its own change was taken for another's")
      try proof.stage.changeByOther(booking, ann, [2: .text("Anne")])
      proof.expect(try proof.connector.changedByOthers(), "a change by another was missed")
      proof.expect(try !proof.connector.changedByOthers(), "the same change was told twice")
    },
    ConnectorCase("The model fits the business system it was made for") { proof in
      proof.equal(try proof.connector.mismatches(with: proof.stage.package), [], "mismatches")
    },
  ]
}
