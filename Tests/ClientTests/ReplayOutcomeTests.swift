import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("The answer to what was submitted", .timeLimit(.minutes(60)))
struct ReplayOutcomeTests {
  private func open(
    _ decide: @escaping ShoreTransport.Decide
  ) async throws -> (Depot, ShoreTransport) {
    let depot = try Depot(decide: decide)
    try await depot.database.onlineLogin(user: "nancy", password: "p")
    try depot.database.subscribe()
    try await depot.database.synchronize()
    return (depot, depot.transport)
  }

  private func submitted(_ depot: Depot) throws -> Article {
    var article = try depot.article(7, "Nail", price: 3)
    try article.submitPending()
    return article
  }

  private func outcome(_ article: Article, _ depot: Depot) async throws -> ReplayOutcome<Article> {
    async let outcome = article.replayOutcome(within: .seconds(600))
    for _ in 0..<3 { try await depot.database.synchronize() }
    return try await outcome
  }

  @Test("Accepted, with the values that the business system made of it")
  func accepted() async throws {
    let (depot, _) = try await open { shore, operation in
      shore.accept(operation.id, changing: [4: .text("4")])
    }
    guard case .accepted(let article?) = try await outcome(try submitted(depot), depot) else {
      Issue.record("not accepted")
      return
    }
    #expect(article.price == 4 && !article.isPending)
    // Asked again later, as after a restart.
    guard case .accepted = try await article.replayOutcome() else {
      Issue.record("not accepted any more")
      return
    }
    await depot.database.close()
  }

  @Test(
    "Accepted, with what the business system says of it, until the next change is accepted",
    .reference("sync/P14"))
  func acceptedWithRemarks() async throws {
    let (depot, _) = try await open { shore, operation in
      let isFirst = operation.kind == .create
      let records = [LogRecord.Level.warn, .info].map { level in
        LogRecord(
          component: operation.entity, entityKey: operation.key?.text ?? "",
          code: LogRecord.remark, message: isFirst ? "first" : "second",
          operation: operation.kind, requestID: operation.id, timestamp: 1, level: level)
      }
      shore.accept(operation.id, saying: records)
    }
    guard case .accepted(var article?) = try await outcome(try submitted(depot), depot) else {
      Issue.record("not accepted")
      return
    }
    #expect(!article.isPending && article.replayFailed == false)
    #expect(try article.logRecords.map(\.message) == ["first", "first"])
    #expect(try article.logRecords.map(\.level) == [.warn, .info])
    article.price = 5
    try article.update()
    try article.submitPending()
    _ = try await outcome(article, depot)
    #expect(try article.logRecords.map(\.message) == ["second", "second"])
    await depot.database.close()
  }

  @Test("Refused, with the reasons; and still so when it is asked again")
  func refused() async throws {
    let (depot, _) = try await open { shore, operation in
      shore.refuse(operation.id, "sold out")
    }
    for _ in 0..<2 {
      let article = try Article.findAll(in: depot.database).first ?? submitted(depot)
      guard case .refused(let refused, let reasons) = try await outcome(article, depot) else {
        Issue.record("not refused")
        return
      }
      #expect(reasons.map(\.message) == ["sold out"])
      #expect(refused?.replayFailed == true)
    }
    await depot.database.close()
  }

  @Test(
    "What was refused and then cancelled is no acceptance")
  func knownOrNot() async throws {
    let isRefusing = Mutex(false)
    let (depot, _) = try await open { shore, operation in
      if isRefusing.withLock({ $0 }) {
        shore.refuse(operation.id, "no")
      } else {
        shore.accept(operation.id)
      }
    }
    // Answered before anybody asked.
    var article = try submitted(depot)
    for _ in 0..<3 { try await depot.database.synchronize() }
    guard case .accepted(let accepted?) = try await article.replayOutcome() else {
      Issue.record("not accepted")
      return
    }
    #expect(accepted.price == 3)
    isRefusing.withLock { $0 = true }
    try article.refresh()
    article.price = 5
    try article.update()
    try article.submitPending()
    guard case .refused(var refused?, _) = try await outcome(article, depot) else {
      Issue.record("not refused")
      return
    }
    try refused.cancelPending()
    for asked in [refused, article] {
      guard case .cancelled(let object?) = try await asked.replayOutcome() else {
        Issue.record("not cancelled")
        continue
      }
      #expect(object.price == 3)
    }
    await depot.database.close()
  }

  @Test("How the last change of an object ended is known to each copy, after a restart too")
  func restarted() async throws {
    let (depot, _) = try await open { shore, operation in shore.accept(operation.id) }
    let article = try submitted(depot)
    let path = depot.database.store.path
    for _ in 0..<3 { try await depot.database.synchronize() }
    await depot.database.close()

    let store = try Store(
      path: path, model: depot.database.store.model, world: .system(), durability: .application)
    let object = try #require(article.record.object)
    let record = try #require(try Records(store).of(Article.entity, object: object))
    guard case .accepted(let found?) = try await Article(record: record).replayOutcome() else {
      Issue.record("not accepted")
      return
    }
    #expect(found.price == 3)
    store.close()
  }

