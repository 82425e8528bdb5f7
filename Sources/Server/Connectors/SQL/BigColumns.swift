import FerryConnector
import FerryCrypto
import FerryModel
import FerrySQLite

/// How big values stand in a table: the row's own columns, read as references and never as they are.
///
/// Where the table has row ids they are read in stretches, texts and bytes alike. Bytes are written
/// in stretches too, and texts into a column that is declared BLOB. What SQLite offers no stretches
/// for goes through memory: a text while it is written into a column of texts, what is written into a
/// column of an index, the values of a table WITHOUT ROWID, texts of a database in UTF-16.
struct BigColumns: Sendable {
  private struct Place: Sendable {
    let position: Int
    let attribute: Attribute
    let column: String
    let isWrittenInStretches: Bool
    var isText: Bool { attribute.type == .bigString }
  }

  private let table: TableSchema
  private let places: [Place]
  /// Asked for behind the attributes, where values are read in stretches.
  let rowID: String?

  init(_ entity: Entity, _ schema: TableSchema) {
    table = schema
    let name = entity.bigPositions.isEmpty || schema.isView ? nil : schema.rowIDName
    rowID = name
    places = entity.bigPositions.map { position in
      let attribute = entity.attributes[position]
      let column = schema.column(named: attribute.column)
      let takesBytes =
        attribute.type == .bigBinary || column?.declaredType.uppercased().contains("BLOB") == true
      return Place(
        position: position, attribute: attribute, column: column?.name ?? "",
        isWrittenInStretches: takesBytes && name != nil && column?.isIndexed == false)
    }
  }

  private func place(_ position: Int) -> Place? { places.first { $0.position == position } }

  /// What a row is asked for in the place of a column: of what is read in stretches, its type.
  func selected(_ position: Int, _ name: String) -> String {
    rowID != nil && place(position) != nil ? "typeof(\(name))" : name
  }

  /// The row at which the statement stands, with references for its big values. A text that is
  /// none becomes a value that no bigString can have, and says why.
  func row(
    _ statement: Statement, _ connection: Connection
  ) throws(SQLiteError) -> [SQLiteValue] {
    guard !places.isEmpty else { return statement.row }
    let count = statement.columnCount - (rowID == nil ? 0 : 1)
    var row: [SQLiteValue] = []
    row.reserveCapacity(count)
    for index in 0..<count {
      guard let place = place(index) else {
        row.append(statement.value(at: index))
        continue
      }
      var seen = Seen(isText: place.isText)
      if rowID == nil {
        guard !statement.isNull(at: index) else {
          row.append(.null)
          continue
        }
        BigColumns.withBytes(statement, at: index) { seen.take($0) }
      } else {
        let type = statement.text(at: index)
        guard type != "null" else {
          row.append(.null)
          continue
        }
        try see(place, type, row: statement.integer(at: count), connection, &seen)
      }
      row.append(seen.finish())
    }
    return row
  }

  private func see(
    _ place: Place, _ type: String, row number: Int64, _ connection: Connection,
    _ seen: inout Seen
  ) throws(SQLiteError) {
    guard isRead(inStretches: type) else {
      try whole(place, " WHERE \(rowID ?? "") = ?", [.integer(number)], connection) {
        seen.take($0)
      }
      return
    }
    try connection.withBlob(table: table.name, column: place.column, row: number) {
      blob throws(SQLiteError) in
      var offset: Int64 = 0
      while offset < blob.sizeBytes {
        let bytes = try blob.read(at: offset, upTo: ConnectorContent.pieceBytes)
        bytes.withUnsafeBytes { seen.take($0) }
        offset += Int64(bytes.count)
      }
    }
  }

  /// Numbers are no blobs to SQLite, and texts in UTF-16 are not what they are called here.
  private func isRead(inStretches type: String) -> Bool {
    type == "blob" || type == "text" && table.isUTF8
  }

