import Testing

@Suite("The stages")
struct StageTests {
  @Test("No stage of the client names a type of a later stage")
  func client() {
    expectNone(StageOrder.client.violations(in: House.sources))
  }

  @Test("No stage of the server names a type of a later stage")
  func server() {
    expectNone(StageOrder.server.violations(in: House.sources))
  }

  @Test("The rooms of the service and of the session are small, and each keeps to its row")
  func rooms() {
    expectNone(RoomRules.service.violations(in: House.sources))
    expectNone(RoomRules.session.violations(in: House.sources))
  }

  @Test("No stage of the device extends the store or its transaction")
  func store() {
    expectNone(StoreRules.violations(in: House.sources))
  }

  @Test("Each column of a stage's state has one stage that writes it")
  func columns() {
    expectNone(
      ColumnRules.violations(
        in: House.sources, order: .client, writers: StateColumns.client)
        + ColumnRules.violations(
          in: House.sources, order: .store, writers: StateColumns.server))
    #expect(ColumnRules.badEntries(StateColumns.client, order: .client) == [])
    #expect(ColumnRules.badEntries(StateColumns.server, order: .store) == [])
  }

  @Test("The server speaks to its store in verbs: no SQL is in its stages")
  func verbs() {
    expectNone(House.sources.flatMap { VerbRules.violations(in: $0) })
    let server = House.map.target(named: "FerryServer")
    #expect(server?.dependencies.contains("FerrySQLite") == false)
  }

  @Test("Machines neither wait nor touch anything")
  func machines() {
    expectNone(
      House.sources.flatMap { MachineRules.violations(in: $0, hands: House.map.hands) })
  }
}

@Suite("The stages can fail")
struct StageRulesTests {
  private func found(_ texts: [(String, String)]) -> [String] {
    StageOrder.client.violations(
      in: texts.map { SourceFile(path: "Sources/Circle/Device/" + $0.0, $0.1) }
    ).map { "\($0.file):\($0.line) \($0.found)" }
  }

