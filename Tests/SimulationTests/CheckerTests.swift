import FerryModel
import FerryWire
import Testing

@testable import Ferry
@testable import FerrySimulation

/// What the checkers say of states that no run need meet: each lets pass what is right, and finds the
/// fault beside it.
@Suite("The checkers of the simulation")
struct CheckerTests {
  private static func key(_ values: AttributeValue...) -> ObjectKey { ObjectKey(values) }

  private static func operation(
    _ sequence: Int64, _ entity: String, _ kind: OperationKind, _ key: ObjectKey,
    object: Int64 = 1, changed: [Int: AttributeValue] = [:], base: [Int: AttributeValue] = [:],
    state: PendingOperation.State = .waiting, wanted: PendingOperation.Wanted = .no
  ) throws -> PendingOperation {
    let id = try #require(OperationID("000000000000000000000000000000\(10 + sequence)"))
    return PendingOperation(
      sequence: sequence, id: id, entity: entity, object: object, kind: kind, key: key,
      isTemporary: false, changed: changed, base: base, chain: id, state: state, wanted: wanted,
      isSent: state == .submitted, root: LocalObject(entity, object))
  }

  private static func watch(_ operations: [PendingOperation]) -> DeviceWatch {
    DeviceWatch(
      number: 0, trace: TraceLog(.kept, folder: "/simulation"), operations: operations)
  }

  private static func bySequence(_ operations: [PendingOperation]) -> [Int64: PendingOperation] {
    Dictionary(operations.map { ($0.sequence, $0) }, uniquingKeysWith: { $1 })
  }

  // MARK: - What waits for what

  private static let tag = SimulatedBusiness.tag

  /// The tag is of the line 3,1 for the business system, and was of the line 4,1 for the app.
  private func dependencies(
    _ changed: [Int: AttributeValue], isSent: Bool
  ) throws -> (check: DependencyCheck, before: [Int64: PendingOperation]) {
    let table = DeviceTable(
      Self.tag, rows: [],
      images: [1: [.text("T3"), .integer(3), .integer(1), .text("tag")]])
    let update = try Self.operation(
      1, "Tag", .update, Self.key(.text("T3")), changed: changed,
      base: [1: .integer(4), 3: .text("tag")])
    var delete = try Self.operation(2, "Line", .delete, Self.key(.integer(3), .integer(1)))
    delete.wanted = .yes
    let before = Self.bySequence([update, delete])
    if isSent { (delete.state, delete.wanted) = (.submitted, .no) }
    return (DependencyCheck([update, delete], [table]), before)
  }

  @Test("An update after which the whole reference still names the deleted object ends nothing")
  func leadsBack() throws {
    let values: [Int: AttributeValue] = [1: .integer(3), 3: .text("new")]
    let (sent, before) = try dependencies(values, isSent: true)
    #expect(sent.tooEarly(since: before) == nil)
    let (waiting, _) = try dependencies(values, isSent: false)
    #expect(waiting.forNothing()?.kind == .delete, "it waits for what ends no reference")
  }

  @Test(
    "An update that leads elsewhere ends the reference, also by one of two attributes",
    arguments: [[1: .integer(5)], [1: .integer(3), 2: .integer(2)], [2: .integer(7)]]
      as [[Int: AttributeValue]])
  func leadsAway(changed: [Int: AttributeValue]) throws {
    let (sent, before) = try dependencies(changed, isSent: true)
    let found = try #require(sent.tooEarly(since: before))
    #expect(found.sent.kind == .delete && found.first.kind == .update)
    let (waiting, _) = try dependencies(changed, isSent: false)
    #expect(waiting.forNothing() == nil)
  }

  // MARK: - Changes that become one

  private static let order = key(.integer(1 << 40))