  @Test("Unknown, cancelled, too late, and not submitted at all")
  func others() async throws {
    let isSilent = Mutex(true)
    let (depot, _) = try await open { shore, operation in
      if !isSilent.withLock({ $0 }) { shore.answer(operation.id, .unknown) }
    }
    var article = try depot.article(7, "Nail")
    let early = await #expect(throws: FerryError.self) { try await article.replayOutcome() }
    #expect(early?.code == .notSubmitted)
    try article.submitPending()
    try await depot.database.synchronize()
    let waiting = article
    let late = await #expect(throws: FerryError.self) {
      try await waiting.replayOutcome(within: .milliseconds(1))
    }
    #expect(late?.code == .timedOut && late?.entity == "Article")
    async let outcome = waiting.replayOutcome(within: .seconds(600))
    // Cancelled as soon as somebody waits.
    while depot.database.store.answers.waiting == 0 { await Task.yield() }
    try article.cancelPending()
    guard case .cancelled = try await outcome else {
      Issue.record("not cancelled")
      return
    }
    isSilent.withLock { $0 = false }
    var other = try depot.article(8, "Nail")
    try other.submitPending()
    guard case .unknown = try await self.outcome(other, depot) else {
      Issue.record("not unknown")
      return
    }
    await depot.database.close()
    let closed = await #expect(throws: FerryError.self) { try await other.replayOutcome() }
    #expect(closed?.code == .closed)
  }

  @Test("Who waits for a graph hears that all of it was cancelled, and one who waits for a part")
  func cancelledGraph() async throws {
    let shop = try Filled()
    var basket = shop.newBasket("new")
    try basket.create()
    let item = shop.newItem(of: basket.id, 1, "plum")
    var saved = item
    try saved.create()
    try basket.submitPending()
    let (whole, part) = (basket, saved)
    async let outcome = whole.replayOutcome(within: .seconds(600))
    async let ofPart = part.replayOutcome(within: .seconds(600))
    while shop.device.store.answers.waiting < 2 { await Task.yield() }
    try basket.cancelPending()
    guard case .cancelled(nil) = try await outcome, case .cancelled(nil) = try await ofPart else {
      Issue.record("not cancelled")
      return
    }
  }

  @Test("Who waits hears of a refusal also for what was submitted behind it")
  func refusedBehind() async throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    for city in ["Kiel", "Ulm"] {
      order.city = city
      try order.update()
      try order.submitPending()
      if city == "Kiel" { try shop.device.exchange(shop.shore) }
    }
    let waiting = order
    async let outcome = waiting.replayOutcome(within: .seconds(600))
    while shop.device.store.answers.waiting < 1 { await Task.yield() }
    shop.shore.refuse(try shop.device.operations()[0].id, "no")
    try shop.device.exchange(shop.shore)
    guard case .refused(let refused?, _) = try await outcome else {
      Issue.record("not refused")
      return
    }
    #expect(refused.city == "Ulm" && refused.replayFailed)
  }

  @Test("Who waits hears that all data was cleaned away")
  func cleaned() async throws {
    let shop = try Stocked()
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let waiting = order
    async let outcome = waiting.replayOutcome(within: .seconds(600))
    while shop.device.store.answers.waiting < 1 { await Task.yield() }
    try shop.device.store.cleanAllData()
    guard case .cancelled(nil) = try await outcome else {
      Issue.record("not cancelled")
      return
    }
  }

  @Test("A create that was taken back before it was sent is cancelled, and not accepted")
  func cancelledUnsent() async throws {
    let depot = try Depot()
    var article = try depot.article(7, "Nail")
    let copy = article
    try article.cancelPending()
    for asked in [article, copy] {
      guard case .cancelled(nil) = try await asked.replayOutcome() else {
        Issue.record("not cancelled")
        continue
      }
    }
    let new = Article(record: ObjectRecord(Article.entity, in: depot.database))
    let unsent = try depot.article(8, "Screw")
    for (asked, code) in [(new, FerryError.Code.objectNotSaved), (unsent, .notSubmitted)] {
      let error = await #expect(throws: FerryError.self) { try await asked.replayOutcome() }
      #expect(error?.code == code && error?.entity == "Article")
    }
    await depot.database.close()
  }

  @Test("A delete is accepted with no object, also when it is asked after the answer came")
  func acceptedDelete() async throws {
    let (depot, _) = try await open { shore, operation in shore.accept(operation.id) }
    guard case .accepted(var article?) = try await outcome(try submitted(depot), depot) else {
      Issue.record("not accepted")
      return
    }
    let copy = article
    try await article.delete()
    try article.submitPending()
    for _ in 0..<2 {
      guard case .accepted(nil) = try await outcome(article, depot) else {
        Issue.record("not accepted")
        return
      }
    }
    guard case .accepted(nil) = try await copy.replayOutcome() else {
      Issue.record("what was accepted before is not accepted any more")
      return
    }
    await depot.database.close()
  }

  @Test("An answer that nobody waited for is told to who asks later")
  func askedLater() async throws {
    let (depot, _) = try await open { shore, operation in
      shore.answer(operation.id, .unknown)
    }
    let article = try submitted(depot)
    for _ in 0..<3 { try await depot.database.synchronize() }
    guard case .unknown(let object?) = try await article.replayOutcome() else {
      Issue.record("not unknown")
      return
    }
    #expect(object.isPending && !object.replayFailed)
    await depot.database.close()
  }

  @Test("synchronize has a deadline, and what is asked of the session keeps its order")
  func deadlines() async throws {
    let depot = try Depot(silent: true)
    let database = depot.database
    database.beginOnlineLogin(user: "nancy", password: "p")
    try database.subscribe()
    let late = await #expect(throws: FerryError.self) {
      try await database.synchronize(within: .milliseconds(1))
    }
    #expect(late?.code == .timedOut)
    // However the tasks are scheduled, the last word counts.
    for _ in 0..<200 {
      database.startBackgroundSynchronization()
      database.stopBackgroundSynchronization()
    }
    #expect(await database.isBackground == false)
    for _ in 0..<200 {
      database.stopBackgroundSynchronization()
      database.startBackgroundSynchronization()
    }
    #expect(await database.isBackground)
    await database.close()
  }
}
