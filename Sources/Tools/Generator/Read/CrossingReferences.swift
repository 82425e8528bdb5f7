import FerryModel
import FerrySQLite

/// Counts the rows whose references leave their partition: a device that has such a row does not
/// have the object that it refers to, unless its user has both partitions.
struct CrossingReferences {
  private let package: Package
  private let connection: Connection

  /// Opens the database read-only and changes nothing. The cost is one join for each relationship
  /// that leads to an entity with a partition rule.
  static func notes(of package: Package, inSQLite path: String) throws(GeneratorError) -> [Note] {
    guard package.entities.contains(where: { $0.partition != nil }) else { return [] }
    do {
      let connection = try Connection(path: path, mode: .readOnly)
      return try connection.transaction(.deferred) { () throws(SQLiteError) in
        try CrossingReferences(package: package, connection: connection).notes()
      }
    } catch {
      throw GeneratorError(error, path: path)
    }
  }

  /// Where the values that decide a row's partition stand.
  private struct Place {
    var joins: [String] = []
    var columns: [String] = []
    var sources: [PartitionSource] = []
  }

  private func notes() throws(SQLiteError) -> [Note] {
    var notes: [Note] = []
    for entity in package.entities {
      for relationship in entity.relationships {
        guard let target = package.entity(named: relationship.target),
          entity.partition != .through(relationship: relationship.name),
          let note = try note(of: relationship, entity, target)
        else { continue }
        notes.append(note)
      }
    }
    return notes
  }

  private func note(
    of relationship: Relationship, _ entity: Entity, _ target: Entity
  ) throws(SQLiteError) -> Note? {
    guard let there = place(of: target, "t"), there.sources.contains(where: { $0 != .open }),
      let here = place(of: entity, "c"),
      let match = match(relationship, entity, "c", target, "t")
    else { return nil }
    let isComparable = here.sources == there.sources
    let differ =
      isComparable
      ? "NOT ("
        + zip(here.columns, there.columns).map { "\($0) IS \($1)" }
        .joined(separator: " AND ") + ")" : "1"
    let known = here.columns.map { "\($0) IS NOT NULL" }
    let joins = ["JOIN \(quoted(target.table)) AS t ON \(match)"] + here.joins + there.joins
    let row = try connection.row(
      """
      SELECT count(*), coalesce(sum(\(differ)), 0) FROM \(quoted(entity.table)) AS c
      \(joins.joined(separator: "\n"))\(known.isEmpty ? "" : "\nWHERE ")\
      \(known.joined(separator: " AND "))
      """)
    guard let all = row?[0].integer, let crossing = row?[1].integer, crossing > 0 else {
      return nil
    }
    let reason =
      if here.sources.isEmpty {
        "that only their own users have, while everyone has these rows"
      } else if isComparable {
        "in another partition"
      } else {
        "whose partition comes from \(text(there.sources)) and not from \(text(here.sources))"
      }
    return Note(
      .told, entity.table,
      "\(crossing) of \(all) rows refer by \"\(relationship.name)\" to \(target.name) objects \(reason): "
        + "devices get the row without that object",
      cure:
        "Give \(target.name) no partition rule if every user may have it, or let both follow the "
        + "same object. Where users set such references, write \"anyTarget\": true.")
  }

  private func text(_ sources: [PartitionSource]) -> String {
    sources.map(\.text).joined(separator: ", ")
  }

  /// Nil where the rule cannot be followed.
  private func place(of entity: Entity, _ alias: String, depth: Int = 0) -> Place? {
    switch entity.partition {
    case nil: return Place()
    case .columns(let columns):
      var place = Place()
      for column in columns {
        guard let position = entity.position(of: column.attribute) else { return nil }
        place.columns.append("\(alias).\(quoted(entity.attributes[position].column))")
        place.sources.append(column.source)
      }
      return place
    case .through(let name):
      let next = "\(alias)p"
      guard depth < package.entities.count, let relationship = entity.relationship(named: name),
        let target = package.entity(named: relationship.target),
        let match = match(relationship, entity, alias, target, next),
        var place = place(of: target, next, depth: depth + 1)
      else { return nil }
      place.joins.insert("LEFT JOIN \(quoted(target.table)) AS \(next) ON \(match)", at: 0)
      return place
    }
  }

  private func match(
    _ relationship: Relationship, _ entity: Entity, _ alias: String, _ target: Entity,
    _ other: String
  ) -> String? {
    var terms: [String] = []
    for (own, theirs) in zip(relationship.attributes, relationship.targetAttributes) {
      guard let ownPosition = entity.position(of: own), let position = target.position(of: theirs)
      else { return nil }
      let column = quoted(entity.attributes[ownPosition].column)
      terms.append("\(alias).\(column) = \(other).\(quoted(target.attributes[position].column))")
    }
    return terms.isEmpty ? nil : terms.joined(separator: " AND ")
  }
}
