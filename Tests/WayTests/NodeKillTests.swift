import FerryModel
import Foundation
import Testing

extension Way {
  /// Three nodes, haproxy and PostgreSQL. `Scripts/check nodes` runs more rounds of it.
  @Suite struct NodeKillTests {
    private enum Fault: CaseIterable {
      case killLeader, killNode, stopLeader, stopNode, endConnections, restartInOrder
    }

    @Test("Nodes that are killed, stopped and cut off lose nothing, and nothing is done twice")
    func rounds() async throws {
      let settings = ProcessInfo.processInfo.environment
      let count = settings["FERRY_NODE_ROUNDS"].flatMap { Int($0) } ?? 2
      let seed = settings["FERRY_NODE_SEED"].flatMap { UInt64($0) } ?? 1
      var chance = NodeChance(seed)
      let nodes = try await Nodes.start(count: 3)
      let ada = try await Phone.start(nodes.business, "ada", user: "ada", nodes.proxy.address)
      let ben = try await Phone.start(nodes.business, "ben", user: "ben", nodes.proxy.address)
      var booked = 0
      for round in 0..<count {
        // The first rounds of any seed have the faults that matter most.
        let fault: Fault =
          switch round {
          case 0: .stopLeader
          case 1: .killLeader
          default: Fault.allCases[chance.next(0..<Fault.allCases.count)]
          }
        let new = chance.next(4..<12)
        try await ada.book(booked..<booked + new, nodes.business)
        booked += new
        try await ada.ask(#"["submitAll"]"#)
        try nodes.business.run(
          """
          UPDATE Bookings SET Price = Price + 1
          WHERE BookingID IN (
            SELECT b.BookingID FROM Bookings AS b JOIN Flights AS f ON f.FlightID = b.FlightID
            WHERE f.Status = 'planned' ORDER BY random() LIMIT 5)
          """)
        try await Task.sleep(for: .milliseconds(chance.next(0..<400)))
        try await happen(fault, nodes, &chance)
        for phone in [ada, ben] { try await phone.ask(#"["network"]"#) }
        let wanted = Int64(booked)
        let seconds: Double
        do {
          seconds = try await until("all are done after \(fault)") {
            try nodes.business.booked() >= wanted
          }
        } catch {
          throw WayFailure(
            "seed \(seed), round \(round), \(fault): \(error)\n\(await nodes.account(of: ada))")
        }
        tell("seed \(seed), round \(round): \(fault), \(booked) bookings after \(seconds) s")
      }
      try nodes.business.expectOnce(booked)
      try await Shores.agree(
        nodes.business, server: { try await nodes.storedRows() }, [ada, ben],
        belongs: Shores.firstAgency(nodes.business))
    }

    private func happen(_ fault: Fault, _ nodes: Nodes, _ chance: inout NodeChance) async throws {
      let leader = try await nodes.leader()
      let other = (leader + chance.next(1..<nodes.daemons.count)) % nodes.daemons.count
      switch fault {
      case .killLeader: try await nodes.restart(leader)
      case .killNode: try await nodes.restart(other)
      case .restartInOrder: try await nodes.restart(leader, inOrder: true)
      case .stopLeader, .stopNode:
        let node = fault == .stopLeader ? leader : other
        nodes.daemons[node].process.send(SIGSTOP)
        try await Task.sleep(for: .milliseconds(fault == .stopLeader ? 4_500 : 1_500))
        nodes.daemons[node].process.send(SIGCONT)
      case .endConnections: try await nodes.endConnections()
      }
    }
  }
}

/// Servers of one business on one store.
final class Nodes {
  let business: Business
  let proxy: Haproxy
  private let server: PostgreSQLServer
  private let database: String
  private(set) var daemons: [Daemon]

  static func start(count: Int) async throws -> Nodes {
    let business = try await Business.flights(bookings: 300)
    let server = try await PostgreSQLServer.shared()
    let database = try await server.database("")
    var daemons: [Daemon] = []
    for node in 0..<count {
      daemons.append(
        try await Daemon.start(
          business, data: business.place.file("node\(node)"),
          more: ["--store", server.address(database)]))
    }
    let proxy = try await Haproxy.start(before: daemons.map(\.port))
    try await daemons[0].ready()
    return Nodes(business, proxy, server, database, daemons)
  }

  private init(
    _ business: Business, _ proxy: Haproxy, _ server: PostgreSQLServer, _ database: String,
    _ daemons: [Daemon]
  ) {
    self.business = business
    self.proxy = proxy
    self.server = server
    self.database = database
    self.daemons = daemons
  }

  /// Which of them has the lease, or had it last.
  func leader() async throws -> Int {
    let holder = try await server.psql(database, "SELECT holder FROM ferry_store.lease")
    return daemons.firstIndex { holder.hasSuffix(" \($0.process.id)") } ?? 0
  }

  /// Who leads, what waits on the device, and what each node said last; for a failure of the test.
  func account(of phone: Phone) async -> String {
    let lease = try? await server.psql(database, "SELECT * FROM ferry_store.lease")
    let pending = try? await phone.ask(#"["pending"]"#, mayFail: true)
    let said = daemons.enumerated().map { index, daemon in
      "node \(index), process \(daemon.process.id):\n"
        + daemon.process.errorLines.suffix(12).joined(separator: "\n")
    }
    return
      (["lease: \(lease ?? "not readable")", "pending: \(pending?.shown ?? "no answer")"] + said)
      .joined(separator: "\n")
  }

  func restart(_ node: Int, inOrder: Bool = false) async throws {
    let (port, data) = (daemons[node].port, daemons[node].data)
    if inOrder {
      _ = try await daemons[node].stopInOrder()
    } else {
      try await daemons[node].stopNow()
    }
    daemons[node] = try await Daemon.start(
      business, data: data, port: port, more: ["--store", server.address(database)])
  }

  /// As when PostgreSQL is started again: every connection of every node ends.
  func endConnections() async throws {
    try await server.psql(
      database,
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = '\(database)' AND pid <> pg_backend_pid()
      """)
  }

  func storedRows() async throws -> Rows {
    try await server.storedRows(database, business)
  }
}

/// SplitMix64: the same faults for the same seed.
private struct NodeChance {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next(_ range: Range<Int>) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return range.lowerBound + Int((mixed ^ (mixed >> 31)) % UInt64(range.count))
  }
}
