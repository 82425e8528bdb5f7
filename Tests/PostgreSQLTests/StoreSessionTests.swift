import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLStore
import Testing

@testable import FerryServer
@testable import FerryStoreConformance

@Suite("Sessions of several nodes on one store in PostgreSQL")
struct StoreSessionTests {
  private let database: StoreDatabase
  private let other: PostgreSQLConnection

  init() throws {
    database = try StoreDatabase()
    other = try PostgreSQLConnection(database.address)
  }

  @Test("A session that another node ends is over with the next look at the store")
  func sessions() throws {
    let (leader, node) = (
      try database.open(StoreSuite.package),
      try PostgreSQLStore(
        database.address, package: StoreSuite.package, world: database.world, lease: nil)
    )
    let services = try [leader, node as any Store].map { store in
      try Service(package: StoreSuite.package, world: database.world, store: { _ in store })
    }
    let ada = UserRecord(name: "ada", roles: [], claims: [:])
    func login() throws -> Identity {
      try services[1].accessTokens.verify(
        services[0].login(ada, device: "phone").accessToken, now: database.world.clock.now)
    }
    func isOpen(_ identity: Identity) -> Bool { (try? services[1].check(identity)) != nil }
    let identity = try login()
    #expect(isOpen(identity))
    // Nothing counts this end: the node does not ask again for what it remembers.
    try other.execute("UPDATE ferry_store.session SET ended = 'x'")
    try services[1].catchUp()
    #expect(isOpen(identity))
    database.clock.advance(.milliseconds(5_500))
    #expect(!isOpen(identity), "a node without a recent view asks the store")
    try services[1].catchUp()
    let next = try login()
    #expect(isOpen(next))
    try services[0].revoke(user: "ada", device: "phone")
    try services[1].catchUp()
    #expect(!isOpen(next))
    let last = try login()
    #expect(isOpen(last))
    for _ in 0..<services[0].limits.sessionsPerDevice {
      database.clock.advance(.milliseconds(10))
      _ = try login()
    }
    try services[1].catchUp()
    #expect(!isOpen(last), "so many later ones replace it")
    var session = try #require(try node.session(login().session ?? ""))
    var changes = [try node.sessionChanges()]
    session.used = 1
    try leader.keep(session)
    changes.append(try node.sessionChanges())
    session.stamp = "new"
    try leader.keep(session)
    changes.append(try node.sessionChanges())
    session.ended = "reused"
    try leader.keep(session)
    changes.append(try node.sessionChanges())
    let first = changes[0]
    #expect(changes == [first, first, first + 1, first + 2], "a renewal ends nothing")
  }
}
