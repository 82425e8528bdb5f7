import FerryConnector
import FerryModel
import FerryRESTConnector
import Testing

/// One operation at a service, over a line that fails in every way.
@Suite(.timeLimit(.minutes(60)))
struct OperationTests {
  private let accepted: OperationOutcome = .accepted(key: ObjectKey([.integer(1)]))
  private let repeated: OperationOutcome = .accepted(
    key: ObjectKey([.integer(1)]), isRepeated: true)

  @Test func anUpdateIsWrittenOnce() async throws {
    let bench = try Bench([.one])
    let result = await bench.perform(bench.update())
    let row: [AttributeValue] = [.integer(1), .text("one"), .integer(6)]
    #expect(
      result
        == .done(
          [accepted],
          touched: [RowImage(entity: "Item", key: ObjectKey([.integer(1)]), values: row)]))
    #expect(bench.service.applied == 1)
    let change = bench.service.requests.last { $0.method == .patch }
    #expect(change.map { String(decoding: $0.body, as: UTF8.self) } == "{\"amount\":6}")
    #expect(change?.headers["If-Match"] == "\"1\"")
    #expect(await bench.ask { $0.abilities(of: Bench.item).conditionalWrites })
  }

  @Test func aDifferenceIsAConflictAndNothingIsSent() async throws {
    let bench = try Bench([FakeService.Row(id: 1, name: "one", amount: 7)])
    let refusal = await bench.refusal(bench.update())
    #expect(refusal?.code == 412)
    #expect(refusal?.currentValue == .integer(7))
    #expect(bench.service.writes == 0)
  }

  /// Every way in which the answer to a change may be lost: the change is there once, and is told.
  @Test(arguments: [
    FakeService.Fault.lostBefore, .lostAfter, .late, .cutBody, .away,
    .status(429, isDone: false, headers: ["Retry-After": "2"]), .status(502, isDone: false),
    .status(502, isDone: true), .status(503, isDone: false, headers: ["Retry-After": "1"]),
    .status(504, isDone: true),
    .status(200, isDone: true, body: "<!DOCTYPE html><html><body>Log in</body></html>"),
    .status(200, isDone: false, body: "<!DOCTYPE html><html><body>Log in</body></html>"),
    .status(404, isDone: false, body: "<html><body>no such page</body></html>"),
    .status(404, isDone: false, body: "404 page not found"), .race,
  ])
  func nothingIsLostOrDoubled(_ fault: FakeService.Fault) async throws {
    let bench = try Bench([.one])
    await bench.prove()
    bench.service.change { $0.faults = [fault] }
    let before = bench.service.applied
    let outcome = try await bench.replay(bench.update())
    bench.service.deliverLate()
    #expect(outcome == accepted || outcome == repeated)
    #expect(bench.service.rows("items")[1]?.amount == 6)
    #expect(bench.service.applied == before + 1)
  }

  @Test(arguments: [FakeService.Fault.lostBefore, .lostAfter, .late])
  func anotherProcessFindsOut(_ fault: FakeService.Fault) async throws {
    let bench = try Bench([.one])
    await bench.prove()
    let operation = bench.update()
    bench.service.change { $0.faults = [fault] }
    guard case .unknown? = await bench.outcomes(operation).first else {
      Issue.record("it is known")
      return
    }
    try bench.restart()
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
      try bench.restart()
      _ = try await bench.recall(operation)
      bench.clock.move(.seconds(121))
      #expect(
        try await bench.recall(operation) == [
          fault == .late ? .performed(repeated) : .notPerformed
        ])
    }
  }

  @Test func aServiceThatIgnoresConditionsIsNotTrusted() async throws {
    let bench = try Bench([.one])
    bench.service.change { $0.heedsConditions = false }
    #expect(await bench.outcomes(bench.update()) == [accepted])
    #expect(await bench.ask { !$0.abilities(of: Bench.item).conditionalWrites })
    let next = bench.operation(
      .update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    bench.service.change { $0.faults = [.lostBefore] }
    #expect(try await bench.replay(next) == .unknown(reason: "a person decides"))
  }

  @Test(arguments: ["{\"version\": \"/version\"}", "\"test\""])
  func otherConditionsHoldToo(_ condition: String) async throws {
    let update =
      condition == "\"test\"" ? "{\"address\": \"/items/{id}\", \"body\": \"patch\"}" : nil
    let bench = try Bench([.one], Bench.text("\"condition\": \(condition)", update: update))
    #expect(await bench.outcomes(bench.update()) == [accepted])
    #expect(await bench.ask { $0.abilities(of: Bench.item).conditionalWrites })
    bench.service.change { $0.faults = [.lostAfter] }
    let next = bench.operation(.update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    #expect(try await bench.replay(next) == repeated)
    #expect(bench.service.applied == 2)
  }

  @Test func theServicesSentenceIsTheRefusal() async throws {
    let bench = try Bench([.one])
    await bench.prove()
    bench.service.change {
      $0.rule = (
        422,
        """
        {"type":"about:blank","title":"Rule","detail":"The shelf is full.",
        "errors":[{"pointer":"#/amount"}]}
        """
      )
    }
    let refusal = await bench.refusal(bench.update())
    #expect(refusal?.code == 422)
    #expect(refusal?.message == "The shelf is full.")
    #expect(refusal?.attribute == "amount")
  }

  @Test func othersFormsOfRefusalsAreRead() async throws {
    for (body, message, attribute) in [
      (
        "{\"detail\":[{\"loc\":[\"body\",\"amount\"],\"msg\":\"too small\"}]}", "too small",
        "amount"
      ),
      (
        "{\"_issues\":{\"amount\":\"min value is 0\"},\"_status\":\"ERR\"}",
        "amount: min value is 0",
        "amount"
      ),
      ("{\"amount\":[\"must be positive\"]}", "amount: must be positive", "amount"),
      ("{\"error\":{\"message\":\"no\"}}", "no", nil as String?),
    ] {
      let bench = try Bench([.one])
      await bench.prove()
      bench.service.change { $0.rule = (400, body) }
      let refusal = await bench.refusal(bench.update())
      #expect(refusal?.message == message)
      #expect(refusal?.attribute == attribute)
    }
  }

  @Test(arguments: OperationPolicy.allCases)
  func aRowThatIsNotWantedIsNotRead(_ policy: OperationPolicy) async throws {
    let bench = try Bench([.one])
    await bench.prove()
    // Without a body: the answer does not have the row.
    bench.service.change { $0.faults = [.status(204, isDone: true)] }
    var update = bench.update()
    update.policy = policy
    let sent = update
    let before = bench.service.requests.count
    guard case .done(let outcomes, let touched) = await bench.perform(sent) else {
      Issue.record("it is not done")
      return
    }
    #expect(outcomes == [accepted])
    #expect(touched.isEmpty == !policy.needsRow)
    // To be compared, to be written, and to be read again.
    #expect(bench.service.requests.count - before == (policy.needsRow ? 3 : 2))
  }

  @Test func aPageOfAProxyIsNoRefusal() async throws {
    let bench = try Bench([.one])
    await bench.prove()
    bench.service.change { $0.faults = [.status(400, isDone: false, body: "<html>bad</html>")] }
    guard case .notDone = await bench.perform(bench.update()) else {
      Issue.record("it is a refusal")
      return
    }
  }

  @Test func rulesOfTheMappingDecide() async throws {
    let rules = """
      "results": [{"status": 200, "at": "/ok", "is": false, "means": "refusal", "code": 403,
        "textAt": "/why"}, {"status": "4xx", "at": "/code", "is": "LOCKED", "means": "later"}]
      """
    let bench = try Bench([.one], Bench.text(top: rules))
    await bench.prove()
    bench.service.change { $0.rule = (200, "{\"ok\":false,\"why\":\"Not you.\"}") }
    let refusal = await bench.refusal(bench.update())
    #expect(refusal?.code == 403)
    #expect(refusal?.message == "Not you.")
    bench.service.change { $0.rule = (409, "{\"code\":\"LOCKED\",\"detail\":\"in use\"}") }
    #expect(await bench.perform(bench.update()) == .notDone(reason: "in use"))
  }

  @Test func aPauseOfTheServiceIsKept() async throws {
    let bench = try Bench([.one])
    await bench.prove()
    bench.service.change {
      $0.faults = [.status(429, isDone: false, headers: ["Retry-After": "30"])]
    }
    guard case .notDone = await bench.perform(bench.update()) else {
      Issue.record("it is done")
      return
    }
    let before = bench.service.requests.count
    guard case .notDone = await bench.perform(bench.update()) else {
      Issue.record("it is done")
      return
    }
    #expect(bench.service.requests.count == before)
    bench.clock.move(.seconds(31))
    #expect(await bench.outcomes(bench.update()) == [accepted])
  }

  @Test func theJudgeIsAskedBeforeAnythingIsWritten() async throws {
    let bench = try Bench([.one])
    let judge = RowJudge { row, _ throws(ConnectorError) in row[2] != .integer(6) }
    #expect(await bench.refusal(bench.update(judge: judge))?.code == 403)
    #expect(bench.service.writes == 0)
  }

  @Test func aKeyThatWouldLeaveTheServiceIsNotSent() async throws {
    for text in ["..", ".", "", "a/../b"] {
      let entity = Entity(
        name: "Item", table: "items",
        attributes: [
          Attribute(name: "id", column: "id", type: .string, isNullable: false),
          Attribute(name: "name", column: "name", type: .string, isNullable: true),
          Attribute(name: "amount", column: "amount", type: .int, isNullable: true),
        ], key: [0], keyOrigin: .app, relationships: [],
        operations: Set(OperationKind.allCases), partition: nil, group: "all")
      let bench = try Bench([.one])
      let operation = ConnectorOperation(
        id: OperationID(String(repeating: "1", count: 32))!, entity: entity, kind: .delete,
        key: ObjectKey([.text(text)]), changed: [:], base: [:])
      let outcomes = await bench.outcomes(operation)
      #expect(
        bench.service.requests.allSatisfy { $0.url.hasPrefix("\(FakeService.root)/items/a%2F") },
        "\(text): \(bench.service.requests.map(\.url))")
      if text != "a/../b" {
        guard case .refused = outcomes[0] else { Issue.record("\(text)"); continue }
      }
    }
  }
}
