import Ferry
import FerryModel
import FerrySQLite
import FerryTestTraits
import FerryWire
import FerryWorld
import Testing

@testable import Ferry

@Suite("What became of one submit", .timeLimit(.minutes(60)))
struct SubmissionTests {
  private let shop: Stocked

  init() throws { shop = try Stocked() }

  /// Order 1 with another city, submitted.
  private func submit(_ city: String, _ order: inout Order) throws -> Submission<Order> {
    order.city = city
    try order.update()
    return try order.submitPending()
  }

  private func first() throws -> Order { try #require(try shop.device.order(1)) }

  /// Answers what was sent last.
  private func answer(_ body: (OperationID) -> Void) throws {
    try shop.device.exchange(shop.shore)
    body(try Operation(#require(shop.shore.received.last), in: shop.shore.model).id)
    try shop.device.exchange(shop.shore)
  }

  @Test(
    "Who submits twice hears of each change what became of it, also when it is asked later",
    .reference("facts/5.2")
  )
  func each() async throws {
    var order = try first()
    let kiel = try submit("Kiel", &order)
    try shop.device.exchange(shop.shore)
    let ulm = try submit("Ulm", &order)
    async let heard = text(kiel)
    while shop.device.store.answers.waiting < 1 { await Task.yield() }
    try answer { shop.shore.accept($0) }
    // What was submitted behind it is on its way and lies over it.
    #expect(try await heard == "accepted Ulm")
    try answer { shop.shore.refuse($0, "no Ulm") }
    for _ in 0..<2 {
      #expect(try await text(ulm) == "refused [\"no Ulm\"] Ulm")
      #expect(try await text(kiel) == "accepted Ulm")
    }
    #expect(text(try await order.replayOutcome()) == "refused [\"no Ulm\"] Ulm")
    try order.refresh()
    try order.cancelPending()
    // The answer to the submit stays what it was; of the object nothing waits any more.
    #expect(try await text(ulm) == "refused [\"no Ulm\"] Kiel")
    #expect(text(try await order.replayOutcome()) == "cancelled Kiel")
  }

  @Test("An answer that another process of the app has received is known here")
  func elsewhere() async throws {
    var order = try first()
    let kiel = try submit("Kiel", &order)
    try shop.device.exchange(shop.shore)
    let other = try Store(
      path: shop.device.path, model: Shop.package, world: .system(), durability: .application)
    let record = LogRecord(
      component: "Order", entityKey: "1", code: 500, message: "no Kiel \"today\"",
      operation: .update,
      requestID: try #require(kiel.operations.first), timestamp: 7, level: .error,
      attribute: "city")
    let answers = shop.device.store.answers
    let (last, _) = answers.wait(for: [])
    answers.giveBack(last)
    async let heard = kiel.outcome(within: .seconds(600))
    while answers.waiting < 1 { await Task.yield() }
    try other.write { connection throws(FerryError) in
      try other.sql { () throws(SQLiteError) in
        try connection.run("DELETE FROM ferry_operation")
      }
      for id in kiel.operations {
        other.ended(AnsweredOperation(id: id, outcome: .refused([record])))
      }
    }
    other.close()
    // As at the end of the limit: nobody told this process.
    answers.giveBack(last + 1)
    let outcome = try await heard
    guard case .refused(_, [record]) = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test("What is submitted behind a change that is refused is refused with it")
  func behind() async throws {
    var order = try first()
    let kiel = try submit("Kiel", &order)
    try shop.device.exchange(shop.shore)
    let ulm = try submit("Ulm", &order)
    try answer { shop.shore.refuse($0, "no Kiel") }
    #expect(try await text(kiel) == "refused [\"no Kiel\"] Ulm")
    #expect(try await text(ulm) == "refused [\"no Kiel\"] Ulm")
  }

  @Test("Two submits that are sent as one have one answer; submitting nothing more is the same one")
  func joined() async throws {
    var order = try first()
    let kiel = try submit("Kiel", &order)
    try shop.device.exchange(shop.shore)
    let ulm = try submit("Ulm", &order)
    let trier = try submit("Trier", &order)
    let again = try order.submitPending()
    #expect(ulm.operations == trier.operations && ulm.operations.count == 1)
    #expect(again.operations == ulm.operations)
    try answer { shop.shore.accept($0) }
    #expect(try order.submitPending().operations == ulm.operations)
    try answer { shop.shore.accept($0) }
    for submission in [kiel, ulm, trier, again] {
      #expect(try await text(submission) == "accepted Trier")
    }
    try order.refresh()
    #expect(try await text(order.submitPending()) == "nothingPending Trier")
  }

  @Test("Two submits that become one, since what kept them apart was recalled, have one answer")
  func recalled() async throws {
    var order = try first()
    var other = try #require(try shop.device.order(2))
    try shop.device.store.transaction { () throws(FerryError) in
      order.city = "Ulm"
      try order.update()
      other.city = "Jena"
      try other.update()
    }
    let ulm = try order.submitPending()
    let trier = try submit("Trier", &order)
    #expect(ulm.operations.isDisjoint(with: trier.operations))
    // Nothing was sent: the rest of the transaction waits again, before what was submitted behind it.
    try other.cancelPending()
    let all = try order.submitPending()
    #expect(all.operations.count == 1)
    async let heard = trier.outcome(within: .seconds(600))
    while shop.device.store.answers.waiting < 1 { await Task.yield() }
    try answer { shop.shore.accept($0) }
    guard case .accepted = try await heard else {
      Issue.record("the second submit was not answered")
      return
    }
    for submission in [ulm, trier, all] {
      #expect(try await text(submission) == "accepted Trier")
    }
  }

  @Test("A create that waits and its delete leave nothing to send: both are cancelled")
  func nothingLeft() async throws {
    var order = shop.device.newOrder("Jena")
    try order.create()
    try order.submitPending()
    try shop.device.exchange(shop.shore)
    var line = shop.device.newLine(of: order.id, 1, "nail")
    try line.create()
    let create = try line.submitPending()
    async let heard = create.outcome(within: .seconds(600))
    while shop.device.store.answers.waiting < 1 { await Task.yield() }
    try await line.delete()
    let delete = try line.submitPending()
    for outcome in [try await heard, try await delete.outcome(), try await create.outcome()] {
      guard case .cancelled(nil) = outcome else {
        Issue.record("not cancelled")
        continue
      }
    }
    #expect(try shop.device.operations().map(\.entity) == ["Order"])
  }

  @Test("Cancelled on its way, unless it turns out that it was done all the same")
  func cancelled() async throws {
    var order = try first()
    let done = try submit("Kiel", &order)
    try shop.device.exchange(shop.shore)
    try order.cancelPending()
    #expect(try await text(done) == "cancelled Bremen")
    try answer { shop.shore.accept($0) }
    #expect(try await text(done) == "accepted Kiel")
    try order.refresh()
    let refused = try submit("Ulm", &order)
    try shop.device.exchange(shop.shore)
    try order.cancelPending()
    try answer { shop.shore.refuse($0) }
    #expect(try await text(refused) == "cancelled Kiel")
  }

  @Test("What cannot be sent when its turn comes is refused by the device, with code 422")
  func refusedHere() async throws {
    var order = shop.device.newOrder("Jena")
    try order.create()
    let create = try order.submitPending()
    try shop.device.exchange(shop.shore)
    var line = shop.device.newLine(of: order.id, 1, "nail")
    try line.create()
    let behind = try line.submitPending()
    try await order.delete()
    try answer { shop.shore.refuse($0, "sold out") }
    guard case .refused(_?, let reasons) = try await behind.outcome() else {
      Issue.record("not refused")
      return
    }
    #expect(reasons.map(\.code) == [422])
    #expect(try await text(create) == "refused [\"sold out\"] -")
  }

  @Test("Several wait for one answer; who is cancelled stops waiting, and the others do not")
  func several() async throws {
    var order = try first()
    let kiel = try submit("Kiel", &order)
    let waiters = (0..<3).map { _ in Task { try await text(kiel) } }
    while shop.device.store.answers.waiting < 3 { await Task.yield() }
    waiters[0].cancel()
    let cancelled = await #expect(throws: FerryError.self) { try await waiters[0].value }
    #expect(cancelled?.code == .cancelled && cancelled?.entity == "Order")
    let late = await #expect(throws: FerryError.self) {
      try await kiel.outcome(within: .milliseconds(1))
    }
    #expect(late?.code == .timedOut && late?.message.contains("Order 1 was not answered") == true)
    #expect(shop.device.store.answers.waiting == 2)
    try answer { shop.shore.answer($0, .unknown) }
    for waiter in waiters.dropFirst() { #expect(try await waiter.value == "unknown Kiel") }
    #expect(shop.device.store.answers.waiting == 0)
  }

  @Test("After a restart the object tells what is known: a refusal, or what is on its way")
  func restarted() async throws {
    var order = try first()
    _ = try submit("Kiel", &order)
    try shop.device.exchange(shop.shore)
    try shop.device.restart()
    var again = try first()
    async let heard = text(try again.submitPending())
    while shop.device.store.answers.waiting < 1 { await Task.yield() }
    try answer { shop.shore.refuse($0, "no Kiel") }
    #expect(try await heard == "refused [\"no Kiel\"] Kiel")
    try shop.device.restart()
    #expect(text(try await first().replayOutcome()) == "refused [\"no Kiel\"] Kiel")
  }

  @Test("What was submitted in a transaction that was undone has no answer to wait for")
  func undone() async throws {
    var order = try first()
    let submission = try shop.device.store.transaction { () throws(FerryError) in
      order.city = "Kiel"
      try order.update()
      let submission = try order.submitPending()
      try shop.device.store.rollback()
      return submission
    }
    let error = await #expect(throws: FerryError.self) { try await submission.outcome() }
    #expect(error?.code == .notSubmitted && error?.entity == "Order")
  }
}

/// One word for each kind of outcome, and the city that it shows.
private func text(_ outcome: ReplayOutcome<Order>) -> String {
  let word =
    switch outcome {
    case .accepted: "accepted"
    case .refused(_, let reasons): "refused \(reasons.map(\.message))"
    case .unknown: "unknown"
    case .notTried: "notTried"
    case .cancelled: "cancelled"
    case .nothingPending: "nothingPending"
    }
  return "\(word) \(outcome.object?.city ?? "-")"
}

private func text(_ submission: Submission<Order>) async throws -> String {
  text(try await submission.outcome(within: .seconds(600)))
}
