import FerryCrypto
import FerryWorld

/// Bytes and streams by name.
extension Persistence {
  /// A file that is being written beside the one that it will replace.
  struct Draft {
    let name: String
    let place: Place
    let path: String
    let file: any FileWriter
    let form: BlockForm
  }

  func draft(_ name: String, _ kind: BlockForm.Kind) throws(PersistenceError) -> Draft {
    guard !name.isEmpty else {
      throw PersistenceError(.invalidArgument, "the name for the data is empty")
    }
    let place = now
    let path =
      "\(place.folder)/\(place.keys.fileName(name)).\(hexadecimal(randomBytes(8))).\(sessionName).new"
    let file = try writing { () throws(FileError) in try files.create(path) }
    return Draft(
      name: name, place: place, path: path, file: file,
      form: BlockForm(kind, name: name, keys: place.keys))
  }

  func commit(_ draft: Draft) throws(PersistenceError) {
    try writing { () throws(FileError) in try draft.file.finish() }
    try exclusively(draft.place.folder) { () throws(PersistenceError) in
      try checkUnchanged(draft.place)
      let target = "\(draft.place.folder)/\(draft.place.keys.fileName(draft.name))"
      try writing { () throws(FileError) in try files.move(draft.path, to: target) }
    }
  }

  func discard(_ draft: Draft) { _ = try? files.remove(draft.path) }

  func store(
    _ bytes: [UInt8], _ name: String, _ kind: BlockForm.Kind
  ) throws(PersistenceError) {
    let writer = try StoredStreamWriter(self, try draft(name, kind))
    try writer.write(bytes)
    try writer.close()
  }

  /// nil when there is nothing with this name; `.dataType` when it is of another kind.
  func stream(_ name: String, _ kind: BlockForm.Kind) throws(PersistenceError) -> StoredStream? {
    let place = now
    let path = "\(place.folder)/\(place.keys.fileName(name))"
    guard let file = try reading({ () throws(FileError) in try files.open(path) }) else {
      try checkUnchanged(place)
      return nil
    }
    let stream: StoredStream
    do throws(PersistenceError) {
      stream = try StoredStream(file, name: name, keys: place.keys)
    } catch {
      try checkUnchanged(place)
      throw error
    }
    guard stream.kind == kind else {
      throw PersistenceError(
        .dataType, "\(name) holds data of the kind \(stream.kind), not \(kind)")
    }
    return stream
  }

  /// Stores bytes under a name, or under a fresh one when `id` is nil, and returns the name. What
  /// had the name before is replaced.
  @discardableResult
  public func storeData(
    _ bytes: [UInt8], id: String? = nil
  ) throws(PersistenceError) -> String {
    let id = id ?? hexadecimal(randomBytes(16))
    try store(bytes, id, .raw)
    return id
  }

  /// The bytes with this name; nil when there are none. `.damaged` when they are not those that
  /// were stored.
  public func loadData(_ id: String) throws(PersistenceError) -> [UInt8]? {
    try stream(id, .raw)?.rest()
  }

  /// Stores what `next` gives, piece by piece, until it gives nil. When it throws, its error is
  /// thrown and what had the name stays. Of any size; 64 KB are in memory beside the piece.
  public func storeDataStream(_ name: String, _ next: () throws -> [UInt8]?) throws {
    let writer = try openForWriting(name)
    while let bytes = try next() { try writer.write(bytes) }
    try writer.close()
  }

  /// A stream to write what is to be stored under a name. Only `close` stores it.
  public func openForWriting(_ name: String) throws(PersistenceError) -> StoredStreamWriter {
    try StoredStreamWriter(self, try draft(name, .raw))
  }

  /// What is stored under a name as bytes or stream, to be read piece by piece; nil when there is
  /// nothing.
  public func loadDataStream(_ name: String) throws(PersistenceError) -> StoredStream? {
    try stream(name, .raw)
  }

  /// Whether anything is stored under a name, of whatever kind, damaged or not.
  public func isDataPersisted(_ name: String) throws(PersistenceError) -> Bool {
    let place = now
    let path = "\(place.folder)/\(place.keys.fileName(name))"
    if try reading({ () throws(FileError) in try files.open(path) }) != nil { return true }
    try checkUnchanged(place)
    return false
  }

  /// Removes what is stored under a name, of whatever kind, damaged or not; false when there was
  /// nothing.
  @discardableResult
  public func removeData(_ name: String) throws(PersistenceError) -> Bool {
    let place = now
    return try exclusively(place.folder) { () throws(PersistenceError) in
      try checkUnchanged(place)
      return try writing { () throws(FileError) in
        try files.remove("\(place.folder)/\(place.keys.fileName(name))")
      }
    }
  }
}
