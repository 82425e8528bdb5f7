import FerryModel
import FerrySQLite
import FerryWire
import Testing

@testable import Ferry

/// What was sent and is not waited for, on a device with sessions.
@Suite("Batches of a replication-based device")
struct BatchTests {
  private let shop: Stocked

  init() throws { shop = try Stocked() }

  private func begin(proceeds: Bool) throws {
    let session = shop.device.session
    session.begin(
      SynchronizationPlan(
        number: session.nextPlanNumber(), groups: Shop.package.groups.map(\.name),
        isUploadOnly: true))
    guard case .send = try session.next() else {
      Issue.record("nothing is sent")
      return
    }
    #expect(session.questions == [.starting, .uploading])
    guard proceeds else {
      #expect(try !session.answer(.cancel))
      return
    }
    while !session.questions.isEmpty { #expect(try session.answer(.proceed)) }
    session.leave()
  }

  private func isFinished(_ batch: Int64) throws -> Bool {
    let store = shop.device.store
    return try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in try BatchTable.isFinished(batch, connection) }
    }
  }

  /// How many operations each batch has.
  private func batches() throws -> [Int64: Int64] {
    let store = shop.device.store
    let rows = try store.read { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.rows(
          """
          SELECT number, (SELECT count(*) FROM ferry_batch_member WHERE batch = number)
          FROM ferry_batch
          """)
      }
    }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].integer ?? 0, $0[1].integer ?? 0) })
  }

  @Test("What an earlier session may have sent stays its own if a later one is cancelled unsent")
  func takenBack() throws {
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    try begin(proceeds: true)
    let away = FerryError(.offline, "nobody is there", hint: "Later.", isTransient: true)
    try shop.device.session.ended(.exchange, away)
    #expect(try batches() == [1: 1])
    _ = shop.device.session.takeEndedPlans()
    // The channel said meanwhile that it is answered.
    let store = shop.device.store
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        let id = try connection.value("SELECT id FROM ferry_operation")?.text
        try BatchTable.finish(
          operations: id.flatMap(OperationID.init).map { [$0] } ?? [], connection)
      }
    }
    try begin(proceeds: false)
    #expect(try batches() == [1: 1])
    #expect(try isFinished(1))
  }

  @Test("What a server had ended of a batch before it was restored is running again")
  func restoredServer() throws {
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let id = try shop.device.operations()[0].id
    try begin(proceeds: true)
    let session = shop.device.session
    let away = FerryError(.offline, "nobody is there", hint: "Later.", isTransient: true)
    try session.ended(.exchange, away)
    _ = session.takeEndedPlans()
    try hear(shop.shore, answered: id)
    #expect(try isFinished(1))
    // A restored server has the operation, and performs it again.
    shop.shore.era = "era-2"
    try hear(shop.shore, has: id)
    let running = try batches()
    #expect(try !isFinished(1), "\(running)")
    try hear(shop.shore, answered: id)
    #expect(try isFinished(1))
    // A word that was on its way since before the answer changes nothing.
    try hear(shop.shore, has: id)
    #expect(try isFinished(1))
  }

  @Test("A process that ends before the app hears of a fetched batch fetches it once more")
  func fetchedUnheard() throws {
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let id = try shop.device.operations()[0].id
    try begin(proceeds: true)
    let away = FerryError(.offline, "nobody is there", hint: "Later.", isTransient: true)
    try shop.device.session.ended(.exchange, away)
    _ = shop.device.session.takeEndedPlans()
    shop.shore.accept(id)
    try hear(shop.shore, answered: id)
    #expect(try isFinished(1))
    // Its results arrive, and the process ends.
    try exchange()
    #expect(try batches().keys.contains(1))
    #expect(shop.device.session.hasEndedPlans)
    try shop.device.restart()
    try exchange()
    let ended = shop.device.session.takeEndedPlans()
    let heard = ended.filter { $0.error == nil }.map(\.plan.origin)
    #expect(heard.contains(.completion(batch: 1)))
    // The app has heard of it.
    _ = try shop.device.session.next()
    let left = try batches()
    #expect(left[1] == nil, "\(left)")
  }

  private func proceed() throws {
    let session = shop.device.session
    while !session.questions.isEmpty { #expect(try session.answer(.proceed)) }
  }

  /// A whole exchange; the app answers what it is asked.
  private func exchange() throws {
    let request = try #require(try shop.device.request())
    let session = shop.device.session
    try proceed()
    session.received(status: 200, on: request.lane)
    for message in try shop.shore.respond(to: request.body) {
      try session.received(message.frame.encoded(), on: request.lane)
      while !session.questions.isEmpty {
        try proceed()
        try session.received([], on: request.lane)
      }
    }
    try session.ended(request.lane, nil)
  }

  /// The welcome of a server that has answered an operation, or has it in work.
  private func hear(
    _ shore: Shore, answered: OperationID? = nil, has known: OperationID? = nil
  ) throws {
    let request = try #require(try shop.device.request())
    try proceed()
    var welcome: Welcome?
    for case .welcome(let found) in try shore.respond(to: request.body) { welcome = found }
    let states =
      [answered.map { OperationStatus(id: $0, state: .answered) }]
      + [known.map { OperationStatus(id: $0, state: .inWork) }]
    welcome?.operations = states.compactMap(\.self)
    let away = FerryError(.offline, "the line broke", hint: "Later.", isTransient: true)
    let session = shop.device.session
    session.received(status: 200, on: request.lane)
    try session.received(
      try #require(welcome.map { Message.welcome($0) }).frame.encoded(), on: request.lane)
    try session.ended(request.lane, away)
    _ = session.takeEndedPlans()
    shop.device.clock.advance(3_600_000)
  }
}
