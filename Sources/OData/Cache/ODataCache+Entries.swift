import FerryOData
import FerryODataAddress

/// A snapshot of entries of a cache. Each entry is decoded when it is read.
public struct ODataCachedEntries: RandomAccessCollection, Sendable {
  private let table: EntryTable?
  private let slots: [Int32]

  init(_ table: EntryTable?, _ slots: [Int32]) {
    self.table = table
    self.slots = slots
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { slots.count }

  /// The entry at a position, decoded again with each call.
  public subscript(position: Int) -> ODataEntry {
    guard let table else { preconditionFailure("no entry at \(position)") }
    return table.entry(Int(slots[position]))
  }
}

/// Entries by collection.
extension ODataCache {
  /// Sets an entry in a collection; an entry with the same id is replaced and keeps its place.
  ///
  /// `.noServiceDocument` without a service document; `.foreign` if the service has no such
  /// collection, or the entry has a type that does not belong there; `.noID` for an entry without
  /// an id; `.tooDeep` for entries nested 100 levels deep. After an error nothing was changed.
  public func setEntry(
    _ entry: ODataEntry, collection: String
  ) throws(ODataCacheError) {
    try setEntries(CollectionOfOne(entry), collection: collection)
  }

  /// Sets entries in a collection; entries with the same ids are replaced, others stay. Throws as
  /// `setEntry`, before any entry is set. Only `.tooDeep` leaves the entries before it set.
  public func setEntries(
    _ entries: some Sequence<ODataEntry>, collection: String
  ) throws(ODataCacheError) {
    let entries = Array(entries)
    try state.withLock { (state) throws(ODataCacheError) in
      guard let document = state.document else {
        throw ODataCacheError(
          .noServiceDocument, "an entry of \(collection) was added before the service document")
      }
      guard let found = state.collection(collection) else {
        throw ODataCacheError(.foreign, "the service has no collection \(collection)")
      }
      for entry in entries { try check(entry, found, document) }
      // Not the whole state: whoever holds a second copy of the table makes each change copy it.
      let limits = state.limits
      try state.change(collection) { (table) throws(ODataCacheError) in
        for entry in entries {
          try table.set(entry)
          limits.evict(&table, keeping: entry.id)
        }
      }
    }
  }

  private func check(
    _ entry: ODataEntry, _ collection: ODataCollection, _ document: ODataServiceDocument
  ) throws(ODataCacheError) {
    guard let id = entry.id, !id.isEmpty else {
      throw ODataCacheError(.noID, "an entry of \(collection.name) has no id")
    }
    guard let schema = collection.entitySchema, let metadata = document.metadata else { return }
    if let type = entry.type, metadata.resolve(type) != metadata.resolve(schema.type),
      !metadata.isType(type, derivedFrom: schema.type)
    {
      throw ODataCacheError(
        .foreign,
        "an entry of the type \(type) does not belong in \(collection.name), which holds "
          + schema.type)
    }
    guard let type = metadata.entityType(entry.type ?? schema.type), !metadata.isOpen(type) else {
      return
    }
    for name in entry.properties.names where metadata.property(name, of: type) == nil {
      throw ODataCacheError(
        .foreign, "\(type.name) of \(collection.name) has no property \(name)")
    }
  }

  /// The entry with this id, which counts as used; nil if there is none.
  public func entry(_ id: String, collection: String) -> ODataEntry? {
    state.withLock { state in
      guard let slot = state.tables[collection]?.slot(id) else { return nil }
      state.tables[collection]?.touch(slot)
      return state.tables[collection]?.entry(slot)
    }
  }

  /// All entries of a collection in the order in which they were set first.
  public func entries(collection: String) -> ODataCachedEntries {
    state.withLock { state in
      ODataCachedEntries(state.tables[collection], state.tables[collection]?.liveSlots ?? [])
    }
  }

  /// How many entries a collection has, pinned ones included.
  public func count(collection: String) -> Int {
    state.withLock { $0.tables[collection]?.count ?? 0 }
  }

  /// Removes an entry, pinned or not; false when there was none.
  @discardableResult
  public func removeEntry(_ id: String, collection: String) -> Bool {
    state.withLock { state in
      guard let slot = state.tables[collection]?.slot(id) else { return false }
      state.last[collection] = nil
      state.tables[collection]?.remove(slot)
      return true
    }
  }

  /// Removes all entries of a collection; false when there were none.
  @discardableResult
  public func removeEntries(collection: String) -> Bool {
    state.withLock { state in
      state.last[collection] = nil
      return (state.tables.removeValue(forKey: collection)?.count ?? 0) > 0
    }
  }

  /// Pins an entry, so that limits never remove it, or unpins it; false if there is none with this
  /// id. Pinned entries do not count towards the limits.
  @discardableResult
  public func setPinned(_ isPinned: Bool, _ id: String, collection: String) -> Bool {
    state.withLock { state in
      guard let slot = state.tables[collection]?.slot(id) else { return false }
      state.tables[collection]?.pin(slot, isPinned)
      if !isPinned {
        let limits = state.limits
        state.last[collection] = nil
        limits.evict(&state.tables[collection, default: EntryTable(fields: .texts)], keeping: id)
      }
      return true
    }
  }

  /// The entries of a collection that match a query: filter, order, skip and top, computed in
  /// memory.
  ///
  /// `.condition` if only the service can compute the query; the message says why.
  public func entries(
    collection: String, _ options: ODataQueryOptions, _ evaluator: ODataEvaluator? = nil
  ) throws(ODataCacheError) -> [ODataEntry] {
    let all = Array(entries(collection: collection))
    let evaluator = evaluator ?? ODataEvaluator(metadata: serviceDocument?.metadata)
    do throws(ODataError) {
      return try evaluator.apply(options, to: all).entries
    } catch {
      throw ODataCacheError(.condition, "the query on \(collection) failed: \(error)")
    }
  }
}
