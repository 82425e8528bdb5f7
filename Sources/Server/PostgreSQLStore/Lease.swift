import FerryModel
import FerryPostgreSQL
import FerryServer
import FerryWorld

/// The time in which one node leads a package. Every write of a leader carries it, and is refused by
/// the store once another term has begun.
package struct Term: Sendable, Equatable {
  package let package: Int64
  package let number: Int64
  /// Random: after a promotion with a lost tail the same number may be given twice.
  package let token: Int64

  /// An error inside the same trip where the term is over.
  ///
  /// `clock`: what the leader takes for the store's clock; an error where it is another one.
  func fence(_ clock: Int64? = nil) -> PostgreSQLConnection.Request {
    PostgreSQLConnection.Request(
      "SELECT ferry_store.fence($1, $2, $3, $4)",
      [
        .integer(package), .integer(number), .integer(token), clock.map { .integer($0) } ?? .null,
      ])
  }
}

/// The right to lead a package, held by the clock of the database. It has a row of its own, so that a
/// long numbered transaction, which locks the package's row, does not keep it from being renewed.
///
/// The clock decides who may try to take over; the term decides who is right.
package final class Lease {
  package let term: Term
  private let line: Line

  /// How long a lease lasts that nobody renews.
  package static let duration: Duration = .seconds(3)

  private init(_ term: Term, _ line: Line) {
    self.term = term
    self.line = line
  }

  /// The number of the package in the store, which is made where it is missing.
  package static func number(
    of package: Package, _ address: PostgreSQLAddress, _ world: World
  ) throws(ServerError) -> Int64 {
    let line = Line(address, application: "ferryd")
    try Schema.prepare(line, world, store: address.text)
    return try Registration.number(of: package.served, line, address.text)
  }

  /// Takes the lease where nobody has one: begins a new term. nil where another node has it.
  ///
  /// `holder`: what messages call this node.
  package static func take(
    _ address: PostgreSQLAddress, _ package: Package, holder: String, _ world: World
  ) throws(ServerError) -> Lease? {
    let line = Line(address, application: "ferryd lease \(holder)")
    try Schema.prepare(line, world, store: address.text)
    let number = try Registration.number(of: package.served, line, address.text)
    let token = Int64(bitPattern: UInt64(bigEndianBytes: world.chance.bytes(8)))
    do throws(StoreError) {
      guard let term = try take(number, token, holder, line) else { return nil }
      return Lease(Term(package: number, number: term, token: token), line)
    } catch {
      throw ServerError(error, store: address.text)
    }
  }

  private static let seconds: String = String(Lease.duration / .seconds(1))

  /// The number of the new term; nil where another node has the lease.
  private static func take(
    _ package: Int64, _ token: Int64, _ holder: String, _ line: Line
  ) throws(StoreError) -> Int64? {
    for _ in 0..<100 {
      do throws(StoreError) {
        let answers = try line.begin(
          "BEGIN ISOLATION LEVEL READ COMMITTED",
          [
            PostgreSQLConnection.Request("SET LOCAL lock_timeout = '200ms'"),
            PostgreSQLConnection.Request(
              """
              UPDATE ferry_store.lease AS l SET term = p.term + 1, token = $2, holder = $3,
                until = clock_timestamp() + make_interval(secs => $4)
              FROM ferry_store.package AS p
              WHERE p.id = $1 AND l.package = $1 AND l.until <= clock_timestamp() RETURNING l.term
              """, [.integer(package), .integer(token), .exact(holder), .text(Lease.seconds)]),
            // It waits for what the last leader has begun.
            PostgreSQLConnection.Request(
              """
              UPDATE ferry_store.package AS p SET term = l.term, token = l.token
              FROM ferry_store.lease AS l
              WHERE p.id = $1 AND l.package = $1 AND l.term > p.term
              """, [.integer(package)]),
          ])
        guard answers[1].count == 1, let term = answers[1].integer(0, 0) else {
          line.rollBack()
          return nil
        }
        try line.commit()
        return term
      } catch {
        line.rollBack()
        guard error.code == .busy else { throw error }
        try endWhatBlocks(package, line)
      }
    }
    throw StoreError(.busy, "another transaction keeps the package's row locked", isTransient: true)
  }

  /// A leader that was stopped in the middle of what it sent keeps its lock, whatever the time-outs
  /// say: its connection is ended. Its lease is over, so that nothing it has begun is needed.
  private static func endWhatBlocks(_ package: Int64, _ line: Line) throws(StoreError) {
    _ = try line.rows(
      """
      SELECT pg_catalog.pg_terminate_backend(l.pid)
      FROM ferry_store.package AS p JOIN pg_catalog.pg_locks AS l ON l.transactionid = p.xmax
      WHERE p.id = $1 AND l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
        AND l.pid <> pg_catalog.pg_backend_pid()
        AND EXISTS (
          SELECT 1 FROM ferry_store.lease WHERE package = $1 AND until <= clock_timestamp())
      """, [.integer(package)])
  }

  /// Throws `superseded` where another node leads.
  package func renew() throws(StoreError) {
    let rows = try line.rows(
      """
      UPDATE ferry_store.lease SET until = clock_timestamp() + make_interval(secs => $4)
      WHERE package = $1 AND term = $2 AND token = $3
      """,
      [
        .integer(term.package), .integer(term.number), .integer(term.token), .text(Lease.seconds),
      ])
    guard rows.affected == 1 else {
      throw StoreError(
        .superseded, "the term \(term.number) is over; another node leads", isTransient: true)
    }
  }

  /// Another node may take over at once.
  package func release() {
    do throws(StoreError) {
      _ = try line.rows(
        """
        UPDATE ferry_store.lease SET until = clock_timestamp()
        WHERE package = $1 AND term = $2 AND token = $3
        """, [.integer(term.package), .integer(term.number), .integer(term.token)])
    } catch {
      // It ends by itself.
    }
    line.close()
  }
}

extension UInt64 {
  fileprivate init(bigEndianBytes bytes: [UInt8]) {
    self = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A package in the store.
enum Registration {
  /// Its number; it is entered where it is missing. Throws `changedModel`.
  static func number(
    of package: Package, _ line: Line, _ store: String
  ) throws(ServerError) -> Int64 {
    let shape = package.shape
    let row: PostgreSQLRows
    do throws(StoreError) {
      try line.pipeline([
        PostgreSQLConnection.Request(
          """
          INSERT INTO ferry_store.package (name, shape, loaded, removals, term, token)
          SELECT $1, $2, false, 0, 0, 0
          WHERE NOT EXISTS (SELECT 1 FROM ferry_store.package WHERE name = $1)
          ON CONFLICT DO NOTHING
          """, [.exact(package.id), .text(shape)]),
        PostgreSQLConnection.Request(
          """
          INSERT INTO ferry_store.lease (package, term, token, holder, until)
          SELECT id, 0, 0, '', '-infinity' FROM ferry_store.package WHERE name = $1
          ON CONFLICT DO NOTHING
          """, [.exact(package.id)]),
      ])
      row = try line.rows(
        "SELECT id, shape FROM ferry_store.package WHERE name = $1", [.exact(package.id)])
      guard row.count == 1 else { throw StoreError.damaged("the package has no number") }
    } catch {
      throw ServerError(error, store: store)
    }
    guard let number = row.integer(0, 0), row.text(0, 1) == shape else {
      throw ServerError(
        .changedModel,
        "the model \(package.id) differs from the model of the same version in this store",
        hint: "Give the changed model a new version. Devices with the old version need a server "
          + "with the old model.")
    }
    return number
  }
}
