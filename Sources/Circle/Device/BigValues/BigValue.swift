import FerryModel
import FerrySQLite

/// One big attribute of one object: where its content is, and how it is read and written.
///
/// It holds no bytes and no copy of the row: each call looks at the object as the database has it
/// now, whatever the app's own copy of the object says.
struct BigValue: Sendable {
  /// Nil of an object that was made without a database: it was never saved, and has no place.
  private let known: Store?
  let entity: Entity
  let object: Int64?
  let position: Int

  init(_ record: ObjectRecord, _ position: Int) {
    precondition(
      record.entity.attributes[position].type.isBig,
      "\(record.entity.name).\(record.entity.attributes[position].name) is no big value")
    known = record.origin.store
    entity = record.entity
    object = record.object
    self.position = position
  }

  var attribute: Attribute { entity.attributes[position] }
  var shown: String { "\(entity.name).\(attribute.name)" }

  var store: Store {
    get throws(FerryError) {
      guard let known else { throw notSaved }
      return known
    }
  }

  var contents: Contents {
    get throws(FerryError) { Contents(try store) }
  }

  /// Errors: `objectNotSaved` for a new object.
  var place: ContentPlace {
    get throws(FerryError) {
      guard let object else { throw notSaved }
      return ContentPlace(entity: entity, object: object, position: position)
    }
  }

  private var notSaved: FerryError {
    FerryError(
      .objectNotSaved, "\(shown) belongs to an object that was never saved",
      hint: "Call create first: only a saved object can have a big value.",
      entity: entity.name, attribute: attribute.name)
  }

  /// What the row names; nil for null.
  var reference: BigReference? {
    get throws(FerryError) {
      let place = try place
      try store.checkLease()
      let value = try store.read { connection throws(SQLiteError) in
        try Contents.rowValue(of: place, connection)
      }
      guard let value else {
        throw FerryError(
          .objectNotFound, "the \(entity.name) of \(shown) is no longer on the device",
          hint: "It was deleted, here or by another user.", entity: entity.name)
      }
      return value.text.flatMap { BigReference($0) }
    }
  }

  var length: Int64 {
    get throws(FerryError) { try reference?.sizeBytes ?? 0 }
  }

  var isDownloaded: Bool {
    get throws(FerryError) {
      guard let reference = try reference else { return true }
      return try contents.entry(reference)?.isWhole == true
    }
  }

  /// The bytes that are here already.
  var downloadedLength: Int64 {
    get throws(FerryError) {
      guard let reference = try reference else { return 0 }
      return try contents.entry(reference)?.storedBytes ?? 0
    }
  }

  /// What is told from now on of this value's way.
  var progress: AsyncStream<BigValueProgress> {
    get throws(FerryError) {
      try store.progress.follow(
        entity: entity.name, object: try place.object, attribute: attribute.name)
    }
  }

  func download() async throws(FerryError) {
    guard try !isDownloaded else { return }
    let place = try place
    guard let fetcher = try store.contentFetcher.withLock({ $0 }) else {
      throw missing("Open the database and call download when there is a network.")
    }
    try await fetcher(place)
  }

  /// Reads what is here, without asking the server.
  func openHere() throws(FerryError) -> BigReader {
    guard let reference = try reference else {
      throw FerryError(
        .wrongState, "\(shown) is null", hint: "Ask isNull before it is opened.",
        entity: entity.name, attribute: attribute.name)
    }
    guard let entry = try contents.entry(reference), entry.isWhole else {
      throw missing("Call download when there is a network.")
    }
    return BigReader(try contents, entry)
  }

  private func missing(_ cure: String) -> FerryError {
    FerryError(
      .notDownloaded, "the content of \(shown) is not on the device", hint: cure,
      entity: entity.name, attribute: attribute.name)
  }

  func openForRead() async throws(FerryError) -> BigReader {
    try await download()
    return try openHere()
  }

  /// The whole of it in memory; nil for null, `tooLarge` where it is longer.
  func read(limitBytes: Int) async throws(FerryError) -> [UInt8]? {
    guard let reference = try reference else { return nil }
    guard reference.sizeBytes <= Int64(limitBytes) else {
      throw FerryError(
        .tooLarge,
        "\(shown) has \(reference.sizeBytes) bytes, \(limitBytes) were allowed",
        hint: "Read it with openForRead, or raise limitBytes.", entity: entity.name,
        attribute: attribute.name)
    }
    return try await openForRead().read(upTo: max(1, limitBytes)) ?? []
  }

  func copy(to path: String) async throws(FerryError) {
    let reader = try await openForRead()
    let pieceBytes = try contents.pieceBytes
    let part = path + ".part"
    do {
      let file = try PlainFile.writing(part)
      while let bytes = try reader.read(upTo: pieceBytes) { try file.write(bytes) }
      try file.close()
      try PlainFile.move(part, to: path)
    } catch {
      PlainFile.remove(part)
      throw failure(error)
    }
  }

  /// What the file's hand threw, or the reader.
  func failure(_ error: any Error) -> FerryError {
    if let error = error as? FerryError { return error }
    let isFull = (error as? PlainFile.Failure)?.isFull == true
    return FerryError(
      isFull ? .diskFull : .store, "the file of \(shown) cannot be used: \(error)",
      hint: "Check that the file can be read or written; the object was not changed.",
      entity: entity.name, attribute: attribute.name, cause: error)
  }
}

extension Contents {
  /// The column of a big value; nil where the object is gone.
  static func rowValue(
    of place: ContentPlace, _ connection: Connection
  ) throws(SQLiteError) -> SQLiteValue? {
    try connection.value(
      """
      SELECT \(quoted(place.attribute.name)) FROM \(Schema.table(place.entity)) WHERE _id = ?
      """, .integer(place.object))
  }
}
