import FerryConnector
import FerryMariaDB
import FerryModel

/// Turns MariaDB's words about a broken rule into a sentence for the user of the app.
///
/// To be asked after the statement was rolled back: it looks at rows. The server's own sentences may
/// quote rows, also what the user may not see: only names are taken from them.
struct Explanation {
  let operation: ConnectorOperation
  let table: EntityTable?
  let connection: MariaDBConnection

  func refusal(_ error: MariaDBError) -> Refusal {
    // What a rule of the business says itself comes without anything of ours.
    if error.isRaised { return Refusal(code: 412, message: error.message) }
    switch error.number {
    case 1_048, 1_364: return notNull(error)
    case 1_062: return unique(error)
    case 1_451, 1_452: return foreignKey(error)
    case 4_025, 3_819: return check(error)
    default: break
    }
    let names = [error.lastQuoted, error.names().last]
    let attribute = names.lazy.compactMap { $0.flatMap { words.attribute($0) } }.first
    guard let attribute else { return plain(error) }
    return Refusal(
      code: 422, message: "\(attribute.name) has a value that its column does not take.",
      attribute: attribute.name)
  }

  private func plain(_ error: MariaDBError) -> Refusal {
    Refusal(
      code: error.stateClass == "23" ? 412 : 422,
      message: "The business database refuses this change of \(operation.entity.name) "
        + "(error \(error.number)).")
  }

  private func notNull(_ error: MariaDBError) -> Refusal {
    guard let column = error.names(between: 0x27).first, let attribute = words.attribute(column)
    else { return plain(error) }
    return words.notNull(attribute)
  }

  private func unique(_ error: MariaDBError) -> Refusal {
    // MySQL writes the table before the index.
    let name = error.lastQuoted ?? ""
    let index = name.split(separator: ".").last.map(String.init) ?? name
    guard let columns = table?.schema.uniqueKeys[index], let refusal = words.unique(columns) else {
      return plain(error).adding(constraint: name)
    }
    return refusal.adding(constraint: index)
  }

  private func check(_ error: MariaDBError) -> Refusal {
    let names = error.number == 3_819 ? error.names(between: 0x27) : error.names()
    let name = names.first ?? ""
    let own = table?.schema.name ?? ""
    guard error.number == 3_819 || names.last == own else {
      return plain(error).adding(constraint: name)
    }
    return words.check(table?.schema.checks[name] ?? name, of: own).adding(constraint: name)
  }

  private func foreignKey(_ error: MariaDBError) -> Refusal {
    // `database`.`child`, CONSTRAINT `name` …
    let names = error.names()
    guard names.count > 2, let table,
      let foreign = table.schema.foreignKeys.first(where: {
        $0.name == names[2] && $0.child == names[1]
      })
    else { return plain(error) }
    if error.number == 1_452, foreign.child == table.schema.name,
      let refusal = words.missingParent(foreign.childColumns, in: foreign.parent)
    {
      return refusal.adding(constraint: foreign.name)
    }
    guard error.number == 1_451, foreign.parent == table.schema.name else { return plain(error) }
    return words.stillNeeded(by: foreign.child, count: count(foreign, table))
      .adding(constraint: foreign.name)
  }

  /// How many rows refer to the operation's own; nil where that is not known.
  private func count(_ foreign: CatalogueForeignKey, _ table: EntityTable) -> String? {
    guard let key = operation.key, let condition = table.whereKey(key) else { return nil }
    let pairs = zip(foreign.childColumns, foreign.parentColumns).map {
      "c.\(quotedName($0)) = t.\(quotedName($1))"
    }
    return try? connection.value(
      "SELECT count(*) FROM \(quotedName(foreign.child)) AS c JOIN \(quotedName(foreign.parent)) "
        + "AS t ON \(pairs.joined(separator: " AND "))\(condition)")
  }

  private var words: SQLRefusalWords {
    SQLRefusalWords(operation) { position in
      guard let key = operation.key, let table,
        let row = try? table.texts(of: key, connection)
      else { return nil }
      return table.columns[position].value(row[position])
    }
  }
}
