import FerryOData
import FerryPersistence

/// Receives the progress while a stored cache is loaded, on the thread that loads it.
public protocol ODataCacheLoadListener {
  /// The service document is there, with its metadata where there is some.
  func serviceDocumentLoaded(_ cache: ODataCache, _ document: ODataServiceDocument)
  /// A batch of entries is in the cache.
  func entriesLoaded(_ cache: ODataCache, collection: String, _ entries: [ODataEntry])
  /// Everything is there. Told once, and not at all when loading failed.
  func loadFinished(_ cache: ODataCache)
}

extension ODataCache {
  private static let formVersion: UInt64 = 1
  /// How many entries, or bytes of them, are stored and loaded in one go.
  private static let batchCount = 512
  private static let batchBytes = 256 << 10

  /// Stores the whole cache under a name, or under its unique id, and returns the name. Throws
  /// `.notStorable`, and the errors of the persistence. Blocks its thread for the disk.
  @discardableResult
  public func store(in persistence: Persistence, key: String? = nil) throws -> String {
    try persistence.storeCache(CacheParts(cache: self, listener: nil), key: key)
  }

  /// Fills the cache from the cache that is stored under a name, or under its unique id. If there
  /// is none, it returns false and changes nothing.
  ///
  /// The present content of the cache is removed. All references between the documents are
  /// restored. If a part is damaged, its error is thrown, and the cache holds the parts before it.
  /// Blocks its thread for the disk.
  @discardableResult
  public func load(
    from persistence: Persistence, key: String? = nil,
    listener: (any ODataCacheLoadListener)? = nil
  ) throws -> Bool {
    try persistence.loadCache(
      key ?? uniqueID, into: CacheParts(cache: self, listener: listener))
  }

  /// Whether the cache is saved at a memory warning of the system; off by default. Call `savesTo`
  /// first.
  public var shouldAutoSaveOnMemoryWarning: Bool {
    get { state.withLock { $0.savesOnMemoryWarning } }
    set { state.withLock { $0.savesOnMemoryWarning = newValue } }
  }

  /// Sets where a memory warning saves the cache; nil is nowhere.
  public func savesTo(_ persistence: Persistence?, key: String? = nil) {
    var save: (@Sendable () throws -> Void)?
    if let persistence {
      save = { [weak self] in
        _ = try self?.store(in: persistence, key: key)
      }
    }
    let made = save
    state.withLock { $0.autoSave = made }
  }

  /// Call it when the system is short of memory. Saves the cache if this was switched on, and
  /// returns whether it did. Throws as `store`.
  @discardableResult
  public func handleMemoryWarning() throws -> Bool {
    let save = state.withLock { $0.savesOnMemoryWarning ? $0.autoSave : nil }
    try save?()
    return save != nil
  }

  func storeParts(_ store: (CachePart) throws -> Void) throws {
    let picture = state.withLock { $0 }
    guard let sources = picture.sources else {
      throw ODataCacheError(
        .notStorable, "cache \(uniqueID) does not have the bytes of its service document")
    }
    var head = CacheWriter()
    head.number(ODataCache.formVersion)
    head.piece(sources.document)
    head.bytes.append(sources.metadata == nil ? 0 : 1)
    if let metadata = sources.metadata { head.piece(metadata) }
    head.number(picture.documents.count)
    for (key, document) in picture.documents.sorted(by: { $0.key < $1.key }) {
      head.text(key)
      head.piece(document.source)
    }
    try store(.serviceDocument(head.bytes))
    for (name, table) in picture.tables.sorted(by: { $0.key < $1.key }) {
      try storeEntries(name, table, store)
    }
  }

  /// In batches, each with the names that its entries are written with.
  private func storeEntries(
    _ name: String, _ table: EntryTable, _ store: (CachePart) throws -> Void
  ) throws {
    let slots = table.liveSlots
    var place = 0
    while place < slots.count {
      var body = CacheWriter()
      var count = 0
      while place < slots.count, count < ODataCache.batchCount,
        body.bytes.count < ODataCache.batchBytes
      {
        let slot = Int(slots[place])
        body.bytes.append(table.isPinned(slot) ? 1 : 0)
        body.piece(table.bytes(slot))
        count += 1
        place += 1
      }
      var head = CacheWriter()
      head.text(name)
      head.number(table.names.names.count)
      for name in table.names.names { head.text(name) }
      head.number(count)
      try store(.entries(head.bytes + body.bytes))
    }
  }

