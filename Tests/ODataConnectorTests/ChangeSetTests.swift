import FerryConnector
import FerryModel
import FerryODataConnector
import Testing

/// Chains as change sets.
@Suite(.timeLimit(.minutes(60)))
struct ChangeSetTests {
  private static let rows = [
    FakeService.Row(id: 1, name: "one", amount: 5), FakeService.Row(id: 2, name: "two", amount: 5),
  ]

  private func bench(_ kind: FakeService.ChangeSets) -> Bench {
    let bench = Bench(Self.rows, changeSets: true)
    bench.service.change { $0.changeSets = kind }
    return bench
  }

  private func key(_ number: Int64) -> ObjectKey { ObjectKey([.integer(number)]) }

  private func update(
    _ bench: Bench, _ number: Int64, from: Int64 = 5, to: Int64 = 6
  ) -> ConnectorOperation {
    bench.operation(
      .update, Bench.item, number, [2: .integer(to)], base: [2: .integer(from)])
  }

  private func isDone(_ outcomes: [OperationOutcome]) -> Bool {
    outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }
  }

  @Test func aChainIsOneRequest() async throws {
    let bench = bench(.whole)
    let create = bench.operation(.create, Bench.item, 3, [1: .text("three"), 2: .integer(1)])
    let delete = bench.operation(
      .delete, Bench.item, 2, base: [0: .integer(2), 1: .text("two"), 2: .integer(5)])
    let order = bench.operation(.create, Bench.order, nil, [1: .text("A-1")], temporaryKey: 900)
    let result = await bench.perform(update(bench, 1), create, delete, order)
    #expect(
      result
        == .done(
          [1, 3, 2, 1].map { .accepted(key: key($0)) },
          touched: [
            RowImage(
              entity: "Item", key: key(1), values: [.integer(1), .text("one"), .integer(6)]),
            RowImage(
              entity: "Item", key: key(3), values: [.integer(3), .text("three"), .integer(1)]),
            RowImage(entity: "Item", key: key(2), values: nil),
            RowImage(entity: "Order", key: key(1), values: [.integer(1), .text("A-1"), .null]),
          ]))
    // The first of the set proves that conditions hold inside a change set.
    #expect(bench.service.writes == 2)
    #expect(bench.service.applied == 4)
    #expect(
      isDone(await bench.outcomes(update(bench, 1, from: 6, to: 7), update(bench, 3, from: 1))))
    #expect(bench.service.writes == 3)
  }

  @Test func aRefusedMemberUndoesAll() async throws {
    let bench = bench(.whole)
    let taken = bench.operation(.create, Bench.item, 2, [1: .text("other")])
    _ = await bench.outcomes(update(bench, 1), update(bench, 2))
    let outcomes = await bench.outcomes(update(bench, 1, from: 6, to: 9), taken)
    #expect(outcomes.first == .notTried)
    guard case .refused(let refusal)? = outcomes.last else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(refusal.message == "there is one already")
    #expect(bench.service.items[1]?.amount == 6)
  }

  @Test func aConflictSendsNothing() async throws {
    let bench = bench(.whole)
    let outcomes = await bench.outcomes(update(bench, 1), update(bench, 2, from: 4))
    #expect(outcomes.first == .notTried)
    if case .refused = outcomes.last {} else { Issue.record("\(outcomes)") }
    #expect(bench.service.writes == 0)
  }

  /// Somebody else writes between the reading and the change set: it is read again and sent once more.
  @Test func aRaceIsReadAgain() async throws {
    let bench = bench(.whole)
    _ = await bench.outcomes(update(bench, 1), update(bench, 2))
    bench.service.change { $0.faults = [.race] }
    let outcomes = await bench.outcomes(
      update(bench, 1, from: 6, to: 7), update(bench, 2, from: 6, to: 7))
    #expect(isDone(outcomes))
    #expect(bench.service.items.values.map(\.amount) == [7, 7])
    #expect(bench.service.applied == 4)
  }

  @Test(arguments: [
    FakeService.Fault.lostBefore, .lostAfter, .late, .cutBody, .away, .status(502, isDone: true),
    .status(502, isDone: false), .status(429, isDone: false),
    .status(200, isDone: true, body: "<!DOCTYPE html><html><body>Log in</body></html>"),
  ])
  func nothingIsLostOrDoubled(_ fault: FakeService.Fault) async throws {
    let bench = bench(.whole)
    _ = await bench.outcomes(update(bench, 1), update(bench, 2))
    bench.service.change { $0.faults = [fault] }
    let chain = [
      update(bench, 1, from: 6, to: 7),
      bench.operation(.create, Bench.order, nil, [1: .text("A-1")], temporaryKey: 900),
      update(bench, 2, from: 6, to: 7),
    ]
    #expect(isDone(try await bench.replay(chain)))
    bench.service.deliverLate()
    #expect(bench.service.items.values.map(\.amount) == [7, 7])
    #expect(bench.service.orders.count == 1)
    #expect(bench.service.applied == 5)
  }

  /// It takes one operation only: chains go one by one from then on, and the log says so once.
  @Test(arguments: [FakeService.ChangeSets.onlyOne, .none])
  func aServiceThatTakesOneIsAskedOneByOne(_ kind: FakeService.ChangeSets) async throws {
    let bench = bench(kind)
    #expect(isDone(await bench.outcomes(update(bench, 1), update(bench, 2))))
    #expect(isDone(await bench.outcomes(update(bench, 1, from: 6), update(bench, 2, from: 6))))
    #expect(bench.log.lines.filter { $0.contains("one by one") }.count == 1)
    #expect(bench.service.applied == 4)
    #expect(await bench.ask { !$0.abilities(of: Bench.item).atomicGroups })
  }

  /// The change is done as the user asked, and no later one goes without its condition.
  @Test func conditionsThatAreIgnoredInsideAreNoticed() async throws {
    let bench = bench(.withoutConditions)
    #expect(isDone(await bench.outcomes(update(bench, 1), update(bench, 2))))
    #expect(bench.service.applied == 2)
    #expect(bench.log.lines.filter { $0.contains("ignores conditions") }.count == 1)
    bench.service.change { $0.faults = [.race] }
    #expect(isDone(await bench.outcomes(update(bench, 1, from: 6), update(bench, 2, from: 6))))
  }

  /// A failed part under a 200 is no success.
  @Test func aPartThatFailsIsNotTakenForDone() async throws {
    let bench = bench(.inParts)
    // The first one asks whether conditions hold: one member fails by that, and the other one is done.
    #expect(isDone(try await bench.replay([update(bench, 1), update(bench, 2)])))
    #expect(bench.service.applied == 2)
    let taken = bench.operation(.create, Bench.item, 2, [1: .text("other")])
    let outcomes = try await bench.replay([update(bench, 1, from: 6, to: 7), taken])
    #expect(isDone([outcomes[0]]))
    if case .refused = outcomes[1] {} else { Issue.record("\(outcomes)") }
    #expect(bench.service.items[1]?.amount == 7)
    #expect(bench.log.lines.contains { $0.contains("did a part of a change set") })
  }

  /// A key that is taken by an equal row says nothing about the other members.
  @Test func anEqualRowOfSomebodyElseProvesNothing() async throws {
    let bench = bench(.whole)
    _ = await bench.outcomes(update(bench, 1), update(bench, 2))
    let same = bench.operation(.create, Bench.item, 2, [1: .text("two"), 2: .integer(6)])
    let outcomes = try await bench.replay([same, update(bench, 1, from: 6, to: 7)])
    #expect(isDone(outcomes))
    #expect(bench.service.items[1]?.amount == 7)
  }
}