  @Test("A stage that names a later stage's type is found, once per type")
  func later() {
    #expect(
      found([
        ("Pending/Pending.swift", "struct Pending {\n  let out: Outbox\n  let again: Outbox\n}"),
        ("Outbox/Outbox.swift", "public struct Outbox { let from: Pending }"),
      ]) == ["Sources/Circle/Device/Pending/Pending.swift:2 Pending names Outbox of Outbox"])
  }

  @Test("Session may know all, a file beside the stages none")
  func ends() {
    #expect(
      found([
        ("Session/Session.swift", "actor Session { let outbox: Outbox }"),
        ("Outbox/Outbox.swift", "struct Outbox {}"),
        ("Limits.swift", "let first: Outbox? = nil"),
      ]) == ["Sources/Circle/Device/Limits.swift:1 a file beside the stages names Outbox of Outbox"]
    )
  }

  @Test("Nested and private types, members, labels and comments are no names of a stage")
  func noNames() {
    #expect(
      found([
        ("Objects/A.swift", "// Outbox\nfunc f(Outbox: Int) { let a = State.Outbox; _ = Row() }"),
        ("Outbox/B.swift", "struct Outbox { enum State {} }\nprivate struct Row {}"),
        ("Observers/C.swift", "public typealias State = FerryWire.State"),
      ]) == [])
  }

  private func rooms(_ texts: [(String, String)]) -> [String] {
    RoomRules.service.violations(
      in: texts.map { SourceFile(path: "Sources/Server/Server/" + $0.0, $0.1) }
    ).map { "\($0.line) \($0.found)" }
  }

  @Test("A room that touches a variable of another one is found; its own, and a constant, are not")
  func foreignVariables() {
    #expect(
      rooms([
        (
          "Intake/Intake.swift",
          "final class Intake {\n  let loads: L\n  var reads = R()\n  var all: R { reads }\n}"
        ),
        ("Intake/Intake+A.swift", "extension Intake {\n  func f() { intake.reads.add() }\n}"),
        (
          "Operations/Operations+A.swift",
          "extension Operations {\n  func f() {\n    intake.loads.f()\n    _ = intake.all\n"
            + "    intake.reads.add()\n  }\n}"
        ),
      ]) == ["5 Operations touches reads of Intake"])
  }

  @Test("A room that is too long, or has too many fields, is found")
  func sizes() {
    let fields = (0...RoomRules.mostFields).map { "  var f\($0): Int = 0\n" }.joined()
    let long = String(repeating: "  // a\n", count: 600)
    #expect(
      rooms([
        ("Accounts/A.swift", "final class Accounts {\n\(fields)}"),
        ("Exchanges/A.swift", "final class Exchanges {\n\(long)}"),
        ("Exchanges/B.swift", "extension Exchanges {\n\(long)}"),
      ]) == [
        "1 Accounts has 17 lines and 17 fields", "1 Exchanges has 1200 lines and 0 fields",
      ])
  }

  private func sessionRooms(_ texts: [(String, String)]) -> [String] {
    RoomRules.session.violations(
      in: texts.map { SourceFile(path: RoomRules.session.folder + "/" + $0.0, $0.1) }
    ).map { "\($0.line) \($0.found)" }
  }

  @Test("A room that names a room beside its row is found, also where it goes through the core")
  func foreignRooms() {
    #expect(
      sessionRooms([
        ("TokenStore/A.swift", "final class TokenStore {\n  let core: SessionCore\n}"),
        (
          "PlanQueue/A.swift",
          "final class PlanQueue {\n  func f() {\n    core.happened(.woken)\n"
            + "    core.announcements.reset()\n    _ = state.SignIn\n  }\n}"
        ),
        (
          "Requests/A.swift",
          "final class Requests {\n  let plans: PlanQueue\n  func f() { core.tokens.move() }\n}"
        ),
        ("SessionRunner.swift", "let a: PlanQueue\nlet b = Requests.answerWait"),
        ("Session+Plans.swift", "let a: PlanQueue"),
      ]) == [
        "2 TokenStore names SessionCore", "4 PlanQueue names Announcements",
        "1 Sources/Circle/Device/Session/SessionRunner.swift names PlanQueue",
      ])
  }

  @Test("A room may read what another one shows, if only that one can set it")
  func shownVariables() {
    func found(_ declaration: String) -> [String] {
      sessionRooms([
        ("PlanQueue/A.swift", "final class PlanQueue {\n  \(declaration)\n}"),
        (
          "Requests/A.swift",
          "extension Requests {\n  func f() { _ = (plans.current, plans.waiting) }\n}"
        ),
      ])
    }
    #expect(found("private(set) var current: Plan?") == [])
    #expect(found("var current: Plan?") == ["2 Requests touches current of PlanQueue"])
    #expect(found("private(set) var waiting: Plan?") == ["2 Requests touches waiting of PlanQueue"])
  }

  @Test("A stage that extends the store or its transaction is found; the store's folder is free")
  func extendsStore() {
    let text = "package extension Store {\n  func seal() { let a = 1 }\n}\nextension Transaction {}"
    let files = ["Outbox/A.swift", "Store/A.swift"].map {
      SourceFile(path: "Sources/Circle/Device/" + $0, text)
    }
    #expect(
      StoreRules.violations(in: files).map { "\($0.line) \($0.found)" } == [
        "1 Sources/Circle/Device/Outbox/A.swift extends Store",
        "4 Sources/Circle/Device/Outbox/A.swift extends Transaction",
      ])
  }

  @Test("A folder that is no stage is found")
  func folder() {
    #expect(found([("Utils/A.swift", "")]).count == 1)
  }

  private func machine(_ text: String) -> Int {
    let file = SourceFile(path: "Sources/Circle/Device/Outbox/OutboxMachine.swift", text)
    return MachineRules.violations(in: file, hands: ["FerrySQLite"]).count
  }

  @Test(
    "A machine that waits, touches or asks is found",
    arguments: [
      "func f() async {}", "let a = await b", "Task { }", "import FerrySQLite",
      "let sql = \"SELECT a FROM b\"", "let sql = \"UPDATE a SET b = 1\"",
    ])
  func machineTouches(text: String) {
    #expect(machine(text) == 1)
  }

  @Test("A machine may speak of all that in comments, and import words")
  func machineSpeaks() {
    #expect(machine("import FerryModel\n// async, SELECT\nlet said = \"please SELECTed one\"") == 0)
    let other = SourceFile(
      path: "Sources/Circle/Device/Outbox/OutboxStore.swift", "func f() async {}")
    #expect(MachineRules.violations(in: other, hands: []).isEmpty)
  }

  private func writes(_ sql: String) -> [SQLWrite] {
    SQLWrite.statements(in: SourceFile(path: "A.swift", "let sql = \(sql)"))
  }

  @Test("What SQL writes is read from literals, in one piece or in several")
  func sql() {
    #expect(
      writes("\"UPDATE operation SET state = ?, told = (SELECT max(a) FROM b) WHERE id = ?\"")
        == [
          SQLWrite(line: 1, table: "operation", columns: ["state", "told"]),
          SQLWrite(line: 1, table: "", columns: []),
        ])
    #expect(
      writes("\"UPDATE OR IGNORE \\\"page\\\" SET a = ?,\" + \" b = ?\"")
        == [SQLWrite(line: 1, table: "page", columns: ["a", "b"])])
    #expect(
      writes("\"INSERT INTO page(a) VALUES (?) ON CONFLICT(a) DO UPDATE SET b = excluded.b\"")
        == [SQLWrite(line: 1, table: "page", columns: ["+", "b"])])
    #expect(
      writes("\"DELETE FROM page WHERE a = ?\"")
        == [SQLWrite(line: 1, table: "page", columns: ["-"])])
    #expect(writes("\"DELETE FROM \\(table)\"").map(\.table) == [""])
  }

  @Test("A column with a foreign writer, and one that nobody listed, are found")
  func columns() {
    let file = SourceFile(
      path: "Sources/Circle/Device/Outbox/OutboxStore.swift",
      "let a = \"UPDATE operation SET state = 1, answer = 2, told = 3\"\nlet b = \"DELETE FROM page\""
    )
    let found = ColumnRules.violations(
      in: [file], order: .client,
      writers: [
        "operation.state": "Outbox", "operation.answer": "Import",
        "operation.told": .shared("Outbox", "Import", because: "both may"),
      ])
    #expect(
      found.map(\.found) == [
        "Outbox writes operation.answer, which is Import's",
        "Outbox writes page.-, which is not listed",
      ])
  }

  @Test("SQL in a stage of the server is found, in the store it is not")
  func verbs() {
    let text = "let sql = \"SELECT a FROM b\""
    let found = [
      "Sources/Server/Server/Inbox/Inbox.swift",
      "Sources/Server/SQLiteStore/SQLiteStore+Rows.swift",
    ]
    .map { VerbRules.violations(in: SourceFile(path: $0, text)).count }
    #expect(found == [1, 0])
  }

  @Test("A file of the store is of one subject, by its name")
  func subjects() {
    let file = SourceFile(
      path: "Sources/Server/SQLiteStore/SQLiteStore+Rows.swift", "let a = \"DELETE FROM staged\"")
    let found = ColumnRules.violations(
      in: [file], order: .store, writers: ["staged.-": "Loads"])
    #expect(found.map(\.found) == ["Rows writes staged.-, which is Loads's"])
  }

  @Test("An entry of the list without a reason, or with no such stage, is found")
  func entries() {
    let found = ColumnRules.badEntries(
      ["a.b": "Outbox", "a.c": "Nowhere", "a.d": .shared("Outbox", "Import", because: "")],
      order: .client)
    #expect(found == ["a.c", "a.d"])
  }
}