  /// False where there is no such row, or nothing in it.
  @discardableResult
  private func whole(
    _ place: Place, _ condition: String, _ parameters: [SQLiteValue], _ connection: Connection,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(SQLiteError) -> Bool {
    let statement = try connection.statement(
      "SELECT \(quoted(place.column)) FROM \(quoted(table.name))\(condition)")
    defer { statement.reset() }
    try statement.bind(parameters)
    guard try statement.step(), !statement.isNull(at: 0) else { return false }
    BigColumns.withBytes(statement, at: 0, body)
    return true
  }

  /// What a column holds, as bytes; numbers as they are written.
  private static func withBytes(
    _ statement: Statement, at index: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    switch statement.column(at: index) {
    case .blob(let bytes), .text(let bytes): body(UnsafeRawBufferPointer(bytes))
    default: statement.withBytes(at: index, isText: true) { body(UnsafeRawBufferPointer($0)) }
    }
  }

  /// A stretch of one value; nil where the row is gone or the value null.
  func stretch(
    _ position: Int, _ condition: String, _ key: [SQLiteValue], offset: Int64, count: Int,
    _ connection: Connection
  ) throws(SQLiteError) -> [UInt8]? {
    guard let place = place(position) else { return nil }
    if let rowID {
      let sql = """
        SELECT \(rowID), typeof(\(quoted(place.column))) FROM \(quoted(table.name))\(condition)
        """
      guard let row = try connection.rows(sql, key).first, let number = row[0].integer,
        let type = row[1].text, type != "null"
      else { return nil }
      if isRead(inStretches: type) {
        return try connection.withBlob(table: table.name, column: place.column, row: number) {
          blob throws(SQLiteError) in try blob.read(at: offset, upTo: count)
        }
      }
    }
    var bytes: [UInt8] = []
    let isThere = try whole(place, condition, key, connection) {
      bytes = Array($0.dropFirst(Int(clamping: offset)).prefix(count))
    }
    return isThere ? bytes : nil
  }

  /// What stands for a content in the statement that writes its row, with its parameter.
  func placeholder(
    _ attribute: Attribute, _ position: Int, _ content: ConnectorContent
  ) throws(Interruption) -> (mark: String, parameter: Parameter) {
    let size = content.reference.sizeBytes
    guard let place = place(position), !place.isWrittenInStretches else {
      return ("zeroblob(?)", .value(.integer(size)))
    }
    let value = LargeValue(sizeBytes: Int(clamping: size))
    try forEachPiece(of: content, for: place) { _, bytes throws(Interruption) in
      value.append(bytes)
    }
    return ("?", .large(value, isText: place.isText))
  }

  /// Whether some of the contents are to be written into their row after it is there.
  func writes(_ contents: [Int: ConnectorContent]) -> Bool {
    places.contains { $0.isWrittenInStretches && contents[$0.position] != nil }
  }

  /// Writes the contents that go in stretches into the row, which has room for them.
  func write(
    _ contents: [Int: ConnectorContent], row number: Int64, _ connection: Connection
  ) throws(Interruption) {
    for place in places where place.isWrittenInStretches {
      guard let content = contents[place.position], content.reference.sizeBytes > 0 else {
        continue
      }
      let wrap: (SQLiteError) -> Interruption = { .failed(ConnectorError($0, connection.path)) }
      var failure: Interruption?
      do throws(SQLiteError) {
        try connection.withBlob(
          table: table.name, column: place.column, row: number, isWriting: true
        ) { blob throws(SQLiteError) in
          do throws(Interruption) {
            try forEachPiece(of: content, for: place) { offset, bytes throws(Interruption) in
              do throws(SQLiteError) { try blob.write(bytes, at: offset) } catch {
                throw wrap(error)
              }
            }
          } catch { failure = error }
        }
      } catch { throw wrap(error) }
      if let failure { throw failure }
    }
  }

  /// A text is looked through on the way: what is none is refused, whatever was written of it.
  private func forEachPiece(
    of content: ConnectorContent, for place: Place,
    _ body: (Int64, [UInt8]) throws(Interruption) -> Void
  ) throws(Interruption) {
    var check = TextCheck()
    try content.forEachPiece(wrap: { .failed($0) }) { offset, bytes throws(Interruption) in
      if place.isText {
        bytes.withUnsafeBytes { check.take($0) }
        if let wrong = check.wrongAt { throw .refused(.wrongText(place.attribute, at: wrong)) }
      }
      try body(offset, bytes)
    }
    if let wrong = check.finish() { throw .refused(.wrongText(place.attribute, at: wrong)) }
  }
}

/// What a statement that changes a row is given.
enum Parameter {
  case value(SQLiteValue)
  /// A content that SQLite takes as a whole.
  case large(LargeValue, isText: Bool)
}

/// What was seen of a value that was read through.
private struct Seen {
  private let hasher = SHA256Hasher()
  private let isText: Bool
  private var sizeBytes: Int64 = 0
  private var check = TextCheck()

  init(isText: Bool) { self.isText = isText }

  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    hasher.update(bytes)
    if isText { check.take(bytes) }
    sizeBytes += Int64(bytes.count)
  }

  /// The value that the row has for it.
  mutating func finish() -> SQLiteValue {
    if let wrong = check.finish() { return .text("bytes that are not UTF-8 at \(wrong)") }
    let reference = BigReference(sizeBytes: sizeBytes, digest: hexadecimal(hasher.finish()))
    return .text(reference.description)
  }
}
