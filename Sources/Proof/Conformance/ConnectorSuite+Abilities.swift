import FerryConnector
import FerryModel

/// What a connector says of itself, and that it is so: each ability, and its absence.
extension ConnectorSuite {
  static let abilities: [ConnectorCase] = [
    ConnectorCase("The abilities are those of the business system") { proof in
      for entity in package.entities {
        let abilities = proof.connector.abilities(of: entity)
        proof.equal(
          abilities.atomicGroups, proof.stage.isTransactional, "atomic groups of \(entity.name)")
        proof.equal(
          abilities.memory == .operations, proof.stage.remembersOperations,
          "a record of operations on \(entity.name)")
        let cursor = try proof.connector.changes(since: nil).cursor
        proof.equal(cursor != nil, abilities.changes == .cursor, "a cursor of \(entity.name)")
        proof.expect(
          !abilities.reportsDeletes || abilities.changes == .cursor,
          "deletes of \(entity.name) are reported without a cursor")
      }
    },
    ConnectorCase("A group whose member is refused leaves behind what the abilities say") { proof in
      let (outcomes, _) = proof.perform(
        proof.operation(
          .update, booking, ann, ["passenger": .text("Anna")], base: ["passenger": .text("Ann")]),
        proof.operation(
          .create, booking, nil, ["flightID": .integer(18), "passenger": .text("Cleo")]))
      let isAtomic = proof.connector.abilities(of: booking).atomicGroups
      proof.equal(outcomes.first == .notTried, isAtomic, "the first member was undone")
      proof.equal(
        try proof.value(booking, ann, "passenger"), .text(isAtomic ? "Ann" : "Anna"), "passenger")
    },
    ConnectorCase("A load reads its scope and nothing else, and says how it ended") { proof in
      var rows: [RowImage] = []
      let end = try proof.connector.load(
        LoadScope(entities: [carrier]), from: nil, each: { rows += $0.rows },
        rejected: { _ in })
      proof.equal(rows.map(\.entity), ["Carrier", "Carrier"], "entities of the rows")
      proof.expect(end.isComplete, "every row was given, and the load is not complete")
      proof.equal(
        end.isSnapshot, proof.connector.abilities(of: carrier).snapshots, "read at one moment")
    },
    ConnectorCase("A load that goes on behind a page gives the rest, each row once") { proof in
      let scope = LoadScope(entities: package.entities)
      var pages: [LoadPage] = []
      _ = try proof.connector.load(
        scope, from: nil, each: { pages.append($0) }, rejected: { _ in })
      for (index, page) in pages.enumerated() {
        guard let next = page.next else { continue }
        var rest: [RowImage] = []
        _ = try proof.connector.load(
          scope, from: next, each: { rest += $0.rows }, rejected: { _ in })
        proof.equal(
          rest.map(\.key), pages.dropFirst(index + 1).flatMap(\.rows).map(\.key),
          "rows behind page \(index + 1)")
      }
    },
    ConnectorCase("A change of others is behind the cursor once, where there is a cursor") {
      proof in
      guard proof.connector.abilities(of: booking).changes == .cursor else { return }
      let start = try proof.connector.changes(since: nil).cursor
      try proof.stage.changeByOther(booking, ann, [2: .text("Anna")])
      let found = try proof.connector.changes(since: start)
      proof.expect(
        names(found, booking, ann), "a change by another is not among \(found.hints)")
      let later = try proof.connector.changes(since: found.cursor)
      proof.expect(!names(later, booking, ann), "the same change was reported twice")
      // A server that crashed asks from the place that it has kept.
      try proof.restart()
      let again = try proof.connector.changes(since: start)
      proof.expect(names(again, booking, ann), "after a restart the change is not there")
    },
    ConnectorCase("A deleted object is reported where that is promised, and never loaded") {
      proof in
      let start = try proof.connector.changes(since: nil).cursor
      guard try proof.stage.deleteByOther(booking, ann) else { return }
      if proof.connector.abilities(of: booking).reportsDeletes {
        let found = try proof.connector.changes(since: start)
        proof.expect(names(found, booking, ann), "the delete is not among \(found.hints)")
      }
      proof.equal(try proof.row(booking, ann), nil, "the row read by its key")
      let loaded = try proof.loaded()["Booking"] ?? []
      proof.expect(!loaded.contains { $0.key == ann }, "a deleted row was loaded")
    },
  ]

  private static func names(
    _ changes: BusinessChanges, _ entity: Entity, _ key: ObjectKey
  ) -> Bool {
    changes.hints.contains { hint in
      switch hint {
      case .anything: true
      case .entity(let name): name == entity.name
      case .objects(let name, let keys): name == entity.name && keys.contains(key)
      case .rows(let rows): rows.contains { $0.entity == entity.name && $0.key == key }
      }
    }
  }
}
