import FerryModel

/// What in another product's file is what in a package; read from a file of the one who migrates.
package struct TakeoverMapping: Sendable {
  /// What an entry of the outbox does.
  package enum Verb: String, Sendable, CaseIterable {
    case create, update, delete
    /// Creates the object, or updates it if it is on the device.
    case save
  }

  /// Where the pending work is.
  struct Outbox: Sendable {
    let table: String
    /// The column by whose values the entries follow each other; each value is there once.
    let order: String
    /// The column whose equal values make one transaction; without one each entry is its own.
    let transaction: String?
    /// The column with a JSON object, whose members are meant by the names below; nil: columns are.
    let json: String?
    let operation: String
    let type: String
    let key: String
    /// A JSON object of columns and values; nil: the values are those of the row.
    let values: String?
    let operations: [String: Verb]
  }

  /// One type of rows.
  struct Kind: Sendable {
    /// Its name in the outbox.
    let type: String
    let entity: Entity
    let table: String
    /// The column of the rows' own key, which the outbox names.
    let key: String
    /// The positions of attributes by column.
    let columns: [String: Int]
    let ignored: Set<String>
    /// The types that columns refer to by their rows' own keys.
    let refers: [String: String]

    /// The column that is an attribute.
    func column(of position: Int) -> String? {
      columns.first { $0.value == position }?.key
    }
  }

  let outbox: Outbox
  let kinds: [String: Kind]
}

extension TakeoverMapping {
  /// Where a value of a column leads by a relationship: the type, and the position of its attribute that
  /// the column has the value of.
  func target(of column: String, in kind: Kind) -> (kind: Kind, position: Int)? {
    guard let type = kind.refers[column], let other = kinds[type],
      let own = kind.columns[column].map({ kind.entity.attributes[$0].name })
    else { return nil }
    for relationship in kind.entity.relationships where relationship.target == other.entity.name {
      for (name, there) in zip(relationship.attributes, relationship.targetAttributes)
      where name == own {
        return other.entity.position(of: there).map { (other, $0) }
      }
    }
    return nil
  }
}
