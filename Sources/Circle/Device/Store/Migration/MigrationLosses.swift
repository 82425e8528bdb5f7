import FerryModel
import FerrySQLite

/// What a newer model has no place for: it is let go as the policy has it, or nothing is done.
extension Migration {
  private struct Change {
    let lost: Lost
    let key: String
    let problem: MigrationProblem
  }

  private struct Lost: Hashable {
    let entity: String
    let object: Int64
  }

  /// Throws `incompatibleModel` where the policy keeps what would be lost; else throws away the
  /// changes and returns a line for each kind of loss.
  func judge() throws -> [String] {
    let changes = try unmigratable()
    let problems = Dictionary(grouping: changes, by: \.problem)
    let lines =
      problems.map { "\($1.count) × \($0) (\(shown($1.map(\.key))))" }.sorted()
      + (try MigrationValues(migration: self).losses())
    guard !lines.isEmpty else { return [] }
    guard policy == .discardUnmigratable else {
      throw FerryError(
        .incompatibleModel,
        "the model \(new.id) cannot hold all data of this device from \(old.id): "
          + lines.joined(separator: "; "),
        hint: "Open the database with the model \(old.id), correct, submit or cancel the changes "
          + "and copy the values elsewhere, or open it with `migration: .discardUnmigratable`, "
          + "which throws them away. Nothing was changed.",
        entity: changes.first?.problem.entity, attribute: changes.first?.problem.attribute)
    }
    return lines + (try discard(changes.map(\.lost)))
  }

  /// The first three in the order of the changes.
  private func shown(_ keys: [String]) -> String {
    let first = keys.prefix(3).joined(separator: ", ")
    let more = keys.count > 3 ? " and \(keys.count - 3) more" : ""
    return "\(keys.count == 1 ? "key" : "keys") \(first)\(more)"
  }

  private func unmigratable() throws -> [Change] {
    var found: [Change] = []
    // A model that says nothing of its types was written by a Ferry that did not judge parts: what
    // could be saved under it goes over.
    let types = (before: old.complexTypes, now: old.complexTypes.isEmpty ? [] : new.complexTypes)
    for row in try connection.rows(
      "SELECT entity, object, key, kind, changed, state FROM ferry_operation ORDER BY sequence")
    {
      guard let name = row[0].text, let object = row[1].integer, let key = row[2].text,
        let before = old.entity(named: name),
        let kind = OperationKind(rawValue: row[3].text ?? ""), let text = row[4].text,
        let problem = MigrationProblem.of(
          kind, try values(text, before), isOpen: Migration.open.contains(row[5].text ?? ""),
          before, new.entity(named: name), types: types)
      else { continue }
      found.append(Change(lost: Lost(entity: name, object: object), key: key, problem: problem))
    }
    return found
  }

  // Throwing away.

  /// Throws away what is pending of these objects and of those that cannot be without them, and
  /// frees what was replayed as one with them. Returns a line for each of the others.
  private func discard(_ objects: [Lost]) throws -> [String] {
    var lines: [String] = []
    var gone: Set<Lost> = []
    var queue = objects
    while let next = queue.popLast() {
      guard gone.insert(next).inserted else { continue }
      for (dependent, line) in try dependents(of: next)
      where !gone.contains(dependent) && !queue.contains(dependent) {
        lines.append(line)
        queue.append(dependent)
      }
    }
    var chains: Set<String> = []
    for object in gone {
      let rows = try connection.rows(
        "SELECT chain FROM ferry_operation WHERE entity = ? AND object = ?", .text(object.entity),
        .integer(object.object))
      chains.formUnion(rows.compactMap { $0[0].text })
    }
    for chain in chains.sorted() { try free(chain, of: gone) }
    for object in gone { try discard(object) }
    return lines
  }

  /// What refers to the temporary key of a new object, or is part of a new one, with a line to tell.
  private func dependents(of lost: Lost) throws -> [(Lost, String)] {
    var found: [(Lost, String)] = []
    let creates = try connection.rows(
      """
      SELECT key, temporary FROM ferry_operation
      WHERE entity = ? AND object = ? AND kind = 'create' AND state <> 'withdrawn'
      """, .text(lost.entity), .integer(lost.object))
    for create in creates {
      guard let entity = old.entity(named: lost.entity), let text = create[0].text,
        let key = ObjectKey(text: text).values(of: entity)
      else { continue }
      for child in old.entities where !child.isClientOnly {
        for relationship in child.relationships
        where relationship.refers(byKeyOf: entity)
          && (create[1].integer == 1 || relationship.isComposite)
        {
          let rows = try connection.rows(
            """
            SELECT _id FROM \(Schema.table(child))
            WHERE \(matching(relationship.attributes)) AND _pending IN ('C', 'U') ORDER BY _id
            """, key.map(\.stored))
          for object in rows.compactMap({ $0[0].integer }) {
            let dependent = Lost(entity: child.name, object: object)
            guard dependent != lost else { continue }
            found.append(
              (dependent, "1 × \(child.name), which refers to a new \(entity.name) that goes"))
          }
        }
      }
    }
    return found
  }

