import FerryConnector
import FerryModel
import FerrySQLite

extension EntityTable {
  /// At most `count` rows behind the place, in the order of the key's columns.
  func slice(
    after place: [AttributeValue]?, count: Int, _ connection: Connection
  ) throws(SQLiteError) -> EntitySlice {
    let keys = entity.key.map { quotedColumns[$0] }
    // NULL comes before everything, and nothing comes behind it.
    var conditions = keys.map { "\($0) IS NOT NULL" }
    if place != nil {
      let marks = keys.map { _ in "?" }.joined(separator: ", ")
      conditions.append("(\(keys.joined(separator: ", "))) > (\(marks))")
    }
    let statement = try connection.statement(
      "\(select) WHERE \(conditions.joined(separator: " AND "))"
        + " ORDER BY \(keys.joined(separator: ", ")) LIMIT \(count)")
    defer { statement.reset() }
    try statement.bind((place ?? []).map { SQLiteValue(slicePlace: $0) })
    var images: [RowImage] = []
    var (read, last): (Int, [SQLiteValue]) = (0, [])
    while try statement.step() {
      let raw = try big.row(statement, connection)
      (read, last) = (read + 1, raw)
      guard case .success(let values) = row(raw) else { continue }
      images.append(RowImage(entity: entity.name, key: entity.key(of: values), values: values))
    }
    return EntitySlice(
      rows: images, next: read < count ? nil : entity.key.map { last[$0].slicePlace })
  }
}

extension SQLiteValue {
  /// As it is in the database, whatever the attribute's type.
  fileprivate var slicePlace: AttributeValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }

  fileprivate init(slicePlace: AttributeValue) {
    self =
      switch slicePlace {
      case .null: .null
      case .boolean(let flag): .integer(flag ? 1 : 0)
      case .integer(let number): .integer(number)
      case .double(let number): .real(number)
      case .text(let text): .text(text)
      case .bytes(let bytes): .blob(bytes)
      }
  }
}
