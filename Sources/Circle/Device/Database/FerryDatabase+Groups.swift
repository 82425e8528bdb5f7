import FerryModel
import FerrySQLite
public import FerryWorld

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A moment in milliseconds since 1970. This alias lets an app use the type with `import Ferry`
/// alone; `Date(moment)` and `Timestamp(date)` convert to and from Foundation.
public typealias Timestamp = FerryWorld.Timestamp

// What the reference asks of a synchronization group by its name in the model (facts/1.4). A name
// that the model does not have is `invalidQuery`.

extension FerryDatabase {
  /// Whether a first import of this synchronization group is complete.
  public func isSynchronized(group: String) throws(FerryError) -> Bool {
    try checkpoint("SELECT 1 FROM ferry_checkpoint WHERE grp = ? AND era IS NOT NULL", group) != nil
  }

  /// When the last checkpoint of this group was imported, by the device's clock; nil before the
  /// first import. Since then the device shows the server's data of that moment or a later one.
  public func lastSynchronizationTime(group: String) throws(FerryError) -> Date? {
    try lastImport(of: group).map { Date($0) }
  }

  /// When the last checkpoint of this group was imported.
  func lastImport(of group: String) throws(FerryError) -> Timestamp? {
    try checkpoint("SELECT imported FROM ferry_checkpoint WHERE grp = ?", group)?.integer
      .map(Timestamp.init(milliseconds:))
  }

  /// Submits all pending changes of the entities of one group, as `submitPendingOperations()` does
  /// for all: a change that cannot be sent does not stop the others.
  public func submitPendingOperations(group: String) throws(FerryError) {
    try Outbox(store).submitAll(try entities(of: group))
  }

  /// Cancels all pending changes of the entities of one group, in transactions of a thousand
  /// objects.
  public func cancelPendingOperations(group: String) throws(FerryError) {
    try Outbox(store).cancelAll(try entities(of: group))
  }

  /// Whether no submitted change waits to be sent or answered. Pending changes that were not
  /// submitted are not in the queue; see `hasPendingOperations`.
  public var isReplayQueueEmpty: Bool {
    get throws(FerryError) {
      try value(
        """
        SELECT 1 FROM ferry_operation
        WHERE state IN ('submitted', 'unknown', 'withdrawn') OR wanted > 0 LIMIT 1
        """) == nil
    }
  }

  private func entities(of group: String) throws(FerryError) -> [Entity] {
    let groups = store.model.groups.map(\.name)
    guard groups.contains(group) else {
      throw FerryError(
        .invalidQuery, "\(store.model.id) has no synchronization group \(group)",
        hint: NearestWord.cure(group, among: groups))
    }
    return store.model.entities.filter { $0.group == group }
  }

  private func checkpoint(
    _ question: String, _ group: String
  ) throws(FerryError) -> SQLiteValue? {
    _ = try entities(of: group)
    return try value(question, .text(group))
  }

  private func value(
    _ question: String, _ parameters: SQLiteValue...
  ) throws(FerryError) -> SQLiteValue? {
    try store.read { connection throws(SQLiteError) in
      try connection.rows(question, parameters).first?.first
    }
  }
}
