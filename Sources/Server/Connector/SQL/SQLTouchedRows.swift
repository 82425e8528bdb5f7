public import FerryModel

/// A row by entity and key.
public struct SQLTouchedRow: Sendable, Hashable {
  public let entity: String
  public let key: ObjectKey

  public init(entity: String, key: ObjectKey) {
    self.entity = entity
    self.key = key
  }
}

/// The rows that a group changed, by entity and key, each once and in order.
public struct SQLTouchedRows<Table> {
  private var seen: Set<SQLTouchedRow> = []
  public private(set) var rows: [(table: Table, key: ObjectKey)] = []

  public init() {}

  public mutating func note(_ entity: Entity, _ table: Table, _ key: ObjectKey) {
    guard seen.insert(SQLTouchedRow(entity: entity.name, key: key)).inserted else { return }
    rows.append((table, key))
  }
}
