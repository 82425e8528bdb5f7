import FerryModel
import FerrySQLite
public import FerryWorld

/// A moment in milliseconds since 1970, under the name by which an app finds it with Ferry alone;
/// `Date(moment)` and `Timestamp(date)` lead to Foundation and back.
public typealias Timestamp = FerryWorld.Timestamp

// What the reference asks of a synchronization group by its name in the model (facts/1.4). A name
// that the model does not have is `invalidQuery`.

extension Database {
  /// Whether a first import of this synchronization group is complete.
  public func isSynchronized(group: String) throws(FerryError) -> Bool {
    try checkpoint("SELECT 1 FROM ferry_checkpoint WHERE grp = ? AND era IS NOT NULL", group) != nil
  }

  /// When the last checkpoint of this group was imported, by the device's clock; nil before the first
  /// (facts/1.4). From then on the device shows what the server had at that moment, or later.
  public func lastSynchronizationTime(group: String) throws(FerryError) -> Timestamp? {
    try checkpoint("SELECT imported FROM ferry_checkpoint WHERE grp = ?", group)?.integer
      .map(Timestamp.init(milliseconds:))
  }

  /// Submits everything that is pending of the entities of one group (facts/1.4), as
  /// `submitPendingOperations()` does of all: what cannot be sent holds up nothing else.
  public func submitPendingOperations(group: String) throws(FerryError) {
    try Outbox(store).submitAll(try entities(of: group))
  }

  /// Cancels everything that is pending of the entities of one group (facts/1.4), in transactions of
  /// a thousand objects.
  public func cancelPendingOperations(group: String) throws(FerryError) {
    try Outbox(store).cancelAll(try entities(of: group))
  }

  /// Whether nothing that was submitted waits to be sent or to be answered (facts/1.4). What is
  /// pending and was not submitted is not in the queue, see `hasPendingOperations`.
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
    try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.rows(question, parameters).first?.first
      }
    }
  }
}
