import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLStore
import FerryWire
import Testing

@testable import FerryServer
@testable import FerryStoreConformance

@Suite("Several nodes on one store in PostgreSQL")
struct StoreNodeTests {
  private let database: StoreDatabase
  private let other: PostgreSQLConnection

  init() throws {
    database = try StoreDatabase()
    other = try PostgreSQLConnection(database.address)
  }

  private func open() throws -> PostgreSQLStore {
    try #require(try database.open(StoreSuite.package) as? PostgreSQLStore)
  }

  private func follow() throws -> PostgreSQLStore {
    try PostgreSQLStore(
      database.address, package: StoreSuite.package, world: database.world, lease: nil)
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? StoreError)?.code }
  }

  /// What a leader alone may write.
  private func writes(_ proof: StoreProof, _ id: OperationID) -> [(String, () throws -> Void)] {
    let store = proof.store
    return [
      ("rows", { try proof.put(5...6, in: StoreSuite.place("A")) }),
      ("answers", { try proof.answer([id]) }),
      ("claims", { try store.claim([([id], try StoreSuite.mark(store))]) }),
      ("releases", { try store.release([id], mayHaveRun: true) }),
      ("an empty stage", { try store.emptyStage() }),
      (
        "staged rows",
        {
          try store.transaction { () throws(StoreError) in
            try store.stage([StagedRow(StoreSuite.name(1), body: [], moment: 1)])
          }
        }
      ),
      ("the cursor", { try store.keep(sourceCursor: "late") }),
      (
        "borders",
        {
          try store.numbered { transaction throws(StoreError) in
            try store.keep(
              [WindowBorder(entity: "Item", attribute: "text", position: 1, days: 1...2)],
              transaction)
          }
        }
      ),
      ("a day", { try store.countDay() }),
      ("what waits", { _ = try store.takeUp() }),
      (
        "the end of a load",
        {
          try store.numbered { transaction throws(StoreError) in
            _ = try store.closeLoad(transaction)
          }
        }
      ),
    ]
  }

  private func state() throws -> [String] {
    try [
      "number", "row", "member", "partition", "operation", "staged", "package", "source_cursor",
      "server", "seen_day", "border",
    ].map { table in
      let text = try other.value(
        "SELECT coalesce(json_agg(t ORDER BY t::text)::text, '') FROM ferry_store.\(table) AS t")
      return "\(table) \(text ?? "")"
    }
  }

  @Test("Whatever a leader writes whose term is over is refused, and nothing of it is kept")
  func fence() throws {
    let early = StoreProof(database, try open())
    let id = early.newID()
    try early.put(1...3, in: StoreSuite.place("A"))
    _ = try early.store.receive([early.operation(id)])
    let clock = try early.store.clock()
    let late = try open()
    let before = try state()
    for (what, write) in writes(early, id) {
      database.advance(days: 1)
      #expect(code(write) == .superseded, "\(what)")
      #expect(try state() == before, "\(what)")
    }
    let proof = StoreProof(database, late)
    try proof.put(7...7, in: StoreSuite.place("A"))
    #expect(try late.clock() == clock + 2)
  }

  @Test("A fence that raises no error lets a leader of before write: the state shows it")
  func fenceWithoutError() throws {
    let early = StoreProof(database, try open())
    try early.put(1...3, in: StoreSuite.place("A"))
    _ = try open()
    try other.execute(
      """
      CREATE OR REPLACE FUNCTION ferry_store.fence(
        which int8, wanted_term int8, wanted_token int8, known_clock int8)
      RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM 1 FROM ferry_store.package AS p
        WHERE p.id = which AND p.term = wanted_term FOR UPDATE;
      END $$
      """)
    let before = try state()
    #expect(code { try early.store.emptyStage() } == nil)
    #expect(code { try early.store.keep(sourceCursor: "late") } == nil)
    #expect(try state() != before)
  }

  @Test(
    "A leader that was stopped in the middle of what it sent does not keep its successor waiting")
  func takeover() throws {
    let lease = try database.lead()
    let stopped = try PostgreSQLConnection(database.address)
    try stopped.execute(
      """
      BEGIN; SELECT ferry_store.fence(\(lease.term.package), \(lease.term.number),
        \(lease.term.token), NULL)
      """)
    // While the lease lasts it is nobody else's, and nothing is ended.
    #expect(
      try Lease.take(database.address, StoreSuite.package, holder: "second", database.world) == nil)
    #expect(try stopped.value("SELECT 1") == "1")
    try other.execute("UPDATE ferry_store.lease SET until = clock_timestamp()")
    let taken = try Lease.take(
      database.address, StoreSuite.package, holder: "second", database.world)
    let next = try #require(taken)
    #expect(next.term.number == lease.term.number + 1 && next.term.token != lease.term.token)
    #expect(throws: PostgreSQLError.self) { try stopped.execute("COMMIT") }
    #expect(code { try lease.renew() } == .superseded)
    try next.renew()
  }

  @Test("A long transaction of a leader does not keep it from its lease")
  func longTransaction() throws {
    let lease = try database.lead()
    let busy = try PostgreSQLConnection(database.address)
    try busy.execute(
      """
      SET lock_timeout = '1s'; BEGIN; SELECT ferry_store.fence(\(lease.term.package),
        \(lease.term.number), \(lease.term.token), NULL)
      """)
    try lease.renew()
    try busy.execute("COMMIT")
  }

  @Test(
    "A transaction that was made from an older state is refused, and made again from the new one")
  func olderState() throws {
    let first = StoreProof(database, try open())
    try first.put(1...1, in: StoreSuite.place("A"))
    let clock = try first.store.clock()
    // What was sent before the line broke arrives late.
    try other.execute(
      """
      INSERT INTO ferry_store.number SELECT package, max(version) + 1 FROM ferry_store.number
      GROUP BY package
      """)
    let before = try state()
    #expect(code { try first.put(2...2, in: StoreSuite.place("A")) } == .busy)
    #expect(try state() == before)
    try first.put(2...2, in: StoreSuite.place("A"))
    #expect(try first.store.clock() == clock + 2)
  }

  @Test("A store that lost its end is noticed at once; the next term opens an era")
  func lostEnd() throws {
    let first = StoreProof(database, try open())
    try first.put(1...1, in: StoreSuite.place("A"))
    _ = try first.store.takeUp()
    try first.put(2...2, in: StoreSuite.place("A"))
    let clock = try first.store.clock()
    try other.execute("DELETE FROM ferry_store.number WHERE version = \(clock)")
    #expect(code { _ = try first.store.arrivals() } == .busy)
    #expect(code { _ = try first.store.arrivals() } == .superseded)
    let taken = try Lease.take(
      database.address, StoreSuite.package, holder: "second", database.world)
    let next = try PostgreSQLStore(
      database.address, package: StoreSuite.package, world: database.world,
      lease: try #require(taken).term)
    let eras = try next.snapshot { view throws(StoreError) in try view.eras() }
    #expect(!eras.holds(era: first.store.era, version: clock, clock: try next.clock()))
    #expect(eras.holds(era: first.store.era, version: clock - 1, clock: try next.clock()))
  }

  @Test("The leader hears of each operation that another node took in, however late it commits")
  func arrivals() throws {
    let leader = StoreProof(database, try open())
    #expect(try leader.store.takeUp().isEmpty)
    let (slow, quick) = (try follow(), try follow())
    let ids = (0..<3).map { _ in leader.newID() }
    func arrived() throws(StoreError) -> [OperationID] {
      try leader.store.arrivals().map(\.operation.id)
    }
    try slow.transaction { () throws(StoreError) in
      _ = try slow.receive([leader.operation(ids[0])])
      _ = try quick.receive([leader.operation(ids[1])])
      #expect(try arrived() == [ids[1]])
      #expect(try arrived() == [])
    }
    #expect(try arrived() == [ids[0]])
    #expect(try arrived() == [])
    // Its device names one at a node that follows: once in an era, unless there is news.
    let owner = StoreSuite.ada
    try slow.tell([ids[0]], of: owner, hasNews: false)
    #expect(try arrived() == [])
    try slow.tell([ids[0]], of: owner, hasNews: true)
    #expect(try arrived() == [ids[0]])
    try leader.reopen()
    _ = try leader.store.takeUp()
    _ = try slow.news()
    try slow.tell(ids, of: owner, hasNews: false)
    #expect(try arrived() == [ids[0], ids[1]])
  }

  @Test("What a device names at another node before the new leader takes up reaches that leader")
  func earlyName() throws {
    let before = StoreProof(database, try open())
    let node = try follow()
    let (old, new) = (before.newID(), before.newID())
    _ = try node.receive([before.operation(old)])
    let leader = try open()
    _ = try node.news()
    try node.tell([old], of: StoreSuite.ada, hasNews: false)
    _ = try node.receive([before.operation(new)])
    #expect(try leader.takeUp().map(\.0.operation.id) == [old, new])
    #expect(try leader.arrivals().map(\.operation.id) == [old, new])
    #expect(try leader.arrivals().isEmpty)
  }

  @Test("Two nodes that make one partition have one, and a row of the leader is in it")
  func partition() throws {
    let leader = StoreProof(database, try open())
    let node = try follow()
    let made = try node.numbered { transaction throws(StoreError) in
      try node.makePartition(StoreSuite.place("A"), for: "ada", transaction)
    }
    #expect(try leader.put(1...1, in: StoreSuite.place("A")) == made)
    #expect(code { try node.emptyStage() } == .superseded)
    let proof = StoreProof(database, node)
    #expect(code { try proof.put(2...2, in: StoreSuite.place("A")) } == .superseded)
  }

  @Test("A node that follows learns what has changed, what was answered and what is forgotten")
  func news() throws {
    let leader = StoreProof(database, try open())
    let node = try follow()
    let (a, b) = (
      try leader.put(1...1, in: StoreSuite.place("A")),
      try leader.put(2...2, in: StoreSuite.place("B"))
    )
    let id = leader.newID()
    _ = try leader.store.receive([leader.operation(id)])
    // What happened since the node opened the store is news.
    let first = try #require(try node.news())
    #expect(try first.clock == leader.store.clock() && first.partitions == [a, b])
    #expect(try node.news()?.partitions == [])
    try leader.put(3...3, in: StoreSuite.place("B"))
    try leader.answer([id])
    var news = try #require(try node.news())
    let clock = try leader.store.clock()
    #expect(news.partitions == [b] && news.clock == clock)
    #expect(news.answered.map(\.chain) == [id] && !news.isNewEra && !news.haveBeenRemoved)
    var changes = CacheChanges()
    try leader.change(1, nil, from: .known(a), to: nil, &changes)
    let gone = try leader.apply(changes)
    _ = try node.news()
    let store = leader.store
    try store.numbered { transaction throws(StoreError) in
      _ = try store.purgeLeaves(of: a, upTo: gone, transaction)
    }
    news = try #require(try node.news())
    #expect(news.haveBeenRemoved)
    try leader.reopen()
    news = try #require(try node.news())
    #expect(news.isNewEra && node.era == leader.store.era)
  }

  @Test("A node that has just opened the store learns that a new leader has opened an era")
  func firstLook() throws {
    let leader = StoreProof(database, try open())
    let node = try follow()
    try leader.reopen()
    let news = try #require(try node.news())
    #expect(news.isNewEra && node.era == leader.store.era)
  }

  @Test("A node whose view of the store is older than 5 s answers no device")
  func cutOff() throws {
    _ = try open()
    let node = try follow()
    let service = try Service(
      package: StoreSuite.package, world: database.world, store: { _ in node })
    try service.requireRecentView()
    database.clock.advance(.milliseconds(5_500))
    let error = #expect(throws: ServerError.self) { try service.requireRecentView() }
    #expect(error?.code == .storeUnreachable && error?.isTransient == true)
    try service.catchUp()
    try service.requireRecentView()
  }

  @Test("Operations of a device are performed in their order, whichever nodes took them in")
  func order() throws {
    let leader = try open()
    let service = try Service(
      package: StoreSuite.package, world: database.world, store: { _ in leader })
    let ticket = try service.beginLoad()
    while case .again = try service.endLoad(ticket) {}
    let (proof, node) = (StoreProof(database, leader), try follow())
    let ids = [proof.newID(), proof.newID()]
    _ = try node.receive([proof.operation(ids[0])])
    _ = try leader.receive([proof.operation(ids[1])])
    try service.catchUp()
    // There is no such row: both are refused, one after the other.
    #expect(try service.nextReplay() == nil)
    #expect(try proof.answers() == ids)
    let other = Package(
      name: "other", version: "1.0", entities: [StoreSuite.item], groups: StoreSuite.package.groups)
    let second = try Service(package: other, world: database.world) { package throws(ServerError) in
      try PostgreSQLStore(
        database.address, package: package, world: database.world, lease: nil)
    }
    #expect(second.leadership != service.leadership)
  }

  @Test("A node that follows counts what waits of a device and its user, wherever it was taken in")
  func waiting() throws {
    let leader = StoreProof(database, try open())
    let nodes = [try follow(), try follow()]
    let ids = (0..<3).map { _ in leader.newID() }
    let other = Owner(device: "tablet", user: "ada")
    _ = try nodes[0].receive([leader.operation(ids[0])])
    _ = try leader.store.receive([leader.operation(ids[1]), leader.operation(ids[2], owner: other)])
    let bytes = leader.operation(ids[0]).bytes.count
    #expect(
      try nodes[1].waiting(of: StoreSuite.ada)
        == WaitingOperations(ofDevice: 2, ofUser: 3, bytesOfUser: 3 * bytes))
    try leader.answer([ids[0]])
    #expect(try nodes[1].waiting(of: StoreSuite.ada)?.ofDevice == 1)
    #expect(try nodes[1].waiting(of: StoreSuite.ben)?.ofUser == 0)
  }

  @Test("A store that a newer server has changed is refused, and nothing of it is touched")
  func newer() throws {
    _ = try open()
    try other.execute("UPDATE ferry_store.server SET schema_version = 99")
    let before = try state()
    let error = #expect(throws: ServerError.self) { _ = try follow() }
    #expect(error?.code == .newerStore)
    #expect(try state() == before)
  }
}
