import FerryJSON
import FerryModel
import Foundation
import Testing

extension Way {
  /// Servers whose store is in PostgreSQL.
  @Suite struct NodeTests {
    @Test("A server with its store in PostgreSQL serves two devices, and goes on after kill -9")
    func one() async throws {
      let business = try await Business.flights(bookings: 500)
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database("")
      let store = server.address(database)
      var daemon = try await Daemon.start(business, more: ["--store", store])
      try await daemon.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", daemon.address)
      let ben = try await Phone.start(business, "ben", user: "ben", daemon.address)
      try await ada.book(0..<20, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("all are done") { try business.booked() == 20 }
      let port = daemon.port
      try await daemon.stopNow()
      try await ada.book(20..<40, business)
      try await ada.ask(#"["submitAll"]"#)
      daemon = try await Daemon.start(business, port: port, more: ["--store", store])
      for phone in [ada, ben] { try await phone.ask(#"["network"]"#) }
      try await until("all are done") { try business.booked() == 40 }
      try await Shores.agree(
        business, server: { try await server.storedRows(database, business) }, [ada, ben],
        belongs: Shores.firstAgency(business))
    }

    @Test("Two nodes behind haproxy: both answer, and when the leader is killed the other replays")
    func two() async throws {
      let business = try await Business.flights(bookings: 500)
      let server = try await PostgreSQLServer.shared()
      let database = try await server.database("")
      let more = ["--store", server.address(database)]
      let first = try await Daemon.start(
        business, data: business.place.file("one"), more: more)
      let second = try await Daemon.start(
        business, data: business.place.file("two"), more: more)
      let proxy = try await Haproxy.start(before: [first.port, second.port])
      try await first.ready()
      let ada = try await Phone.start(business, "ada", user: "ada", proxy.address)
      // Each node alone answers a device that has everything.
      let ben = try await Phone.start(business, "ben", user: "ben", second.address)
      try await ben.synchronize()
      try await ada.book(0..<20, business)
      try await ada.ask(#"["submitAll"]"#)
      try await until("all are done") { try business.booked() == 20 }
      try await until("the device of the node that follows has them") {
        try await ben.count("Bookings") == ada.count("Bookings")
      }
      let holder = try await server.psql(database, "SELECT holder FROM ferry_store.lease")
      #expect(holder.hasSuffix(" \(first.process.id)"))
      let terms = "SELECT term FROM ferry_store.lease"
      let term = try #require(Int(try await server.psql(database, terms)))
      try await ada.book(20..<60, business)
      try await ada.ask(#"["submitAll"]"#)
      try await first.stopNow()
      let clock = Stopwatch()
      let before = try business.booked()
      try await until("the other node replays") { try business.booked() > before }
      let seconds = clock.seconds
      tell("the leader was killed; the other node replays after \(seconds) s")
      #expect(try await server.psql(database, terms) == String(term + 1), "it took over at once")
      for phone in [ada, ben] { try await phone.ask(#"["network"]"#) }
      try await until("all are done") { try business.booked() == 60 }
      try await Shores.agree(
        business, server: { try await server.storedRows(database, business) }, [ada, ben],
        belongs: Shores.firstAgency(business))
    }
  }
}

extension PostgreSQLServer {
  /// Every row that is not deleted of a server's store in this database.
  func storedRows(_ database: String, _ business: Business) async throws -> Rows {
    var rows: Rows = [:]
    for entity in business.package.entities { rows[entity.name] = [:] }
    let text = try await psql(
      database,
      """
      SELECT json_build_array(e.name, r.key, r.body)
      FROM ferry_store.row AS r JOIN ferry_store.entity AS e ON e.id = r.entity
      WHERE NOT r.deleted
      """)
    for line in text.split(separator: "\n") {
      let row = try JSONNode.parse(Array(line.utf8)).array?.map { $0.string ?? "" } ?? []
      guard row.count == 3 else { throw WayFailure("a stored row is \(line)") }
      rows[row[0], default: [:]][row[1]] = row[2]
    }
    return rows
  }
}
