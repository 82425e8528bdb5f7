import FerryModel
import FerrySQLite

extension BigBinary {
  /// Opens a new content, which replaces the present one at `close`. With a `length`, exactly this
  /// number of bytes must be written.
  ///
  /// Errors: `objectNotSaved`; `operationNotAllowed` where the model does not let the object be changed.
  public func openForWrite(length: Int64? = nil) throws(FerryError) -> BigWriter {
    try value.openForWrite(length: length)
  }

  /// Writes bytes as the whole content; the object is pending afterwards.
  public func write(_ bytes: [UInt8]) throws(FerryError) {
    try value.write { writer throws(FerryError) in try writer.write(bytes) }
  }

  /// Writes what a sequence gives as the whole content; an error of it is the cause of
  /// `contentSource`, and then the object keeps the value that it had.
  public func write(
    contentsOf pieces: some AsyncSequence<[UInt8], any Error>
  ) async throws(FerryError) {
    let writer = try openForWrite()
    do {
      for try await piece in pieces { try writer.write(piece) }
      try writer.close()
    } catch {
      writer.discard()
      throw error as? FerryError
        ?? FerryError(
          .contentSource, "\(value.shown) could not be written: \(error)",
          hint: "The object is as it was; try again.", cause: error)
    }
  }

  /// Writes a file as the whole content (copyFromFile).
  public func copyFrom(file path: String) throws(FerryError) { try value.copy(from: path) }

  /// Removes the content; the object is pending afterwards.
  public func setNull() throws(FerryError) { try value.setNull() }
}

extension BigString {
  /// Opens a new text, which replaces the present one at `close`; the length is in bytes of UTF-8.
  public func openForWrite(length: Int64? = nil) throws(FerryError) -> BigTextWriter {
    BigTextWriter(try value.openForWrite(length: length))
  }

  /// Writes the whole text; the object is pending afterwards.
  public func write(_ text: String) throws(FerryError) {
    try value.write { writer throws(FerryError) in try writer.write(Array(text.utf8)) }
  }

  /// Writes a file of UTF-8 as the whole text (copyFromFile).
  public func copyFrom(file path: String) throws(FerryError) { try value.copy(from: path) }

  /// Removes the text; the object is pending afterwards.
  public func setNull() throws(FerryError) { try value.setNull() }
}

/// Writes a text from its beginning to its end, in constant memory; see `BigWriter`.
public final class BigTextWriter: Sendable {
  private let bytes: BigWriter

  init(_ bytes: BigWriter) { self.bytes = bytes }

  /// Bytes of UTF-8 written so far.
  public var position: Int64 { bytes.position }

  /// Appends a text.
  public func write(_ text: String) throws(FerryError) { try bytes.write(Array(text.utf8)) }

  /// Ends the text and makes it the object's value; the object is pending afterwards.
  public func close() throws(FerryError) { try bytes.close() }

  /// Discards the written text; the object keeps its value.
  public func discard() { bytes.discard() }
}

extension BigValue {
  func openForWrite(length: Int64?) throws(FerryError) -> BigWriter {
    let place = try place
    try checkChangeable(place)
    let store = try store
    return BigWriter(Contents(store), declared: length, shown: shown) {
      draft, reference throws(FerryError) in
      try place.keep(reference, draft: draft, in: store)
    }
  }

  func write(_ body: (BigWriter) throws(FerryError) -> Void) throws(FerryError) {
    let writer = try openForWrite(length: nil)
    do throws(FerryError) {
      try body(writer)
      try writer.close()
    } catch {
      writer.discard()
      throw error
    }
  }

  func copy(from path: String) throws(FerryError) {
    let pieceBytes = try contents.pieceBytes
    let file: PlainFile
    do { file = try PlainFile.reading(path) } catch { throw failure(error) }
    try write { writer throws(FerryError) in
      while true {
        let bytes: [UInt8]
        do { bytes = try file.read(upTo: pieceBytes) } catch {
          throw self.failure(error)
        }
        guard !bytes.isEmpty else { return }
        try writer.write(bytes)
      }
    }
  }

  func setNull() throws(FerryError) {
    let place = try place
    try checkChangeable(place)
    try place.keep(nil, draft: nil, in: store)
  }

  /// The model allows updates, or the object's create waits and takes the value along.
  private func checkChangeable(_ place: ContentPlace) throws(FerryError) {
    guard !entity.operations.contains(.update), !entity.isClientOnly else { return }
    let store = try store
    let isOpenCreate = try store.read { connection throws(SQLiteError) in
      try OperationTable(store, connection).of(self.entity, place.object).last
        .map(\.isOpenCreate) ?? false
    }
    guard isOpenCreate else {
      throw FerryError(
        .operationNotAllowed, "the model allows no update of \(entity.name)",
        hint:
          "Save the object and write \(attribute.name) in one transaction, or add the operation.",
        entity: entity.name, attribute: attribute.name)
    }
  }
}

extension ContentPlace {
  /// Makes a content the value of its attribute and the change a pending one, in one transaction.
  fileprivate func keep(
    _ reference: BigReference?, draft: Int64?, in store: Store
  ) throws(FerryError) {
    try store.withTransaction { transaction throws(FerryError) in
      let row = try transaction.sql { connection throws(SQLiteError) -> VisibleRow? in
        if let draft, let reference { try Contents.finish(draft, as: reference, connection) }
        return try store.rows(of: entity).visible(connection, object: object)
      }
      guard let row else {
        throw FerryError(
          .objectNotFound, "the \(entity.name) to write to is no longer on the device",
          hint: "It was deleted, here or by another user.", entity: entity.name)
      }
      var after = row.values
      after[position] = reference.map { .text($0.description) } ?? .null
      let change = LocalChange(
        entity: entity, kind: .update, object: object, seen: row.values, after: after)
      _ = try Outbox(store).save(change, nil)
      try transaction.sql { connection throws(SQLiteError) in
        try Contents(store).sweep(connection)
      }
    }
  }
}
