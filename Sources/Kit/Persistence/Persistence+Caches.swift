/// A cache that can be stored as a whole: one of the kit, or one of the app.
public protocol StorableCache {
  /// The name under which the cache is stored when the caller gives none; it must not change.
  var uniqueID: String { get }
  /// Hands over all parts in the order in which they are to come back: first what the others need.
  func storeParts(_ store: (CachePart) throws -> Void) throws
  /// Takes one part of a stored cache. `.finished` comes last, exactly once.
  func loadPart(_ part: CachePart) throws
}

/// A part of a stored cache.
public enum CachePart: Sendable, Equatable {
  /// What describes the rest: service document and schema.
  case serviceDocument([UInt8])
  /// A batch of entries.
  case entries([UInt8])
  /// All parts were handed over.
  case finished

  fileprivate var encoded: [UInt8] {
    let (kind, content): (UInt8, [UInt8]) =
      switch self {
      case .finished: (0, [])
      case .serviceDocument(let bytes): (1, bytes)
      case .entries(let bytes): (2, bytes)
      }
    var bytes: [UInt8] = [kind]
    bytes.append(number: UInt64(content.count))
    return bytes + content
  }
}

/// Caches by name.
extension Persistence {
  /// Stores a whole cache under a name, or under its own unique id, and returns the name. An error
  /// of the cache is thrown unchanged; then the earlier stored cache is kept.
  @discardableResult
  public func storeCache(_ cache: some StorableCache, key: String? = nil) throws -> String {
    let key = key ?? cache.uniqueID
    let writer = try StoredStreamWriter(self, try draft(key, .cache))
    try cache.storeParts { try writer.write($0.encoded) }
    try writer.write(CachePart.finished.encoded)
    try writer.close()
    return key
  }

  /// Fills a cache from the stored one, part by part; false when there is none under this name.
  ///
  /// The cache gets each part as soon as it is read. If a later part is damaged, the cache has
  /// received the earlier parts, and never `.finished`. An error of the cache is thrown unchanged.
  public func loadCache(_ key: String, into cache: some StorableCache) throws -> Bool {
    guard let stream = try stream(key, .cache) else { return false }
    while true {
      let head = try stream.read(9)
      let damaged = PersistenceError(.damaged, "the cache \(key) is damaged")
      guard head.count == 9 else { throw damaged }
      let count = Int(clamping: head[1...].number(UInt64.self))
      guard count <= stream.fileBytes else { throw damaged }
      let content = count > 0 ? try stream.read(count) : []
      guard content.count == count else { throw damaged }
      switch head[0] {
      case 0:
        guard try stream.read(1).isEmpty else { throw damaged }
        try cache.loadPart(.finished)
        return true
      case 1: try cache.loadPart(.serviceDocument(content))
      case 2: try cache.loadPart(.entries(content))
      default: throw damaged
      }
    }
  }

  /// Removes a stored cache; false when there was none.
  @discardableResult
  public func removeCache(_ key: String) throws(PersistenceError) -> Bool { try removeData(key) }
}
