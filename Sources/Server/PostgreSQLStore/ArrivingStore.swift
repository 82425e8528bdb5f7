import FerryPostgreSQL
import FerryServer
import FerryWorld

/// A store that comes from elsewhere into a database, in one transaction: all of it is there after
/// `commit`, or nothing.
package final class ArrivingStore {
  private let address: PostgreSQLAddress
  private let line: Line

  package init(_ address: PostgreSQLAddress) {
    self.address = address
    line = Line(address, application: "ferry move")
  }

  /// What is in the database under the name of a store.
  package enum Found: Sendable, Equatable {
    case nothing
    /// Of the same server, and no server has run on it since it arrived.
    case copy
    /// Of the same server, which has run on it.
    case served
    /// Of another server.
    case other(server: String)
  }

  package func find(_ facts: StoreFacts) throws(ServerError) -> Found {
    try guarded { () throws(StoreError) in try found(facts) }
  }

  private func found(_ facts: StoreFacts) throws(StoreError) -> Found {
    guard let version = try Schema.version(line) else { return .nothing }
    guard version <= Schema.version else {
      throw StoreError.damaged("it has version \(version), which this program does not know")
    }
    let server = try line.rows("SELECT id FROM ferry_store.server").first?.text(0, 0) ?? ""
    guard server == facts.server else { return .other(server: server) }
    let eras = try line.rows("SELECT id FROM ferry_store.era")
    let known = (0..<eras.count).allSatisfy { facts.eras.contains(eras.text($0, 0) ?? "") }
    return known ? .copy : .served
  }

  /// From now on no server starts on the store, and one that runs on it leads no longer.
  package func markUndone() throws(ServerError) {
    try guarded { () throws(StoreError) in
      try Schema.begin(line)
      try line.use { connection throws(PostgreSQLError) in
        try connection.execute(
          """
          SET LOCAL lock_timeout = '10s';
          CREATE TABLE IF NOT EXISTS \(Schema.undone) ();
          UPDATE ferry_store.package SET term = term + 1, token = 0;
          UPDATE ferry_store.lease SET token = 0, holder = 'ferry move --undo', until = 'infinity'
          """)
      }
      try line.commit()
    }
  }

  /// Makes the tables. A copy of before, on which no server has run, is replaced.
  ///
  /// Throws `badRequest` where the database has another store.
  package func begin(_ facts: StoreFacts, _ world: World) throws(ServerError) {
    let found = try guarded { () throws(StoreError) in
      try Schema.begin(line)
      _ = try line.rows("SET LOCAL lock_timeout = '10s'")
      return try self.found(facts)
    }
    let isUndone = try guarded { () throws(StoreError) in
      guard found == .served else { return false }
      return try Schema.isUndone(line)
    }
    switch found {
    case .nothing: break
    case .copy: try guarded { () throws(StoreError) in try drop() }
    case .served where isUndone:
      line.rollBack()
      throw ServerError(
        .badRequest,
        "\(address.text) has a store of a move that was undone after a server had run on it",
        hint: "What devices sent to that server exists only there. Remove it with DROP SCHEMA "
          + "ferry_store CASCADE.")
    case .served:
      line.rollBack()
      throw ServerError(
        .badRequest, "a server has run on the store that was moved to \(address.text)",
        hint: "It has what devices sent since then. Start ferryd with --store '\(address.text)'.")
    case .other(let server):
      line.rollBack()
      throw ServerError(
        .badRequest, "\(address.text) has the store of another server (\(server))",
        hint: "Name a database without the schema ferry_store.")
    }
    try guarded { () throws(StoreError) in
      try Schema.makeNewest(line, world)
      _ = try line.rows(
        "UPDATE ferry_store.server SET id = $1, last_day = $2, days = $3",
        [.text(facts.server), .integer(facts.lastDay), .integer(facts.days)])
      for (name, bytes) in facts.secrets.sorted(by: { $0.key < $1.key }) {
        _ = try line.rows(
          "INSERT INTO ferry_store.secret (name, bytes) VALUES ($1, $2)",
          [.text(name), .bytes(bytes)])
      }
    }
  }

  private func drop() throws(StoreError) {
    try line.use { connection throws(PostgreSQLError) in
      try connection.execute("DROP SCHEMA ferry_store CASCADE")
    }
  }

  /// A model that was deployed to the server.
  package func keep(_ model: DeployedModel) throws(ServerError) {
    try guarded { () throws(StoreError) in try DeployedModels.keep(model, line) }
  }

  package func write(
    _ table: StoreTable, _ columns: [StoredColumn], _ count: Int
  ) throws(ServerError) {
    let names = table.columns.map { ArrivingStore.name(of: $0) }
    let places = table.columns.enumerated().map { place, column in
      "$\(place + 1)::\(ArrivingStore.type(of: column.kind))[]"
    }
    let aliases = table.columns.indices.map { "c\($0)" }
    let values = zip(aliases, table.columns).map { alias, column in
      column.kind == .flag ? "\(alias) <> 0" : alias
    }
    let constants = ArrivingStore.constants(table)
    let sql = """
      INSERT INTO ferry_store.\(table.name)
        (\((names + constants.map(\.column)).joined(separator: ", ")))
      OVERRIDING SYSTEM VALUE
      SELECT \((values + constants.map(\.value)).joined(separator: ", "))
      FROM unnest(\(places.joined(separator: ", "))) AS n(\(aliases.joined(separator: ", ")))
      """
    try guarded { () throws(StoreError) in
      _ = try line.rows(sql, columns.map(ArrivingStore.value))
    }
  }

  /// Columns that only this kind of store has.
  private static func constants(_ table: StoreTable) -> [(column: String, value: String)] {
    switch table.name {
    case "package": [("removals", "0"), ("term", "0"), ("token", "0")]
    case "era": [("term", "0")]
    default: []
    }
  }

  static func name(of column: StoreTable.Column) -> String {
    switch column.name {
    case "user": "user_name"
    case "left": "has_left"
    default: "\"\(column.name)\""
    }
  }

  private static func type(of kind: StoreTable.Kind) -> String {
    switch kind {
    case .integer, .flag: "int8"
    case .text, .body: "text"
    case .bytes: "bytea"
    }
  }

  private static func value(_ column: StoredColumn) -> PostgreSQLValue {
    switch column {
    case .integers(let numbers): .integers(numbers)
    case .texts(let texts): .texts(texts)
    case .bodies(let bodies): .bodies(bodies)
    case .bytes(let blobs): .blobs(blobs)
    }
  }

  /// How many rows have arrived.
  package func count(_ table: StoreTable) throws(ServerError) -> Int64 {
    try guarded { () throws(StoreError) in
      try line.rows("SELECT count(*) FROM ferry_store.\(table.name)").integer(0, 0) ?? 0
    }
  }

  /// Numbers go on where the other store ended; nobody leads a package yet.
  package func commit(_ facts: StoreFacts) throws(ServerError) {
    try guarded { () throws(StoreError) in
      _ = try line.rows(
        """
        INSERT INTO ferry_store.lease (package, term, token, holder, until)
        SELECT id, 0, 0, '', '-infinity' FROM ferry_store.package
        """)
      for (sequence, table) in [
        ("'ferry_store.partition_id'", "partition"), ("'ferry_store.row_id'", "row"),
        (serial("package", "id"), "package"), (serial("era", "number"), "era"),
        (serial("entity", "id"), "entity"), (serial("operation", "sequence"), "operation"),
        (serial("report", "number"), "report"), (serial("content", "id"), "content"),
        (serial("payload", "number"), "payload"),
      ] {
        guard let last = facts.lastNumbers[table], last > 0 else { continue }
        _ = try line.rows("SELECT pg_catalog.setval(\(sequence), $1)", [.integer(last)])
      }
      try line.commit()
    }
  }

  private func serial(_ table: String, _ column: String) -> String {
    "pg_catalog.pg_get_serial_sequence('ferry_store.\(table)', '\(column)')"
  }

  private func guarded<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(ServerError) -> Value {
    do throws(StoreError) { return try body() } catch {
      line.rollBack()
      throw ServerError(error, store: address.text)
    }
  }
}