  /// What is left of a chain is sealed anew before anything is sent; where the server has some of it
  /// already it waits for all of it.
  private func free(_ chain: String, of gone: Set<Lost>) throws {
    let members = try connection.rows(
      """
      SELECT sequence, entity, object, sent, state FROM ferry_operation WHERE chain = ?
      ORDER BY sequence
      """, .text(chain))
    let rest = members.filter { row in
      guard let entity = row[1].text, let object = row[2].integer else { return false }
      return !gone.contains(Lost(entity: entity, object: object))
    }
    guard !rest.isEmpty else { return }
    guard !members.contains(where: { $0[3].integer == 1 }) else {
      let names = Set(members.compactMap { $0[1].text }).sorted().joined(separator: ", ")
      throw FerryError(
        .incompatibleModel,
        "a change that the model \(new.id) cannot express is replayed as one with others that are "
          + "on their way to the server (\(names))",
        hint: "Open the database with the model \(old.id) and synchronize until they are answered. "
          + "Nothing was changed.")
    }
    // What waited with it may have waited for nothing else.
    try connection.run(
      "UPDATE ferry_operation SET wanted = 2 WHERE chain = ? AND wanted > 0", .text(chain))
    for row in rest where row[4].text == "submitted" {
      try connection.run(
        """
        UPDATE ferry_operation SET state = 'waiting', wanted = 2, payload = NULL WHERE sequence = ?
        """, row[0])
      guard let name = row[1].text, let entity = old.entity(named: name) else { continue }
      try connection.run(
        """
        UPDATE \(Schema.table(entity)) SET _replay = (
          SELECT max(counter) || ' ' || max(iif(wanted > 0, counter, 0)) || ' 0' FROM ferry_operation WHERE entity = ?1 AND object = ?2)
        WHERE _id = ?2
        """, row[1], row[2])
    }
  }

  /// The object is again as it was downloaded; one that was never downloaded goes.
  private func discard(_ lost: Lost) throws(SQLiteError) {
    // What stays on the device no longer refers to the temporary key of a new object that goes.
    if let entity = old.entity(named: lost.entity) {
      try LocalReferences(model: old, connection: connection)
        .forgetCreates(of: entity, lost.object)
    }
    let table = quoted(lost.entity)
    let original = quoted("ferry_original_\(lost.entity)")
    for owned in ["ferry_operation", "ferry_log_record"] {
      try connection.run(
        "DELETE FROM \(owned) WHERE entity = ? AND object = ?", .text(lost.entity),
        .integer(lost.object))
    }
    let all = try columns(of: "ferry_original_\(lost.entity)")
    let own = Set(
      old.entity(named: lost.entity)?.attributes.filter(\.isClientOnly).map(\.name) ?? [])
    // What stays on the device was never part of the change; the image has it only while the row
    // is hidden.
    let shared = all.filter { !own.contains($0) && $0 != "_id" }.map(quoted)
    let isVisible = try connection.value(
      "SELECT 1 FROM \(table) WHERE _id = ?1 AND EXISTS (SELECT 1 FROM \(original) WHERE _id = ?1)",
      .integer(lost.object))
    if isVisible != nil {
      let list = shared.joined(separator: ", ")
      try connection.run(
        """
        UPDATE \(table) SET (\(list)) = (SELECT \(list) FROM \(original) WHERE _id = ?1),
          _pending = 'N', _failed = 0, _replay = NULL WHERE _id = ?1
        """, .integer(lost.object))
    } else {
      let list = all.map(quoted).joined(separator: ", ")
      try connection.run("DELETE FROM \(table) WHERE _id = ?", .integer(lost.object))
      try connection.run(
        "INSERT INTO \(table) (\(list)) SELECT \(list) FROM \(original) WHERE _id = ?",
        .integer(lost.object))
    }
    try connection.run("DELETE FROM \(original) WHERE _id = ?", .integer(lost.object))
  }
}
