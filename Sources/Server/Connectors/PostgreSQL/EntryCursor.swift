/// A place in the entries that triggers write: everything that its snapshot saw is behind it. It is
/// of use only in the database it was made in, and only while that was not set back behind it.
struct EntryCursor: Equatable {
  /// The cluster, its timeline and the database.
  var identity: String
  /// The row in `ferry.mark` that is raised behind each take, and its state then.
  var consumer: String
  var epoch: String
  var number: Int64
  /// Of `pg_current_snapshot()`.
  var snapshot: String
  /// Digests of the tables, by oid, as they were when everything before was known.
  var tables: [String: String]

  init(
    identity: String, consumer: String, epoch: String, number: Int64, snapshot: String,
    tables: [String: String]
  ) {
    self.identity = identity
    self.consumer = consumer
    self.epoch = epoch
    self.number = number
    self.snapshot = snapshot
    self.tables = tables
  }

  /// Of the form; another one is of no use.
  private static let version: String = "2"

  init?(_ text: String?) {
    let parts =
      text?.split(separator: "|", omittingEmptySubsequences: false).map(String.init) ?? []
    guard parts.count == 7, parts[0] == EntryCursor.version, let number = Int64(parts[4]) else {
      return nil
    }
    (identity, consumer, epoch, self.number) = (parts[1], parts[2], parts[3], number)
    snapshot = parts[5]
    tables = [:]
    for pair in parts[6].split(separator: ",") {
      let pair = pair.split(separator: ":").map(String.init)
      if pair.count == 2 { tables[pair[0]] = pair[1] }
    }
  }

  var text: String {
    let digests = tables.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
    return [
      EntryCursor.version, identity, consumer, epoch, String(number), snapshot,
      digests.joined(separator: ","),
    ].joined(separator: "|")
  }

  /// Of `xmin:xmax:xip`: transactions that had begun and not ended.
  static func open(in snapshot: String) -> Set<String> {
    let parts = snapshot.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return [] }
    return Set(parts[2].split(separator: ",").map(String.init))
  }

  /// Of `xmin:xmax:…`: the oldest transaction that had not ended, and the first that had not begun.
  static func limits(_ snapshot: String) -> (oldest: UInt64, next: UInt64) {
    let parts = snapshot.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return (0, 0) }
    return (UInt64(parts[0]) ?? 0, UInt64(parts[1]) ?? 0)
  }
}