  func loadPart(
    _ part: CachePart, _ listener: (any ODataCacheLoadListener)?
  ) throws {
    switch part {
    case .serviceDocument(let bytes):
      try loadHead(bytes)
      if let document = serviceDocument { listener?.serviceDocumentLoaded(self, document) }
    case .entries(let bytes):
      let (collection, entries) = try loadEntries(bytes)
      listener?.entriesLoaded(self, collection: collection, entries)
    case .finished: listener?.loadFinished(self)
    }
  }

  private var damaged: ODataCacheError {
    ODataCacheError(.damaged, "the stored bytes of cache \(uniqueID) are damaged")
  }

  private func loadHead(_ bytes: [UInt8]) throws {
    var parts: (document: [UInt8], metadata: [UInt8]?, documents: [(String, [UInt8])])?
    let version = bytes.withUnsafeBufferPointer { bytes -> UInt64? in
      var reader = CacheReader(bytes)
      guard let version = try? reader.number() else { return nil }
      guard version == ODataCache.formVersion else { return version }
      parts = try? {
        let document = try reader.piece()
        let metadata = try reader.byte() == 1 ? try reader.piece() : nil
        var documents: [(String, [UInt8])] = []
        for _ in 0..<(try reader.count()) {
          let key = try reader.text()
          documents.append((key, try reader.piece()))
        }
        guard reader.isAtEnd else { throw CacheReader.Damage() }
        return (document, metadata, documents)
      }()
      return version
    }
    guard version == nil || version == ODataCache.formVersion else {
      throw ODataCacheError(
        .damaged, "cache \(uniqueID) has a form that this version cannot read")
    }
    guard let parts else { throw damaged }
    clear()
    try setServiceDocument(parts.document, metadata: parts.metadata)
    for (key, source) in parts.documents {
      setDocument(try ODataXMLDocument(source), key: key)
    }
  }

  private func loadEntries(_ bytes: [UInt8]) throws -> (String, [ODataEntry]) {
    let read = bytes.withUnsafeBufferPointer { bytes in
      try? {
        var reader = CacheReader(bytes)
        let collection = try reader.text()
        var names: [String] = []
        for _ in 0..<(try reader.count()) { names.append(try reader.text()) }
        var records: [(isPinned: Bool, bytes: [UInt8])] = []
        for _ in 0..<(try reader.count()) {
          let isPinned = try reader.byte() == 1
          records.append((isPinned, try reader.piece()))
        }
        guard reader.isAtEnd else { throw CacheReader.Damage() }
        return (collection, names, records)
      }()
    }
    guard let (collection, names, records) = read else { throw damaged }
    let damaged = damaged
    let entries = try state.withLock { (state) throws(ODataCacheError) in
      guard state.collection(collection) != nil else { throw damaged }
      let limits = state.limits
      return try state.change(collection) { (table) throws(ODataCacheError) in
        guard table.load(names: names) else { throw damaged }
        var entries: [ODataEntry] = []
        for record in records {
          guard let entry = table.load(record.bytes, isPinned: record.isPinned) else {
            throw damaged
          }
          entries.append(entry)
          limits.evict(&table, keeping: entry.id)
        }
        return entries
      }
    }
    return (collection, entries)
  }
}

/// The cache as a persistence stores it.
private struct CacheParts: StorableCache {
  let cache: ODataCache
  let listener: (any ODataCacheLoadListener)?

  var uniqueID: String { cache.uniqueID }
  func storeParts(_ store: (CachePart) throws -> Void) throws { try cache.storeParts(store) }
  func loadPart(_ part: CachePart) throws { try cache.loadPart(part, listener) }
}
