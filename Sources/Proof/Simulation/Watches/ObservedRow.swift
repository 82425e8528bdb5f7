import FerryModel
import FerrySQLite

/// A row of the server's cache, as its file has it.
struct ObservedRow {
  let name: RowName
  let version: Int64
  /// nil for one that was deleted.
  let body: [UInt8]?

  static func all(_ connection: Connection) throws -> [ObservedRow] {
    try connection.rows(
      """
      SELECT entity.name, row.key, row.body, row.version, row.deleted FROM row
      JOIN entity ON entity.id = row.entity
      """
    ).compactMap { row in
      guard let entity = row[0].text, let key = row[1].text, let version = row[3].integer else {
        return nil
      }
      return ObservedRow(
        name: RowName(entity: entity, key: ObjectKey(text: key)), version: version,
        body: row[4].integer == 1 ? nil : row[2].blob)
    }
  }
}
