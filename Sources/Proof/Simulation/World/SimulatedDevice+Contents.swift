import Ferry
import FerryModel
import FerrySQLite

/// The contents of big values on a device, read by code of our own.
extension SimulatedDevice {
  static let allContents = """
    SELECT content.number, content.reference, content.stored, piece.start, piece.bytes
    FROM ferry_content AS content LEFT JOIN ferry_content_piece AS piece
    ON piece.content = content.number ORDER BY content.number, piece.start
    """

  /// Everything that is there, begun or whole, the pieces put together in their order.
  func contents() throws(FerryError) -> [StoredContent] {
    let rows = try sql { (connection) throws(SQLiteError) in
      try connection.rows(SimulatedDevice.allContents)
    }
    var contents: [StoredContent] = []
    var last: Int64?
    for row in rows {
      let isNext = row[0].integer != last
      last = row[0].integer
      let before = isNext ? [] : contents.removeLast().bytes
      // A piece that does not begin where the one before ended is a hole.
      let isFitting = row[3].integer.map { $0 == Int64(before.count) } ?? true
      contents.append(
        StoredContent(
          reference: row[1].text.flatMap { BigReference($0) }, stored: row[2].integer ?? 0,
          bytes: isFitting ? before + (row[4].blob ?? []) : []))
    }
    return contents
  }

  /// What rows, their images and pending changes name.
  func namedContents() throws(FerryError) -> Set<BigReference> {
    var named = Set(try operations().flatMap { $0.changed.values.compactMap(\.bigReference) })
    for entity in SimulatedBusiness.package.entities {
      for row in try visible(entity) { named.formUnion(row.values.compactMap(\.bigReference)) }
      for values in try images(entity).values { named.formUnion(values.compactMap(\.bigReference)) }
    }
    return named
  }

  func uploadsLeft() throws(FerryError) -> Int64 {
    try sql { (connection) throws(SQLiteError) in
      try connection.value(
        """
        SELECT count(*) FROM ferry_upload WHERE done = 0 AND operation NOT IN (
          SELECT id FROM ferry_operation WHERE state IN ('waiting', 'replayFailed'))
        """)?.integer ?? 0
    }
  }

  /// The objects with a big value that is not here as a whole; `isSettled`: of those that are as the
  /// server has them.
  func missingContents(isSettled: Bool = false) throws(FerryError) -> [ContentPlace] {
    let here = Set(try contents().filter(\.isWhole).compactMap(\.reference))
    var places: [ContentPlace] = []
    for entity in SimulatedBusiness.package.entities {
      for position in entity.bigPositions {
        for row in try visible(entity) {
          guard let reference = row.values[position].bigReference, !here.contains(reference),
            !isSettled || row.pending == .none
          else { continue }
          places.append(ContentPlace(entity: entity, object: row.object, position: position))
        }
      }
    }
    return places
  }
}
