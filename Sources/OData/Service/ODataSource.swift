import FerryOData
import FerryODataAddress

/// Where the entities of a service come from, as one caller sees them.
///
/// It gives rows in an order of its own that never changes, finds them by key, and writes. What it
/// does not do of a query the service does over the rows, up to its limits.
package protocol ODataSource: Sendable {
  /// Which parts of a query `page` does itself; the service does the others.
  func parts(of query: ODataSourceQuery) -> ODataQueryParts
  /// Rows behind a position, at most `count`. Positions grow with the order of the rows, by their bytes.
  func page(
    _ query: ODataSourceQuery, after position: String?, count: Int
  ) async throws(ODataRefusal) -> ODataSourcePage
  /// The entity with this key; nil where there is none that the caller may see.
  func entry(
    _ set: EdmEntitySet, key: ODataProperties
  ) async throws(ODataRefusal) -> ODataEntry?
  /// For each entry the entities that a navigation property leads to. Throws where more than `limit`
  /// rows would have to be looked at.
  func related(
    _ entries: [ODataEntry], of set: EdmEntitySet, by navigation: EdmNavigationProperty, limit: Int
  ) async throws(ODataRefusal) -> [[ODataEntry]]
  /// Entities by their keys, in the same order; nil for each that the caller may not see.
  func entries(
    _ set: EdmEntitySet, keys: [ODataProperties]
  ) async throws(ODataRefusal) -> [ODataEntry?]
  /// A token from which the changes of a set can be asked for later, by this caller and for this query
  /// alone; nil where they cannot be followed.
  func mark(_ set: EdmEntitySet, query: String) async throws(ODataRefusal) -> String?
  /// What was changed since a token was given. At most `limit` changes are looked at.
  func changes(
    _ set: EdmEntitySet, query: String, since mark: String, limit: Int
  ) async throws(ODataRefusal) -> ODataSourceChanges
  /// Makes, changes or deletes an entity.
  func write(_ write: ODataWrite) async throws(ODataRefusal) -> ODataWriteResult
  /// Does several writes together or none of them, with a result for each. A refusal is that of all.
  func write(_ writes: [ODataWrite]) async throws(ODataRefusal) -> [ODataWriteResult]
  /// What became of an earlier write with the `requestID` of this one; nil where there was none.
  /// Throws 412 where that one was another.
  func repeated(_ write: ODataWrite) async throws(ODataRefusal) -> ODataRepetition?
  /// What became of a write that was answered with `pending`.
  func result(of pending: String) async throws(ODataRefusal) -> ODataWriteResult
}

/// What is asked of a set.
package struct ODataSourceQuery: Sendable {
  package var set: EdmEntitySet
  package var filter: ODataExpression?
  package var orderBy: [ODataOrder]

  package init(_ set: EdmEntitySet, filter: ODataExpression? = nil, orderBy: [ODataOrder] = []) {
    self.set = set
    self.filter = filter
    self.orderBy = orderBy
  }
}

/// Parts of a query that a source can do.
package struct ODataQueryParts: OptionSet, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Only rows for which the condition holds come.
  package static let filter = ODataQueryParts(rawValue: 1)
  /// The rows come in the order that is asked for.
  package static let order = ODataQueryParts(rawValue: 2)
}

/// A row with its place among the others.
package struct ODataSourceRow: Sendable {
  /// With type, ETag and properties; links are made by the service.
  package var entry: ODataEntry
  package var position: String

  package init(_ entry: ODataEntry, position: String) {
    self.entry = entry
    self.position = position
  }
}

/// Some rows of a set.
package struct ODataSourcePage: Sendable {
  package var rows: [ODataSourceRow]
  /// Whether none is behind them.
  package var isLast: Bool

  package init(_ rows: [ODataSourceRow], isLast: Bool) {
    self.rows = rows
    self.isLast = isLast
  }
}

/// What was changed in a set.
package enum ODataSourceChanges: Sendable {
  /// Keys of entities that were made, changed or deleted, and the token for what comes later.
  case changed([ODataProperties], mark: String)
  /// Nobody can say it, for this reason: the client has to read the set again.
  case lost(String)
}

/// A change that is asked for.
package struct ODataWrite: Sendable {
  /// What is to be done with an entity.
  package enum Kind: Sendable, Hashable {
    case create
    /// Only what is named changes.
    case update
    /// What is not named gets its default.
    case replace
    case delete
  }

  /// What the client knows of the entity that it changes.
  package enum Condition: Sendable, Hashable {
    /// One of these ETags, as they were sent.
    case tags([String])
    /// `*`: whatever it is.
    case any
    /// None is needed, as for an entity that is new.
    case none
  }

  package var kind: Kind
  package var set: EdmEntitySet
  /// Of the entity; empty for one that is new and is posted to its set.
  package var key: ODataProperties
  package var properties: ODataProperties
  package var condition: Condition
  /// The client's own name of the request: the same one is done once.
  package var requestID: String?
  /// When the client sent the request for the first time, as it was written.
  package var firstSent: String?
  /// How long the answer may be waited for; nil: as long as the source thinks right.
  package var patience: Duration?

  package init(_ kind: Kind, _ set: EdmEntitySet) {
    self.kind = kind
    self.set = set
    key = [:]
    properties = [:]
    condition = .none
  }
}

/// What became of a write.
package enum ODataWriteResult: Sendable {
  /// It is done. The entity as it is now; nil where it was deleted, or the caller may not see it.
  case done(ODataEntry?, key: ODataProperties)
  /// It is stored and not done yet; the text names it.
  case pending(String)
}

/// What became of a write that is sent once more.
package struct ODataRepetition: Sendable {
  package var result: ODataWriteResult
  /// Whether it has made an entity.
  package var isCreated: Bool

  package init(_ result: ODataWriteResult, isCreated: Bool) {
    self.result = result
    self.isCreated = isCreated
  }
}
