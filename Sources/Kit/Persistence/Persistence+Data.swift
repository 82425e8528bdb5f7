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

  /// Stores bytes under a name, or under a new name when `id` is nil, and returns the name. It
  /// replaces earlier data with this name.
  @discardableResult
  public func storeData(
    _ bytes: [UInt8], id: String? = nil
  ) throws(PersistenceError) -> String {
    let id = id ?? hexadecimal(randomBytes(16))
    try store(bytes, id, .raw)
    return id
  }

  /// The bytes with this name; nil when there are none. `.damaged` when they are damaged or were
  /// changed.
  public func loadData(_ id: String) throws(PersistenceError) -> [UInt8]? {
    try stream(id, .raw)?.rest()
  }

  /// Stores the pieces that `next` returns, until it returns nil. If `next` throws, its error is
  /// thrown and the earlier data with this name is kept. Of any size; memory holds one piece and 64
  /// KB.
  public func storeDataStream(_ name: String, _ next: () throws -> [UInt8]?) throws {
    let writer = try openForWriting(name)
    while let bytes = try next() { try writer.write(bytes) }
    try writer.close()
  }

  /// A stream that stores data under a name. Nothing is stored before `close`.
  public func openForWriting(_ name: String) throws(PersistenceError) -> StoredStreamWriter {
    try StoredStreamWriter(self, try draft(name, .raw))
  }

  /// Reads the bytes or stream with this name piece by piece; nil when there is none.
  public func loadDataStream(_ name: String) throws(PersistenceError) -> StoredStream? {
    try stream(name, .raw)
  }

  /// Whether data of any kind is stored under a name, even if it is damaged.
  public func isDataPersisted(_ name: String) throws(PersistenceError) -> Bool {
    let place = now
    let path = "\(place.folder)/\(place.keys.fileName(name))"
    if try reading({ () throws(FileError) in try files.open(path) }) != nil { return true }
    try checkUnchanged(place)
    return false
  }

  /// Removes the data with a name, of any kind, even if it is damaged; false when there was none.
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
