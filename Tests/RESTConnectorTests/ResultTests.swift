import FerryConnector
import FerryModel
import FerryRESTConnector
import FerryTestTraits
import Testing

/// A service that says in the text of its answers what became of a change.
@Suite(.timeLimit(.minutes(60)))
struct ResultTests {
  private static let rules = """
    "refusals": {"code": "/code"}, "results": [
      {"at": "/code", "is": ["W1", "W2"], "means": "warning", "textAt": "/messages"},
      {"at": "/code", "is": "E1", "means": "refusal", "code": 422},
      {"status": "2xx", "at": "/code", "is": ["F1"], "means": "failure"}]
    """

  private let accepted: OperationOutcome = .accepted(key: ObjectKey([.integer(1)]))

  private func answer(_ bench: Bench, _ body: String, isDone: Bool = true, status: Int = 200) {
    bench.service.change { $0.faults = [.status(status, isDone: isDone, body: body)] }
  }

  @Test(
    "A code in the answer warns of a change that was done: each sentence is a note",
    .reference("facts/2.5", "sync/P14"))
  func warns() async throws {
    let bench = try Bench([.one], Bench.text(top: Self.rules))
    await bench.prove()
    answer(bench, #"{"code":"W2","messages":["The stock is low.","Order some."]}"#)
    #expect(await bench.outcomes(bench.update()) == [accepted])
    #expect(
      bench.notes == [
        ResultNote(.warning, "The stock is low.", businessCode: "W2"),
        ResultNote(.warning, "Order some.", businessCode: "W2"),
      ])
    // The next change has nothing to say.
    let next = bench.operation(.update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    #expect(await bench.outcomes(next) == [accepted])
    #expect(bench.notes == [])
  }

  @Test("Codes mean that a change was refused, or that it failed")
  func refuses() async throws {
    let bench = try Bench([.one], Bench.text(top: Self.rules))
    await bench.prove()
    for (code, expected) in [("E1", 422), ("F1", 500)] {
      answer(bench, #"{"code":"\#(code)","message":"No."}"#, isDone: false)
      let refusal = await bench.refusal(bench.update())
      #expect(refusal?.code == expected)
      #expect(refusal?.message == "No.")
      #expect(refusal?.constraint == code)
    }
    #expect(bench.notes == [])
    #expect(bench.service.rows("items")[1]?.amount == 5)
  }

  @Test("A rule of an entity comes before those of all, and may be for some changes only")
  func ofOneEntity() async throws {
    let own = #""results": [{"for": "update", "at": "/code", "is": "E1", "means": "warning"}]"#
    let bench = try Bench([.one], Bench.text(own, top: Self.rules))
    await bench.prove()
    answer(bench, #"{"code":"E1","message":"It is done."}"#)
    #expect(await bench.outcomes(bench.update()) == [accepted])
    #expect(bench.notes.map(\.message) == ["It is done."])
    answer(bench, #"{"code":"E1","message":"No."}"#, isDone: false)
    let delete = bench.operation(
      .delete, Bench.item, 1, base: [0: .integer(1), 1: .text("uno"), 2: .integer(6)])
    #expect(await bench.refusal(delete)?.message == "No.")
  }

  @Test("An answer that ended early is no success where its text says what became of the change")
  func endedEarly() async throws {
    let bench = try Bench([.one], Bench.text(top: Self.rules))
    await bench.prove()
    bench.service.change { $0.faults = [.cutBody] }
    let update = bench.update()
    guard case .unknown? = await bench.outcomes(update).first else {
      Issue.record("it is known")
      return
    }
    let before = bench.service.applied
    #expect(
      try await bench.replay(update)
        == .accepted(key: ObjectKey([.integer(1)]), isRepeated: true))
    #expect(bench.service.applied == before)
  }

  /// As a company writes one.
  private struct Checker: ResultChecker {
    let verdict: @Sendable (BusinessAnswer) -> ResultVerdict?
    func check(_ answer: BusinessAnswer) -> ResultVerdict? { verdict(answer) }
  }

  private static let judge = Checker { answer in
    guard answer.header("x-result") == "7", answer.entity == "Item", answer.kind == .update,
      answer.status == 200
    else { return nil }
    switch String(decoding: answer.body, as: UTF8.self) {
    case "\"noted\"": return .accepted(notes: [ResultNote(.info, "It is done.")])
    case "\"no\"": return .refused(Refusal(code: 403, message: "Not you."))
    case "\"later\"": return .notDone(reason: "in work")
    case "\"who knows\"": return .unknown(reason: "the line broke behind us")
    default: return nil
    }
  }

  @Test(
    "A checker of the company's own comes before the rules, and gets the whole answer",
    .reference("facts/2.5"))
  func checker() async throws {
    let silent = Checker { _ in nil }
    let bench = try Bench([.one], Bench.text(top: Self.rules), checkers: [silent, Self.judge])
    await bench.prove()
    func say(_ body: String, isDone: Bool) {
      bench.service.change {
        $0.faults = [
          .status(200, isDone: isDone, headers: ["X-Result": "7"], body: "\"\(body)\"")
        ]
      }
    }
    say("no", isDone: false)
    #expect(await bench.refusal(bench.update())?.message == "Not you.")
    say("later", isDone: false)
    #expect(await bench.perform(bench.update()) == .notDone(reason: "in work"))
    say("noted", isDone: true)
    #expect(await bench.outcomes(bench.update()) == [accepted])
    #expect(bench.notes == [ResultNote(.info, "It is done.")])
    say("who knows", isDone: true)
    let next = bench.operation(.update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    #expect(
      try await bench.replay(next) == .accepted(key: ObjectKey([.integer(1)]), isRepeated: true))
    // What none of them knows, the rules and the status decide.
    answer(bench, #"{"code":"E1","message":"No."}"#, isDone: false)
    let last = bench.operation(.update, Bench.item, 1, [2: .integer(8)], base: [2: .integer(7)])
    #expect(await bench.refusal(last)?.code == 422)
  }

  @Test("Long sentences, and a thousand of them, are cut")
  func bounded() throws {
    let notes = (0..<1_000).map { _ in ResultNote(.warning, String(repeating: "x", count: 9_000)) }
    let bench = try Bench()
    bench.update().note(notes)
    #expect(bench.notes.count == ResultNotes.limit)
    #expect(bench.notes.first?.message.count == 500)
  }
}
