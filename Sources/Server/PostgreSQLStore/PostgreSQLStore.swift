import FerryCrypto
import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWorld

/// A server's store in PostgreSQL. Several nodes may use it; one of them leads the package, and alone
/// numbers what it writes (Decision 0050).
///
/// A numbered transaction is collected while its body runs and sent whole: the fence, the number, and
/// all that was written. What the body reads was committed before; as the leader is the only writer
/// of rows, answers and numbers, that is what the transaction finds too. The number's key is a second
/// fence: a transaction that was made from an older state has a number that is taken.
package final class PostgreSQLStore: Store {
  package let address: PostgreSQLAddress
  package let package: Package
  package let packageNumber: Int64
  package let server: String
  package internal(set) var era: String = ""
  /// nil on a node that follows.
  let term: Term?
  let world: World
  /// Numbers of the package's entities in the store, in the order of the package.
  private(set) var entityNumbers: [Int64] = []
  private(set) var entityPositions: [Int64: Int] = [:]
  let line: Line
  let reader: Line
  private let folder: Folder?
  /// What the open numbered transaction is to write; nil outside of one.
  private var pending: Pending?
  private var depth = 0
  /// Whether the open transaction has taken in operations for another node to perform.
  var hasArrivals = false
  /// The number of the last numbered transaction; nil after an answer was lost.
  private var knownClock: Int64?
  /// The highest number that was ever seen to be committed.
  private var highest: Int64 = 0
  var rowNumbers: Range<Int64> = 0..<0
  /// Whether days are counted by the world's clock. Only for tests.
  package var countsDaysOfWorld = false
  /// Up to where changes were seen. Nil on a leader, and while a follower opens the store.
  var seen: Seen?
  /// The cursor from which `arrivals` continues.
  var arrivalCursor: String?

  private struct Pending {
    var requests: [PostgreSQLConnection.Request] = []
    /// Leaves to purge: for each partition, the number up to which they are purged.
    var purges: [(partition: Int64, upTo: Int64)] = []
  }

  /// Opens the store. A node with a lease leads and opens an era. A node without one follows.
  /// `folder` is where the operator finds a key.
  package init(
    _ address: PostgreSQLAddress, package: Package, world: World, lease term: Term?,
    folder: Folder? = nil
  ) throws(ServerError) {
    self.address = address
    self.package = package
    self.world = world
    self.term = term
    self.folder = folder
    let name = term == nil ? "ferryd follows" : "ferryd leads"
    line = Line(address, application: name)
    reader = Line(address, application: "\(name), reads")
    try Schema.prepare(line, world, store: address.text)
    packageNumber = try Registration.number(of: package, line, address.text)
    do throws(StoreError) {
      guard let server = try line.rows("SELECT id FROM ferry_store.server").text(0, 0) else {
        throw StoreError.damaged("the store has no server id")
      }
      self.server = server
      try numberEntities()
      // Taken before the era opens: what a device names in it at another node comes later.
      arrivalCursor = try line.rows("SELECT pg_catalog.pg_current_snapshot()::text").text(0, 0)
      // This is a follower's first look. Later changes are news to it.
      if term == nil { _ = try news() } else { era = try openEra() }
    } catch {
      throw ServerError(error, store: address.text)
    }
  }

  package var name: String { address.text }
  package var leads: Bool { term != nil }
  package var isShared: Bool { true }

  /// Kept in the store, as every node must have the same. The operator's is in the folder too.
  package func knownSecret(_ name: String) throws(ServerError) -> [UInt8]? {
    do throws(StoreError) {
      return try line.rows(
        "SELECT bytes FROM ferry_store.secret WHERE name = $1", [.text(name)]
      ).first?.blob(0, 0)
    } catch {
      throw ServerError(error, store: address.text)
    }
  }

  package func secret(_ name: String, make: () -> [UInt8]) throws(ServerError) -> [UInt8] {
    let found: [UInt8]?
    do throws(StoreError) {
      let question = "SELECT bytes FROM ferry_store.secret WHERE name = $1"
      if let known = try line.rows(question, [.text(name)]).first?.blob(0, 0) {
        found = known
      } else {
        _ = try line.rows(
          "INSERT INTO ferry_store.secret (name, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING",
          [.text(name), .bytes(make())])
        found = try line.rows(question, [.text(name)]).first?.blob(0, 0)
      }
    } catch {
      throw ServerError(error, store: address.text)
    }
    guard let secret = found, secret.count == Folder.secretBytes else {
      throw ServerError(
        .damagedSecret, "the secret \(name) in the store \(address.text) is incomplete",
        hint: "Restore a backup, or delete its row in ferry_store.secret: the next start makes a "
          + "new one, and every device logs in again.")
    }
    if name == "operator.key", let folder {
      guard try folder.secret(name, make: { secret }) == secret else {
        throw ServerError(
          .damagedSecret,
          "the key file \(folder.path)/\(name) is not the key of the store \(address.text)",
          hint: "Remove the file: the next start writes the store's key into it.")
      }
    }
    return secret
  }

  package func check() throws(StoreError) {}

  package func probe() throws(StoreError) {
    let request = PostgreSQLConnection.Request("UPDATE ferry_store.server SET days = days")
    try line.pipeline(term.map { [$0.fence(), request] } ?? [request])
  }

  // Reading and writing.

  func rows(
    _ sql: String, _ parameters: [PostgreSQLValue] = []
  ) throws(StoreError)
    -> PostgreSQLRows
  {
    try line.rows(sql, parameters)
  }

  /// What any node may write.
  func write(_ sql: String, _ parameters: [PostgreSQLValue]) throws(StoreError) {
    try write([PostgreSQLConnection.Request(sql, parameters)])
  }

  func write(_ requests: [PostgreSQLConnection.Request]) throws(StoreError) {
    guard pending == nil else {
      pending?.requests += requests
      return
    }
    try line.pipeline(requests)
  }

  /// What a leader alone may write: refused once another term has begun.
  func lead(_ sql: String, _ parameters: [PostgreSQLValue]) throws(StoreError) {
    try lead([PostgreSQLConnection.Request(sql, parameters)])
  }

  func lead(_ requests: [PostgreSQLConnection.Request]) throws(StoreError) {
    let term = try leading()
    guard pending == nil else {
      pending?.requests += requests
      return
    }
    try line.pipeline([term.fence()] + requests)
  }

  /// The same, with the answers, outside of a numbered transaction. An error where the store's clock
  /// is not the one that this node knows: the store went back, or an answer was lost.
  func leadRows(
    _ requests: [PostgreSQLConnection.Request]
  ) throws(StoreError) -> [PostgreSQLRows] {
    let term = try leading()
    let clock = try clock()
    // Until the answer has come nobody knows what the clock is.
    knownClock = nil
    let answers = Array(try line.pipeline([term.fence(clock)] + requests).dropFirst())
    knownClock = clock
    return answers
  }

  func leading() throws(StoreError) -> Term {
    guard let term else {
      throw StoreError(.superseded, "this node follows; another one leads", isTransient: true)
    }
    return term
  }

  func willPurge(_ partition: Int64, upTo version: Int64) {
    pending?.purges.append((partition, version))
  }

  /// Leaves that are purged when the open numbered transaction is committed.
  var purges: [(partition: Int64, upTo: Int64)] { pending?.purges ?? [] }

  // Transactions and snapshots.

  package func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if depth > 0 || pending != nil { return try body() }
    _ = try line.begin(
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      [PostgreSQLConnection.Request("SET LOCAL idle_in_transaction_session_timeout = '5s'")])
    depth += 1
    defer {
      depth -= 1
      hasArrivals = false
    }
    let result: Result
    do throws(StoreError) { result = try body() } catch {
      line.rollBack()
      throw error
    }
    do throws(StoreError) { try line.commit() } catch {
      line.rollBack()
      throw error
    }
    if hasArrivals { hint(StoreHint.arrivals(of: packageNumber)) }
    return result
  }

  package func clock() throws(StoreError) -> Int64 {
    if let knownClock { return knownClock }
    let clock: Int64
    if let term {
      // What was sent on a connection that is lost may still be on its way: behind the lock of the
      // fence it has ended, or it finds its number taken.
      let request = PostgreSQLConnection.Request(PostgreSQLStore.clock, [number])
      clock = try line.pipeline([term.fence(), request])[1].integer(0, 0) ?? 0
      guard clock >= highest else {
        // What devices were told is lost: the lease is given up, and the next term opens an era.
        try line.pipeline([
          PostgreSQLConnection.Request(
            """
            UPDATE ferry_store.lease SET token = token + 1, until = clock_timestamp()
            WHERE package = $1 AND term = $2 AND token = $3
            """, [number, .integer(term.number), .integer(term.token)])
        ])
        throw StoreError(
          .superseded,
          "the store went back in time, from number \(highest) to \(clock): a new term must begin",
          isTransient: true)
      }
    } else {
      clock = try line.rows(PostgreSQLStore.clock, [number]).integer(0, 0) ?? 0
    }
    note(clock: clock)
    return clock
  }

  func note(clock: Int64) {
    highest = max(highest, clock)
    knownClock = clock
  }

  /// Other nodes look at once, and not within a second. After the commit: NOTIFY waits for a lock of
  /// the whole cluster.
  func hint(_ channel: String) {
    do throws(StoreError) { _ = try line.rows("NOTIFY \(channel)") } catch {
      world.log.debug("other nodes were not notified", ("reason", error.message))
    }
  }

  static let clock: String =
    "SELECT coalesce(max(version), 0) FROM ferry_store.number WHERE package = $1"

  package func numbered<Result>(
    _ body: (NumberedTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let next = try clock() + 1
    let transaction = NumberedTransaction(version: next)
    pending = Pending()
    defer { pending = nil }
    // Until the answer has come nobody knows what the clock is.
    let known = knownClock
    let result = try body(transaction)
    let writes = pending?.requests ?? []
    guard transaction.hasWritten || !writes.isEmpty else { return result }
    knownClock = nil
    // Behind the lock the clock is what it was when the body read.
    var requests = [try leading().fence(next - 1)]
    if transaction.hasWritten {
      requests.append(
        PostgreSQLConnection.Request(
          "INSERT INTO ferry_store.number (package, version) VALUES ($1, $2)",
          [number, .integer(transaction.version)]))
    }
    try line.pipeline(requests + writes)
    knownClock = known
    if transaction.hasWritten {
      note(clock: transaction.version)
      hint(StoreHint.news(of: packageNumber))
    }
    return result
  }

  package func snapshot<Result>(
    _ body: (any StoreSnapshot) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try PostgreSQLStoreReader(numbers, reader).snapshot(body)
  }

  private var numbers: PackageNumbers {
    PackageNumbers(package: package, number: packageNumber, positions: entityPositions)
  }

  package var readerMaker: StoreReaderMaker {
    let (numbers, address) = (numbers, address)
    let name = term == nil ? "ferryd follows, reads pages" : "ferryd leads, reads pages"
    return { () throws(StoreError) in
      PostgreSQLStoreReader(numbers, Line(address, application: name))
    }
  }

  // The start.

  var number: PostgreSQLValue { .integer(packageNumber) }

  func number(of entity: Int) -> PostgreSQLValue { .integer(entityNumbers[entity]) }

  private func openEra() throws(StoreError) -> String {
    let term = try leading()
    let id = hexadecimal(world.chance.bytes(16))
    let skipped = world.chance.number(in: 1..<(1 << 31))
    try numbered { transaction throws(StoreError) in
      transaction.hasWritten = true
      try lead([
        // The store may be a backup, and devices may know numbers that were given after it was made,
        // to other partitions: at each start but the first they go on from a random place.
        PostgreSQLConnection.Request(
          """
          SELECT setval('ferry_store.partition_id', nextval('ferry_store.partition_id') + $1)
          WHERE EXISTS (SELECT 1 FROM ferry_store.era)
          """, [.integer(skipped)]),
        PostgreSQLConnection.Request(
          """
          INSERT INTO ferry_store.era (package, id, first_version, term) VALUES ($1, $2, $3, $4)
          """, [number, .text(id), .integer(transaction.version), .integer(term.number)]),
      ])
    }
    return id
  }

  private func numberEntities() throws(StoreError) {
    let names = package.entities.map(\.name)
    let question =
      "SELECT name, id FROM ferry_store.entity WHERE package = $1 AND name = ANY($2::text[])"
    var rows = try line.rows(question, [number, .texts(names)])
    if rows.count < names.count {
      _ = try line.rows(
        """
        INSERT INTO ferry_store.entity (package, name) SELECT $1, unnest($2::text[])
        ON CONFLICT DO NOTHING
        """, [number, .texts(names)])
      rows = try line.rows(question, [number, .texts(names)])
    }
    var numbers: [String: Int64] = [:]
    for row in 0..<rows.count { numbers[rows.exact(row, 0) ?? ""] = rows.integer(row, 1) }
    for (position, name) in names.enumerated() {
      guard let number = numbers[name] else {
        throw StoreError.damaged("an entity has no number")
      }
      entityNumbers.append(number)
      entityPositions[number] = position
    }
  }
}

extension PostgreSQLRows {
  /// nil where there is no row.
  var first: PostgreSQLRows? { count > 0 ? self : nil }
}
