import FerryOData
import Synchronization

/// The documents of one service in memory: its service document with the metadata, and entries by
/// collection. Entries are found by id or by search.
///
/// An entry is kept as bytes and decoded each time it is read. All calls may be made from any
/// thread. They use neither network nor disk, unless their comment says so. This is the cache of an
/// app; the server's cache is another one.
public final class ODataCache: Sendable {
  /// The name under which a persistence stores the cache.
  public let uniqueID: String
  let state: Mutex<State>

  /// What the cache holds.
  struct State: Sendable {
    var document: ODataServiceDocument?
    var sources: Sources?
    var tables: [String: EntryTable] = [:]
    var documents: [String: ODataXMLDocument] = [:]
    var limits = CacheLimits()
    var algorithm = ODataSearchAlgorithm.tokenizedPrefix
    var search: (any ODataEntrySearch)?
    var last: [String: LastSearch] = [:]
    var autoSave: (@Sendable () throws -> Void)?
    var savesOnMemoryWarning = false
  }

  /// The bytes from which service document and metadata were read.
  struct Sources: Sendable {
    var document: [UInt8]
    var metadata: [UInt8]?
  }

  /// What was found for a term, so that a longer one is looked for there alone.
  struct LastSearch: Sendable {
    var term: String
    var algorithm: ODataSearchAlgorithm
    var found: [Int32]
  }

  /// An empty cache. Caches with different ids can be stored side by side.
  public init(uniqueID: String = "odata cache") {
    self.uniqueID = uniqueID
    state = Mutex(State())
  }

  /// A cache for the service of this document.
  public convenience init(
    serviceDocument: ODataServiceDocument, uniqueID: String = "odata cache"
  ) {
    self.init(uniqueID: uniqueID)
    state.withLock { $0.document = serviceDocument }
  }

  /// Removes all documents and entries; the limits and the kind of search stay.
  public func clear() {
    state.withLock { state in
      state.document = nil
      state.sources = nil
      state.tables = [:]
      state.documents = [:]
      state.last = [:]
    }
  }

  /// The maximum number of entries of a collection, without pinned ones; 0, the default, is no
  /// limit. Beyond it the least recently used entry is removed. A negative number is a programmer's
  /// error.
  public var capacity: Int {
    get { state.withLock { $0.limits.capacity } }
    set {
      precondition(newValue >= 0, "a capacity of \(newValue)")
      state.withLock { state in
        state.limits.capacity = newValue
        state.evictAll()
      }
    }
  }

  /// The maximum size of a collection's entries in bytes, without pinned ones; 0, the default, is
  /// no limit. The entry that was set last is always kept.
  public var byteLimit: Int {
    get { state.withLock { $0.limits.bytes } }
    set {
      precondition(newValue >= 0, "a limit of \(newValue) bytes")
      state.withLock { state in
        state.limits.bytes = newValue
        state.evictAll()
      }
    }
  }

  /// The memory of the entries in bytes, with the indexes for finding and searching.
  public var memoryBytes: Int {
    state.withLock { $0.tables.values.reduce(0) { $0 + $1.memoryBytes } }
  }

  // The documents of the service.

  public var serviceDocument: ODataServiceDocument? { state.withLock { $0.document } }
  /// The collections with their schemas; nil without metadata.
  public var schema: ODataSchema? { serviceDocument?.schema }

  /// Sets the service document, with its metadata if they are known.
  ///
  /// `.foreign` if the cache has entries of a collection that the document does not have; then
  /// nothing is changed. A cache with a document that was set in this way cannot be stored: that
  /// needs the bytes.
  public func setServiceDocument(_ document: ODataServiceDocument) throws(ODataCacheError) {
    try set(document, nil)
  }

  /// Reads the service document and its metadata, and sets them. Throws as the other form, and
  /// `ODataError` for bytes that are not such documents.
  public func setServiceDocument(_ bytes: [UInt8], metadata: [UInt8]? = nil) throws {
    var document = try ODataServiceDocument.read(bytes)
    if let metadata { document.attach(try EdmMetadata.read(metadata)) }
    try set(document, Sources(document: bytes, metadata: metadata))
  }

  /// Reads metadata and adds them to the service document. `.noServiceDocument` without a service
  /// document; `.foreign` if the cache has entries of a collection that the metadata do not have.
  public func setSchema(_ metadata: [UInt8]) throws {
    let parsed = try EdmMetadata.read(metadata)
    let (document, sources) = state.withLock { ($0.document, $0.sources) }
    guard var document else {
      throw ODataCacheError(
        .noServiceDocument, "metadata was set before the service document it belongs to")
    }
    document.attach(parsed)
    let foreign = state.withLock { state in
      state.tables.keys.sorted().first { parsed.entitySet($0) == nil }
    }
    if let foreign {
      throw ODataCacheError(
        .foreign, "the cache has entries of \(foreign), and the metadata has no such entity set")
    }
    try set(document, sources.map { Sources(document: $0.document, metadata: metadata) })
  }

