import FerryPostgreSQL

/// Which server performs for a store: an earlier one that wakes up late must do nothing more, or it
/// would perform what the present one has refused or taken over.
///
/// Each transaction reads the term under a shared lock; whoever takes over raises it under an
/// exclusive one, and so waits for the transactions that are under way.
struct Leadership {
  let store: String
  let term: String

  /// Whether nobody has led for the store in this database before: what an earlier server performed
  /// may have been forgotten with the table that remembered it.
  var isFirst: Bool { term == "1" }

  /// Takes over. Throws where an earlier server's transaction does not end in time.
  init(
    taking store: String, _ connection: PostgreSQLConnection, lockMilliseconds: Int
  ) throws(PostgreSQLError) {
    try connection.execute("BEGIN; SET LOCAL lock_timeout = \(lockMilliseconds)")
    try connection.rows(
      "SELECT pg_catalog.pg_advisory_xact_lock(\(Leadership.key))", [.text(store)])
    let raised = try connection.rows(
      """
      INSERT INTO ferry.leader AS l (store, term) VALUES ($1, 1)
      ON CONFLICT (store) DO UPDATE SET term = l.term + 1 RETURNING term
      """, [.text(store)])
    try connection.execute("COMMIT")
    self.store = store
    term = raised.text(0, 0) ?? ""
  }

  private static let key: String = "pg_catalog.hashtextextended('ferry ' || $1, 0)"

  /// To be sent at the beginning of a transaction; the second answer is the term.
  var requests: [PostgreSQLConnection.Request] {
    [
      PostgreSQLConnection.Request(
        "SELECT pg_catalog.pg_advisory_xact_lock_shared(\(Leadership.key))", [.text(store)]),
      PostgreSQLConnection.Request(
        "SELECT term FROM ferry.leader WHERE store = $1", [.text(store)]),
    ]
  }

  static let lost: String =
    "Another server performs for this store now. Stop this one, or start it again to take over."
}