  /// A create that was sealed and lost a member of its chain, an update that was submitted behind it,
  /// and one that was not.
  private func three() throws -> [PendingOperation] {
    [
      try Self.operation(
        1, "Order", .create, Self.order, changed: [2: .text("ULM"), 3: .integer(10)],
        wanted: .again),
      try Self.operation(
        2, "Order", .update, Self.order, changed: [2: .text("jena")], base: [2: .text("ULM")],
        wanted: .yes),
      try Self.operation(
        3, "Order", .update, Self.order, changed: [3: .integer(4)], base: [3: .integer(10)]),
    ]
  }

  private func submit(
    _ changes: [PendingOperation], leaving: [PendingOperation]
  ) throws {
    let watch = Self.watch(changes)
    watch.cause = .app
    watch.deeds.submit(.all(entity: "Order"))
    try watch.checkUntouched(Self.bySequence(leaving))
  }

  @Test("Three changes of an object become one when the app submits it, with the values of all")
  func joined() throws {
    let changes = try three()
    var all = changes[0]
    all.changed = [2: .text("jena"), 3: .integer(4)]
    all.state = .submitted
    try submit(changes, leaving: [all])
  }

  @Test("Three changes of an object become one where an answer gives them back to the app")
  func givenBack() throws {
    let changes = try three()
    var all = changes[0]
    all.changed = [2: .text("jena"), 3: .integer(4)]
    all.wanted = .no
    func importAnswer(leaving left: PendingOperation) throws {
      let watch = Self.watch(changes)
      watch.cause = .session
      try watch.checkOperations([1: left], [:], isAnswered: false, Ledger())
    }
    try importAnswer(leaving: all)
    var wrong = all
    wrong.changed = [2: .text("jena")]
    #expect(throws: SimulationFailure.self, "a change is lost") {
      try importAnswer(leaving: wrong)
    }
    wrong = all
    wrong.state = .submitted
    #expect(throws: SimulationFailure.self, "one that the app did not submit is sent") {
      try importAnswer(leaving: wrong)
    }
  }

  @Test(
    "Where one of three is lost, or its values are, that is found",
    arguments: [
      [2: .text("jena"), 3: .integer(10)], [2: .text("ULM"), 3: .integer(4)],
      [2: .text("jena")], [2: .text("jena"), 3: .integer(4), 4: .text("R")], nil,
    ] as [[Int: AttributeValue]?])
  func lost(values: [Int: AttributeValue]?) throws {
    let changes = try three()
    var left: [PendingOperation] = []
    if let values {
      left = [changes[0]]
      left[0].changed = values
    }
    let error = #expect(throws: SimulationFailure.self) { try submit(changes, leaving: left) }
    #expect(error?.invariant == 1)
  }

  @Test(
    "A create that became an update, or a change that stays and whose values were taken, is found")
  func wrongKind() throws {
    let changes = try three()
    var all = changes[0]
    all.changed = [2: .text("jena"), 3: .integer(4)]
    all.kind = .update
    #expect(throws: SimulationFailure.self) { try submit(changes, leaving: [all]) }
    all.kind = .create
    #expect(throws: SimulationFailure.self) { try submit(changes, leaving: [all, changes[2]]) }
  }

  /// Kinds of changes, and what they leave: nothing or a delete, by whether the object is there
  /// without them.
  @Test("A create and its delete leave nothing, or a delete; an update and a create are a create")
  func deletes() throws {
    var changes = try three()
    changes[2].kind = .delete
    changes[2].changed = [:]
    let check = try #require(JoinCheck(of: changes[1], before: changes, now: [:]))
    #expect(check.allows(nil) && check.allowsAnswered(nil))
    var left = changes[0]
    (left.kind, left.changed) = (.delete, [:])
    #expect(check.allows(left))
    (left.kind, left.changed) = (.create, changes[0].changed)
    #expect(!check.allows(left), "its delete is lost")
    changes[0].kind = .update
    let update = try #require(JoinCheck(of: changes[1], before: changes, now: [:]))
    #expect(
      !update.allows(nil) && !update.allowsAnswered(nil), "the delete of what is there is lost")
  }

  @Test(
    "A delete and a create after it are an update to what is new, and null where nothing is given")
  func madeAgain() throws {
    let base: [Int: AttributeValue] = [2: .text("ULM"), 3: .integer(10), 4: .text("R")]
    let changes = [
      try Self.operation(1, "Order", .delete, Self.order, base: base, wanted: .yes),
      try Self.operation(
        2, "Order", .create, Self.order, changed: [2: .text("ULM"), 3: .integer(4)]),
    ]
    let check = try #require(JoinCheck(of: changes[1], before: changes, now: [:]))
    var left = changes[0]
    left.kind = .update
    left.changed = [3: .integer(4), 4: .null]
    #expect(check.allows(left))
    left.changed = [4: .null]
    #expect(!check.allows(left), "a value is lost")
    left.changed = [3: .integer(4), 4: .text("R")]
    #expect(!check.allows(left), "nobody gave it this value")
    #expect(!check.allows(nil), "all is lost")
  }

  // MARK: - What stands behind a refusal

  @Test(
    "What is behind a refused change goes only once that is done, by a server that was restored")
  func behindRefused() throws {
    let changes = try three()
    let ledger = Ledger()
    for change in changes { ledger.note(change, lineage: 1) }
    let (first, second) = (changes[0].id, changes[1].id)
    #expect(ledger.blocker(of: second) { _ in false } == nil)
    ledger.tell(
      Answer(id: first, version: 5, outcome: .notTried, newKey: nil, logRecords: []), in: nil)
    #expect(ledger.blocker(of: second) { _ in false } == first)
    #expect(ledger.blocker(of: second) { $0 == second } == first)
    #expect(ledger.blocker(of: second) { $0 == first } == nil)
    #expect(ledger.blocker(of: first) { _ in false } == nil)
    ledger.tell(
      Answer(id: second, version: 6, outcome: .replayFailed, newKey: nil, logRecords: []), in: nil)
    let third = changes[2].id
    #expect(ledger.blocker(of: third) { $0 == first } == second, "one of two is done")
    #expect(ledger.blocker(of: third) { $0 != third } == nil)
  }

  // MARK: - What an app has seen

  @Test("What a change did before its device was copied, the copy has seen too")
  func seenByBoth() throws {
    let create = try three()[0]
    let ledger = Ledger()
    let row = RowName(entity: "Order", key: Self.key(.integer(7)))
    ledger.note(create, lineage: 1)
    ledger.noteEffect(of: create.id, on: row, [.integer(7)])
    let delete = try Self.operation(9, "Order", .delete, Self.key(.integer(7)))
    ledger.note(delete, lineage: 2)
    #expect(!ledger.hasSeen(.integer(7), 0, of: row, delete.id), "no copy is known yet")
    ledger.note(create, lineage: 2)
    #expect(ledger.hasSeen(.integer(7), 0, of: row, delete.id))
    #expect(!ledger.hasSeen(.integer(8), 0, of: row, delete.id))
  }

  // MARK: - What leaves with its answer

  /// A delete on its way, a create of the same key behind it, and the delete of that.
  private func madeAndTakenBack() throws -> [PendingOperation] {
    let key = Self.key(.text("T7"))
    return [
      try Self.operation(1, "Tag", .delete, key, state: .submitted),
      try Self.operation(2, "Tag", .create, key, changed: [0: .text("T7")], wanted: .yes),
      try Self.operation(3, "Tag", .delete, key),
    ]
  }

  @Test("A change on its way that was refused is told, also where what came after it left nothing")
  func refusedAndTold() throws {
    let changes = try madeAndTakenBack()
    let watch = Self.watch(changes)
    watch.cause = .session
    let ledger = Ledger()
    let answer = Answer(
      id: changes[0].id, version: 5, outcome: .replayFailed, newKey: nil, logRecords: [])
    let shown = CheckpointName(group: "default", era: "e", version: 5)
    ledger.tell(answer, in: shown)
    try watch.checkOperations([:], ["default": shown], isAnswered: true, ledger)
    let told = CallbackRecorder.Told(kind: .failure, entity: "Tag", key: changes[0].key)
    #expect(watch.expected == [told: 1])
  }

  @Test("A change on its way that is gone unanswered is found, whatever came after it")
  func goneUnanswered() throws {
    let watch = Self.watch(try madeAndTakenBack())
    watch.cause = .session
    let error = #expect(throws: SimulationFailure.self) {
      try watch.checkOperations([:], [:], isAnswered: true, Ledger())
    }
    #expect(error?.invariant == 12)
  }

  @Test("What belongs to a new object is told under the key that this got by the same import")
  func toldUnderItsNewKey() throws {
    let order = try Self.operation(
      1, "Order", .create, Self.key(.integer(-5)), state: .submitted)
    let line = try Self.operation(
      2, "Line", .create, Self.key(.integer(-5), .integer(0)), state: .submitted)
    let watch = Self.watch([order, line])
    watch.cause = .session
    let ledger = Ledger()
    let shown = CheckpointName(group: "default", era: "e", version: 5)
    ledger.tell(
      Answer(
        id: order.id, version: 5, outcome: .replayResult, newKey: Self.key(.integer(7)),
        logRecords: []), in: shown)
    ledger.tell(
      Answer(id: line.id, version: 5, outcome: .replayFailed, newKey: nil, logRecords: []),
      in: shown)
    try watch.checkOperations([:], ["default": shown], isAnswered: true, ledger)
    let told = [
      CallbackRecorder.Told(kind: .success, entity: "Order", key: Self.key(.integer(7))),
      CallbackRecorder.Told(
        kind: .failure, entity: "Line", key: Self.key(.integer(7), .integer(0))),
    ]
    #expect(watch.expected == Dictionary(uniqueKeysWithValues: told.map { ($0, 1) }))
  }

  // MARK: - What gets another place

  /// What an import leaves of these, which it did not answer.
  private func take(_ changes: [PendingOperation], leaving left: [PendingOperation]) throws {
    let watch = Self.watch(changes)
    watch.cause = .session
    try watch.checkOperations(Self.bySequence(left), [:], isAnswered: false, Ledger())
  }

  @Test("An open change of a row that was here twice goes behind what waits, with all its values")
  func moved() throws {
    let key = Self.key(.integer(7))
    let open = try Self.operation(1, "Order", .update, key, object: 2, changed: [3: .integer(4)])
    let waiting = try Self.operation(
      2, "Order", .update, key, changed: [2: .text("jena")], wanted: .yes)
    var moved = try Self.operation(1, "Order", .update, key, changed: [3: .integer(4)])
    moved.sequence = 3
    try take([open, waiting], leaving: [waiting, moved])
    var wrong = moved
    wrong.changed = [:]
    #expect(throws: SimulationFailure.self, "a value is lost") {
      try take([open, waiting], leaving: [waiting, wrong])
    }
    let same = try Self.operation(1, "Order", .update, key, changed: [3: .integer(4)])
    #expect(throws: SimulationFailure.self, "the object was here once") {
      try take([same, waiting], leaving: [waiting, moved])
    }
  }

  @Test("An open change goes behind the second part of what was sent before it, as it was")
  func behindPart() throws {
    let key = Self.key(.integer(7))
    let first = try Self.operation(1, "Order", .update, key, state: .submitted)
    let open = try Self.operation(2, "Order", .create, key, changed: [2: .text("jena")])
    let part = try Self.operation(3, "Order", .delete, key, state: .submitted)
    var behind = open
    behind.sequence = 4
    try take([first, open], leaving: [first, part, behind])
    var wrong = behind
    wrong.changed = [:]
    #expect(throws: SimulationFailure.self, "it is another change") {
      try take([first, open], leaving: [first, part, wrong])
    }
    #expect(throws: SimulationFailure.self, "nothing was sent in two parts") {
      try take([first, open], leaving: [first, behind])
    }
  }
}
