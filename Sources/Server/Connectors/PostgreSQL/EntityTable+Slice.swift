import FerryConnector
import FerryModel
import FerryPostgreSQL

extension EntityTable {
  /// At most `count` rows behind the place, in the order of the key's columns: by the index of the key.
  func slice(
    after place: [AttributeValue]?, count: Int, _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> EntitySlice {
    let keys = entity.key.map { "t.\(quotedName(columns[$0].column.name))" }
    var conditions = keys.map { "\($0) IS NOT NULL" }
    if place != nil {
      let marks = entity.key.enumerated().map { columns[$0.element].mark($0.offset + 1) }
      conditions.append("(\(keys.joined(separator: ", "))) > (\(marks.joined(separator: ", ")))")
    }
    let texts = (place ?? []).map { value -> PostgreSQLValue in
      if case .text(let text) = value { .text(text) } else { .null }
    }
    let found = try connection.rows(
      "\(select) WHERE \(conditions.joined(separator: " AND "))"
        + " ORDER BY \(keys.joined(separator: ", ")) LIMIT \(count)", texts)
    var images: [RowImage] = []
    images.reserveCapacity(found.count)
    for number in 0..<found.count {
      guard case .success(let values) = row(found.row(number)) else { continue }
      images.append(RowImage(entity: entity.name, key: entity.key(of: values), values: values))
    }
    guard found.count == count else { return EntitySlice(rows: images, next: nil) }
    let last = found.row(count - 1)
    return EntitySlice(rows: images, next: entity.key.map { .text(last[$0] ?? "") })
  }
}
