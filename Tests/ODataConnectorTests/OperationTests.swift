import FerryConnector
import FerryModel
import FerryODataConnector
import Testing

/// One operation at a service, over a line that fails in every way.
@Suite(.timeLimit(.minutes(60)))
struct OperationTests {
  private let accepted: OperationOutcome = .accepted(key: ObjectKey([.integer(1)]))
  private let repeated: OperationOutcome = .accepted(
    key: ObjectKey([.integer(1)]), isRepeated: true)

  @Test func anUpdateIsWrittenOnce() async {
    let bench = Bench([.one])
    let result = await bench.perform(bench.update())
    let row: [AttributeValue] = [.integer(1), .text("one"), .integer(6)]
    #expect(
      result
        == .done(
          [accepted],
          touched: [RowImage(entity: "Item", key: ObjectKey([.integer(1)]), values: row)])
    )
    #expect(bench.service.applied == 1)
    // The first of the set proves that conditions hold; the second write is the change.
    #expect(bench.service.writes == 2)
    #expect(await bench.ask { $0.abilities(of: Bench.item).conditionalWrites })
  }

  @Test func aDifferenceIsAConflictAndNothingIsSent() async {
    let bench = Bench([FakeService.Row(id: 1, name: "one", amount: 7)])
    let outcomes = await bench.outcomes(bench.update())
    guard case .refused(let refusal)? = outcomes.first else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(refusal.code == 412)
    #expect(refusal.currentValue == .integer(7))
    #expect(bench.service.writes == 0)
  }

  /// Every way in which the answer to a change may be lost: the change is there once, and is told.
  @Test(arguments: [
    FakeService.Fault.lostBefore, .lostAfter, .late, .cutBody, .away,
    .status(429, isDone: false), .status(502, isDone: false), .status(502, isDone: true),
    .status(503, isDone: false, headers: ["Retry-After": "1"]), .status(504, isDone: true),
    .status(200, isDone: true, body: "<!DOCTYPE html><html><body>Log in</body></html>"),
    .status(200, isDone: false, body: "<!DOCTYPE html><html><body>Log in</body></html>"),
    .status(
      200, isDone: false, body: "{\"error\":{\"code\":\"X\",\"message\":\"in a success\"}}"),
    .status(404, isDone: false, body: "<html><body>no such page</body></html>"),
    .status(404, isDone: false, body: "404 page not found"), .race,
  ])
  func nothingIsLostOrDoubled(_ fault: FakeService.Fault) async throws {
    let bench = Bench([.one])
    // Conditions are proved, so that the fault meets the change itself.
    _ = await bench.outcomes(
      bench.operation(.update, Bench.item, 1, [1: .text("uno")], base: [1: .text("one")]))
    bench.service.change { $0.faults = [fault] }
    let before = bench.service.applied
    let outcome = try await bench.replay(bench.update())
    bench.service.deliverLate()
    #expect(outcome == accepted || outcome == repeated)
    #expect(bench.service.items[1]?.amount == 6)
    #expect(bench.service.applied == before + 1)
  }

  @Test(arguments: [FakeService.Fault.lostBefore, .lostAfter, .late])
  func anotherProcessFindsOut(_ fault: FakeService.Fault) async throws {
    let bench = Bench([.one])
    let operation = bench.update()
    _ = await bench.outcomes(
      bench.operation(.update, Bench.item, 1, [1: .text("uno")], base: [1: .text("one")]))
    bench.service.change { $0.faults = [fault] }
    guard case .unknown? = await bench.outcomes(operation).first else {
      Issue.record("it is known")
      return
    }
    bench.restart()
    let recalls = try await bench.recall(operation)
    if fault == .lostAfter {
      #expect(recalls == [.performed(repeated)])
    } else {
      guard case .mayStillArrive? = recalls.first else {
        Issue.record("\(recalls)")
        return
      }
      // It arrives, and a third process finds it.
      bench.service.deliverLate()
      bench.restart()
      _ = try await bench.recall(operation)
      bench.clock.move(.seconds(121))
      #expect(
        try await bench.recall(operation) == [
          fault == .late ? .performed(repeated) : .notPerformed
        ])
      if fault == .lostBefore { _ = try await bench.replay(operation) }
    }
    #expect(bench.service.items[1]?.amount == 6)
    #expect(bench.service.applied == 2)
  }

  /// The first request comes behind the refusal of the second: a refusal is told only when it cannot.
  @Test func aRefusalWaitsForLateRequests() async throws {
    let bench = Bench([.one])
    _ = await bench.outcomes(
      bench.operation(.update, Bench.item, 1, [1: .text("uno")], base: [1: .text("one")]))
    bench.service.change { $0.faults = [.late] }
    let operation = bench.update()
    _ = await bench.outcomes(operation)
    guard case .mayStillArrive = try await bench.recall(operation)[0] else {
      Issue.record("it is tried again too early")
      return
    }
    bench.service.change { $0.rule = "closed" }
    guard case .unknown? = await bench.outcomes(operation).first else {
      Issue.record("refused too early")
      return
    }
    guard case .mayStillArrive = try await bench.recall(operation)[0] else {
      Issue.record("it may still arrive")
      return
    }
    bench.service.change { $0.rule = nil }
    bench.service.deliverLate()
    #expect(try await bench.recall(operation) == [.performed(repeated)])
    #expect(bench.service.applied == 2)
  }

  @Test func theWordsOfTheServiceAreTold() async {
    let bench = Bench([.one])
    bench.service.change { $0.rule = "no more than five" }
    let outcomes = await bench.outcomes(bench.update())
    #expect(
      outcomes == [
        .refused(
          Refusal(
            code: 412, message: "no more than five", attribute: "amount", constraint: "S400"))
      ])
    #expect(bench.service.items[1]?.amount == 5)
  }

  @Test func aServiceThatIgnoresConditionsIsNotTrusted() async throws {
    let bench = Bench([.one])
    bench.service.change { $0.heedsConditions = false }
    #expect(await bench.outcomes(bench.update()) == [accepted])
    #expect(bench.service.applied == 1)
    #expect(await bench.ask { !$0.abilities(of: Bench.item).conditionalWrites })
    // What is lost now only a person can tell; it is never sent again.
    bench.service.change { $0.faults = [.late] }
    let operation = bench.operation(
      .update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    guard case .unknown = try await bench.replay(operation) else {
      Issue.record("it is told")
      return
    }
    bench.service.deliverLate()
    #expect(bench.service.applied == 2)
  }

  @Test func aServiceThatFailsOnAnOddETagIsAskedOtherwise() async throws {
    let bench = Bench([.one])
    bench.service.change { $0.failsOnOddETags = true }
    #expect(await bench.outcomes(bench.update()) == [accepted])
    #expect(bench.service.applied == 1)
    #expect(await bench.ask { $0.abilities(of: Bench.item).conditionalWrites })
  }

  @Test func aDeleteThatIsDoneIsDone() async throws {
    let bench = Bench([.one])
    _ = await bench.outcomes(
      bench.operation(.update, Bench.item, 1, [1: .text("uno")], base: [1: .text("one")]))
    bench.service.change { $0.faults = [.lostAfter] }
    let delete = bench.operation(
      .delete, Bench.item, 1, base: [0: .integer(1), 1: .text("uno"), 2: .integer(5)])
    #expect(try await bench.replay(delete) == repeated)
    #expect(bench.service.items.isEmpty)
  }

  @Test(arguments: [FakeService.Fault.lostBefore, .lostAfter, .late])
  func aCreateUnderAnOwnKeyIsMadeOnce(_ fault: FakeService.Fault) async throws {
    let bench = Bench()
    bench.service.change { $0.faults = [fault] }
    let create = bench.operation(.create, Bench.item, 1, [1: .text("new"), 2: .integer(1)])
    let outcome = try await bench.replay(create)
    bench.service.deliverLate()
    #expect(outcome == accepted || outcome == repeated)
    #expect(bench.service.applied == 1)
    #expect(bench.service.items[1]?.name == "new")
  }

  @Test func aKeyThatIsTakenIsRefused() async {
    let bench = Bench([.one])
    let outcomes = await bench.outcomes(
      bench.operation(.create, Bench.item, 1, [1: .text("other")]))
    guard case .refused(let refusal)? = outcomes.first else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(refusal.message == "there is one already")
  }

  @Test(arguments: [FakeService.Fault.lostBefore, .lostAfter, .late])
  func aCreateIsFoundByItsUniqueValue(_ fault: FakeService.Fault) async throws {
    let bench = Bench()
    bench.service.change { $0.faults = [fault] }
    let create = bench.operation(.create, Bench.order, nil, [1: .text("A-1"), 2: .integer(3)])
    guard case .unknown? = await bench.outcomes(create).first else {
      Issue.record("it is known")
      return
    }
    switch try await bench.recall(create)[0] {
    case .performed(let outcome):
      #expect(fault == .lostAfter)
      #expect(outcome == repeated)
    case .mayStillArrive:
      bench.service.deliverLate()
      bench.clock.move(.seconds(121))
      #expect(try await bench.replay(create) == (fault == .late ? repeated : accepted))
    case let other: Issue.record("\(other)")
    }
    #expect(bench.service.orders.map(\.name) == ["A-1"])
  }

  /// Somebody else ordered the same: nothing is taken for ours.
  @Test func aCreateThatNothingTellsIsLeftToAPerson() async throws {
    let bench = Bench()
    let other = FakeService.Row(id: 1, name: "A-1", amount: 3)
    bench.service.change { state in
      state.orders = [other]
      state.faults = [.lostBefore]
    }
    let create = bench.operation(.create, Bench.bare, nil, [1: .text("A-1"), 2: .integer(3)])
    _ = await bench.outcomes(create)
    guard case .cannotTell(_, let candidates) = try await bench.recall(create)[0] else {
      Issue.record("it is told")
      return
    }
    #expect(candidates.map(\.key) == [ObjectKey([.integer(1)])])
    #expect(bench.service.orders.count == 1)
  }

  @Test func aChainKeepsWhatWasAccepted() async {
    let bench = Bench([.one])
    bench.service.change { state in state.items[2] = FakeService.Row(id: 2, name: "two", amount: 5)
    }
    _ = await bench.outcomes(
      bench.operation(.update, Bench.item, 1, [1: .text("uno")], base: [1: .text("one")]))
    let first = bench.operation(.create, Bench.item, 3, [1: .text("three")])
    let second = bench.operation(.update, Bench.item, 2, [2: .integer(6)], base: [2: .integer(9)])
    let third = bench.operation(.create, Bench.item, 4, [1: .text("four")])
    let outcomes = await bench.outcomes(first, second, third)
    #expect(outcomes.count == 3)
    #expect(outcomes[0] == .accepted(key: ObjectKey([.integer(3)])))
    if case .refused = outcomes[1] {} else { Issue.record("\(outcomes[1])") }
    #expect(outcomes[2] == .notTried)
    #expect(bench.service.items[4] == nil)
  }

  /// The user's own rules are asked before anything is sent.
  @Test func aRowOfSomebodyElseIsNotWritten() async {
    let bench = Bench([.one])
    let judge = RowJudge { row, _ in row[1] == .text("mine") }
    let outcomes = await bench.outcomes(bench.update(judge: judge))
    guard case .refused(let refusal)? = outcomes.first else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(refusal.code == 403)
    #expect(bench.service.writes == 0)
  }

  @Test func aTokenGoesAlongWhereTheServiceWantsOne() async {
    let bench = Bench([.one])
    bench.service.change { $0.token = "t-1" }
    #expect(await bench.outcomes(bench.update()) == [accepted])
    // Another session of the service knows another one.
    bench.service.change { $0.token = "t-2" }
    let next = bench.operation(.update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    #expect(await bench.outcomes(next) == [accepted])
    #expect(bench.service.applied == 2)
  }

  /// Gives the old password once, and then the new one.
  private final class Passwords: CredentialSource {
    func credential(
      for user: String?, insteadOf rejected: Credential?
    ) throws(ConnectorError) -> Credential? {
      Credential(.password(user: "ferry", password: rejected == nil ? "old" : "new"))
    }
  }

  @Test func aCredentialIsRenewedOnce() async {
    let bench = Bench([.one], credentials: Passwords())
    // ferry:new
    bench.service.change { $0.user = "Basic ZmVycnk6bmV3" }
    let update = bench.update()
    // The first reading of the service is not accepted, and the next one has another credential.
    guard case .notDone = await bench.perform(update) else {
      Issue.record("it was done")
      return
    }
    #expect(await bench.outcomes(update) == [accepted])
    bench.service.change { $0.user = "Basic other" }
    let next = bench.operation(.update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    guard case .notDone = await bench.perform(next) else {
      Issue.record("it was done")
      return
    }
    #expect(bench.service.applied == 1)
  }
}