  private func set(
    _ document: ODataServiceDocument, _ sources: Sources?
  ) throws(ODataCacheError) {
    try state.withLock { (state) throws(ODataCacheError) in
      for name in state.tables.keys.sorted()
      where !document.collections.contains(where: { $0.name == name }) {
        throw ODataCacheError(
          .foreign,
          "the cache has entries of \(name), and the service document has no such collection")
      }
      state.document = document
      state.sources = sources
      state.last = [:]
      for (name, table) in state.tables {
        let fields = SearchFields(state.collection(name)?.entitySchema)
        if table.fields != fields { try state.rebuild(name, fields) }
      }
    }
  }

  /// Removes the service document and all entries; false if there was no service document.
  @discardableResult
  public func removeServiceDocument() -> Bool {
    state.withLock { state in
      defer {
        state.document = nil
        state.sources = nil
        state.tables = [:]
        state.last = [:]
      }
      return state.document != nil
    }
  }

  /// All workspaces of the service document.
  public var workspaces: [ODataWorkspace] { serviceDocument?.workspaces ?? [] }

  /// The workspaces with this semantic.
  public func workspaces(_ semantic: ODataWorkspaceSemantic) -> [ODataWorkspace] {
    workspaces.filter { $0.semantic == semantic }
  }

  /// The collections of the workspaces with this title.
  public func collections(workspace title: String) -> [ODataCollection] {
    workspaces.filter { $0.title == title }.flatMap(\.collections)
  }

  /// The collection with this name, with its schema; nil when there is none.
  public func collection(_ name: String) -> ODataCollection? {
    state.withLock { $0.collection(name) }
  }

  // Documents of any kind, by key.

  /// Keeps a parsed document under a key; it replaces an earlier document with this key.
  public func setDocument(_ document: ODataXMLDocument, key: String) {
    state.withLock { $0.documents[key] = document }
  }

  /// The document with this key; nil when there is none.
  public func document(_ key: String) -> ODataXMLDocument? { state.withLock { $0.documents[key] } }

  /// False when there was none.
  @discardableResult
  public func removeDocument(_ key: String) -> Bool {
    state.withLock { $0.documents.removeValue(forKey: key) != nil }
  }

  /// The keys of all documents, sorted.
  public var documentKeys: [String] { state.withLock { $0.documents.keys.sorted() } }
  /// Removes all documents that were kept by key; entries and service document stay.
  public func removeStoredDocuments() { state.withLock { $0.documents = [:] } }
}

extension ODataCache.State {
  func collection(_ name: String) -> ODataCollection? {
    document?.collections.first { $0.name == name }
  }

  /// Changes the table of a collection in place, without a copy of it.
  mutating func change<Result>(
    _ name: String, _ body: (inout EntryTable) throws(ODataCacheError) -> Result
  ) throws(ODataCacheError) -> Result {
    last[name] = nil
    let fields = SearchFields(collection(name)?.entitySchema)
    return try body(&tables[name, default: EntryTable(fields: fields)])
  }

  mutating func rebuild(_ name: String, _ fields: SearchFields) throws(ODataCacheError) {
    guard let table = tables[name] else { return }
    var next = EntryTable(fields: fields)
    for slot in table.liveSlots.map({ Int($0) }) {
      let entry = table.entry(slot)
      try next.set(entry)
      if table.isPinned(slot), let id = entry.id, let slot = next.slot(id) { next.pin(slot, true) }
    }
    tables[name] = next
  }

  mutating func evictAll() {
    for name in tables.keys {
      last[name] = nil
      limits.evict(&tables[name, default: EntryTable(fields: .texts)], keeping: nil)
    }
  }
}

/// How much a collection may hold; 0 is no bound.
struct CacheLimits: Sendable {
  var capacity = 0
  var bytes = 0

  /// Removes what was not used for longest until the limits hold.
  func evict(_ table: inout EntryTable, keeping id: String?) {
    while (capacity > 0 && table.count - table.pinnedCount > capacity)
      || (bytes > 0 && table.unpinnedBytes > bytes)
    {
      guard table.removeOldest(keeping: id.flatMap { table.slot($0) }) else { return }
    }
  }
}
