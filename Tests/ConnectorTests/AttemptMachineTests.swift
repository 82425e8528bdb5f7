import FerryConnector
import Testing

/// Every run of small chains, breadth first: lost, late and doubled requests, another writer, a value
/// that comes back, two leaders.
@Suite(.timeLimit(.minutes(60)))
struct AttemptMachineTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let rules: AttemptWorld.Rules
    let budget: AttemptWorld.Budget
    /// The flaw that this row must show.
    var shows: [AttemptMachine.Flaw] = []
    /// Whether an outcome may stay unknown.
    var mayBeUnknown = true

    var testDescription: String { name }
  }

  struct Result {
    var states = 0
    var transitions = 0
    var ends = 0
    var unknown = 0
    var broken: String?
  }

  private static func explore(
    _ rules: AttemptWorld.Rules, _ budget: AttemptWorld.Budget
  ) -> Result {
    var result = Result()
    let first = AttemptWorld(rules, budget)
    var seen: Set<AttemptWorld> = [first]
    var level = [first]
    while !level.isEmpty {
      var next: [AttemptWorld] = []
      for world in level {
        result.states += 1
        if let broken = world.broken {
          result.broken = broken
          return result
        }
        let following = world.next(rules)
        if world.isSettled {
          result.ends += 1
          if world.objects.contains(where: { $0.settled == .unknown }) { result.unknown += 1 }
        } else if following.isEmpty {
          result.broken = "nothing goes on"
          return result
        }
        result.transitions += following.count
        for world in following where seen.insert(world).inserted { next.append(world) }
      }
      level = next
    }
    return result
  }

  private static let conditional = AttemptMachine.Means(isConditional: true)
  private static let marked = AttemptMachine.Means(isConditional: true, proof: .attribute)
  private static let repeatable = AttemptMachine.Means(isConditional: true, proof: .repeatable)
  private static let bare = AttemptMachine.Means(isConditional: false)

  private static func rules(
    _ operations: [(AttemptMachine.Kind, AttemptMachine.Means)], isChangeSet: Bool = false,
    hasHashes: Bool = false
  ) -> AttemptWorld.Rules {
    AttemptWorld.Rules(
      operations: operations.map { AttemptWorld.Setting(kind: $0.0, means: $0.1) },
      isChangeSet: isChangeSet, hasHashes: hasHashes)
  }

  private static func budget(
    _ losses: Int, others: Int = 0, rules: Int = 0, leaders: Int = 0
  ) -> AttemptWorld.Budget {
    AttemptWorld.Budget(losses: losses, others: others, rules: rules, leaders: leaders)
  }

  static let rows: [Row] = [
    Row(
      name: "update, versions", rules: rules([(.update, conditional)]),
      budget: budget(2, others: 2, rules: 1),
      shows: [.retryUnconditional, .oldETagRetry, .lateAfterRefusal]),
    Row(
      name: "update, hashes (A, B, A)", rules: rules([(.update, conditional)], hasHashes: true),
      budget: budget(2, others: 3, rules: 1), shows: [.retryUnconditional, .lateAfterRefusal]),
    Row(
      name: "update, nobody else", rules: rules([(.update, conditional)]),
      budget: budget(3, rules: 2, leaders: 1), shows: [.lateAfterRefusal], mayBeUnknown: false),
    Row(
      name: "update, two leaders", rules: rules([(.update, conditional)]),
      budget: budget(1, others: 2, rules: 1, leaders: 1), shows: [.lateAfterRefusal]),
    Row(
      name: "update without conditions", rules: rules([(.update, bare)]),
      budget: budget(2, others: 1, rules: 1, leaders: 1), shows: [.retryUnconditional]),
    Row(
      name: "delete, versions", rules: rules([(.delete, conditional)]),
      budget: budget(2, others: 2, rules: 1), shows: [.retryUnconditional, .lateAfterRefusal]),
    Row(
      name: "delete, two leaders", rules: rules([(.delete, conditional)], hasHashes: true),
      budget: budget(1, others: 2, rules: 1, leaders: 1), shows: [.lateAfterRefusal]),
    Row(
      name: "create, own key", rules: rules([(.createUnderOwnKey, conditional)]),
      budget: budget(2, others: 1, rules: 2), shows: [.lateAfterRefusal]),
    Row(
      name: "create, own key, nobody else", rules: rules([(.createUnderOwnKey, conditional)]),
      budget: budget(3, rules: 2, leaders: 1), mayBeUnknown: false),
    Row(
      name: "create, given key, nothing tells it", rules: rules([(.createUnderGivenKey, bare)]),
      budget: budget(2, others: 2, rules: 1, leaders: 1),
      shows: [.retryUnconditional, .probeGuesses]),
    Row(
      name: "create, given key, an attribute tells it",
      rules: rules([(.createUnderGivenKey, marked)]),
      budget: budget(2, others: 1, rules: 1, leaders: 1),
      shows: [.retryUnconditional], mayBeUnknown: false),
    Row(
      name: "create, given key, repeatable", rules: rules([(.createUnderGivenKey, repeatable)]),
      budget: budget(3, others: 1, rules: 1, leaders: 1), mayBeUnknown: false),
    Row(
      name: "action", rules: rules([(.action, bare)]), budget: budget(2, rules: 1, leaders: 1),
      shows: [.retryUnconditional]),
    Row(
      name: "chain of create and update, one by one",
      rules: rules([(.createUnderGivenKey, bare), (.update, conditional)]),
      budget: budget(2, others: 1), shows: [.groupUnknownWhole, .retryUnconditional]),
    Row(
      name: "chain of two updates, one by one",
      rules: rules([(.update, conditional), (.update, conditional)]),
      budget: budget(2, others: 1, rules: 1)),
    Row(
      name: "two updates as a change set",
      rules: rules([(.update, conditional), (.update, conditional)], isChangeSet: true),
      budget: budget(2, rules: 1), mayBeUnknown: false),
    Row(
      name: "create and delete as a change set",
      rules: rules([(.createUnderOwnKey, conditional), (.delete, conditional)], isChangeSet: true),
      budget: budget(2, rules: 1), mayBeUnknown: false),
  ]

  @Test(arguments: rows)
  func noRunBreaksAProperty(_ row: Row) {
    let result = Self.explore(row.rules, row.budget)
    #expect(result.broken == nil)
    if !row.mayBeUnknown { #expect(result.unknown == 0) }
    print(
      "| \(row.name) | \(result.states) | \(result.transitions) | \(result.ends) | "
        + "\(result.unknown) |")
  }

  @Test(arguments: rows.filter { !$0.shows.isEmpty })
  func plantedBugsAreFound(_ row: Row) {
    for flaw in row.shows {
      var rules = row.rules
      rules.flaws = [flaw]
      let result = Self.explore(rules, row.budget)
      #expect(result.broken != nil, "\(flaw) is not found by \(row.name)")
      print("| \(row.name) | \(flaw) | \(result.broken ?? "-") | \(result.states) |")
    }
  }

  @Test func everyPlantedBugHasARow() {
    #expect(Set(Self.rows.flatMap(\.shows)) == Set(AttemptMachine.Flaw.allCases))
  }

  /// A proxy has sent the write twice, and hands on the second answer.
  @Test func aConflictWithOwnValuesIsASuccess() {
    var machine = AttemptMachine(
      .update, AttemptMachine.Means(isConditional: true), mayHaveRun: false, isLateOver: true)
    #expect(machine.start() == .ask(.read))
    let base = AttemptRow.There(etag: "1", isAsked: false, conflict: nil, judgement: nil)
    #expect(machine.take(.row(.there(base))) == .ask(.write(.unchanged(etag: "1"))))
    #expect(machine.take(.changed) == .ask(.read))
    let asked = AttemptRow.There(
      etag: "2", isAsked: true, conflict: AttemptWorld.conflict, judgement: nil)
    #expect(machine.take(.row(.there(asked))) == .end(.accepted(isRepeated: true)))
  }

  @Test func aRowThatChangesForEverIsGivenUp() {
    var machine = AttemptMachine(
      .update, AttemptMachine.Means(isConditional: true), mayHaveRun: false, isLateOver: true)
    var action = machine.start()
    var writes = 0
    while case .ask(let request) = action {
      if case .write = request {
        writes += 1
        action = machine.take(.changed)
      } else {
        action = machine.take(
          .row(
            .there(
              AttemptRow.There(
                etag: "\(writes)", isAsked: false, conflict: nil, judgement: nil))))
      }
    }
    #expect(writes == AttemptMachine.repeatLimit + 1)
    guard case .end(.refused(let refusal)) = action else {
      Issue.record("\(action)")
      return
    }
    #expect(refusal.code == 412)
  }
}
