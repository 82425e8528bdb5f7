import FerryOData
import FerryODataAddress

/// A search that the app implements.
public protocol ODataEntrySearch: Sendable {
  /// Whether an entry is found for a term. Called on the thread that searches, for one entry after
  /// the other; the cache may be asked and changed meanwhile.
  func matches(_ entry: ODataEntry, term: String, schema: ODataEntitySchema?) -> Bool
}

extension ODataCache {
  /// How `filterEntries` searches; `.tokenizedPrefix` by default. Setting it replaces a search of
  /// the app.
  public var searchAlgorithm: ODataSearchAlgorithm {
    get { state.withLock { $0.algorithm } }
    set {
      state.withLock { state in
        state.algorithm = newValue
        state.search = nil
        state.last = [:]
      }
    }
  }

  /// Whether the term is a regular expression; off by default. False restores the default
  /// algorithm.
  public var isRegexSearchEnabled: Bool {
    get { searchAlgorithm == .regex }
    set { searchAlgorithm = newValue ? .regex : .tokenizedPrefix }
  }

  /// Uses a search of the app instead of the algorithm; nil restores the algorithm.
  public func setEntrySearch(_ search: (any ODataEntrySearch)?) {
    state.withLock { state in
      state.search = search
      state.last = [:]
    }
  }

  /// The entries of a collection that match a term which the user types, in the order in which they
  /// were set first; all entries for an empty term.
  ///
  /// It searches the properties that the metadata names as searchable; if it names none, all texts.
  /// Case, accents and width are ignored, except in a regular expression. Searching does not count
  /// as use. `.pattern` for a term that is not a valid regular expression, or that would take too
  /// long.
  public func filterEntries(
    collection: String, searchText: String
  ) throws(ODataCacheError) -> ODataCachedEntries {
    let (table, algorithm, search, schema) = state.withLock { state in
      (
        state.tables[collection], state.algorithm, state.search,
        state.collection(collection)?.entitySchema
      )
    }
    guard let table else { return ODataCachedEntries(nil, []) }
    if let search {
      let found = table.liveSlots.filter {
        search.matches(table.entry(Int($0)), term: searchText, schema: schema)
      }
      return ODataCachedEntries(table, found)
    }
    if algorithm == .regex { return try matching(searchText, collection, table) }
    return quick(searchText, algorithm, collection)
  }

  private func quick(
    _ text: String, _ algorithm: ODataSearchAlgorithm, _ collection: String
  ) -> ODataCachedEntries {
    let term = SearchTerm(text, algorithm)
    return state.withLock { state in
      guard let table = state.tables[collection] else { return ODataCachedEntries(nil, []) }
      guard !term.isEmpty else { return ODataCachedEntries(table, table.liveSlots) }
      // Whoever types on finds a part of what was found.
      var candidates: [Int32]?
      if let last = state.last[collection], last.algorithm == algorithm, narrows(algorithm),
        text.utf8.starts(with: last.term.utf8)
      {
        candidates = last.found
      }
      let found = table.search(term, among: candidates)
      state.last[collection] = LastSearch(term: text, algorithm: algorithm, found: found)
      return ODataCachedEntries(table, found)
    }
  }

  /// Whether a longer term is found only where a shorter one was. One word more finds more where one
  /// of them is enough.
  private func narrows(_ algorithm: ODataSearchAlgorithm) -> Bool {
    switch algorithm {
    case .tokenizedPrefix, .fullTermPrefix, .fullTermContain, .tokenizedContainAll: true
    case .tokenizedContain, .regex: false
    }
  }

  private func matching(
    _ text: String, _ collection: String, _ table: EntryTable
  ) throws(ODataCacheError) -> ODataCachedEntries {
    do throws(ODataError) {
      let pattern = try ODataPattern(text)
      var found: [Int32] = []
      for slot in table.liveSlots {
        for value in SearchText.values(of: table.entry(Int(slot)), table.fields)
        where try pattern.isFound(in: value) {
          found.append(slot)
          break
        }
      }
      return ODataCachedEntries(table, found)
    } catch {
      throw ODataCacheError(.pattern, "the search in \(collection) failed: \(error)")
    }
  }
}
