import Testing

@Suite("The style")
struct StyleTests {
  /// Files that may be longer, each with the reason beside it. Empty, and it should stay so.
  static let longFiles: Set<String> = []

  /// Beside the hands: World's own thread, for which the library has a mutex and no condition.
  ///
  /// A signal handler may take no lock: what it reads has no other guard.
  static let doorsBesideHands: Set = [
    "Sources/Ground/World/ThreadExecutor.swift", "Sources/Proof/Simulation/CrashReport.swift",
  ]

  @Test("No test is skipped")
  func skipped() { expectNone(House.tests.flatMap(StyleRules.skippedTests)) }

  @Test("Nothing is left for later in a comment")
  func unfinished() { expectNone(House.files.flatMap(StyleRules.unfinished)) }

  @Test("Nothing is forced in Sources")
  func forced() { expectNone(House.sources.flatMap(StyleRules.forced)) }

  @Test("No quote is sought as a Character in Sources")
  func quotes() { expectNone(House.sources.flatMap(StyleRules.quotesAsCharacters)) }

  @Test("Only programs print")
  func prints() {
    expectNone(
      House.sources.filter { !$0.isIn("Sources/Tools/Programs") }.flatMap(StyleRules.prints))
  }

  @Test("ferry prints through Terminal, which lets nothing steer the terminal")
  func commandPrints() {
    expectNone(
      House.sources.filter {
        $0.isIn("Sources/Tools/Programs/FerryCommand") && !$0.path.hasSuffix("/Terminal.swift")
      }.flatMap(StyleRules.prints))
  }

  /// Those write a model for people, and tests, into a folder that is named.
  static let folderMakers: Set = [
    "Sources/Tools/Generator/TextFile.swift", "Sources/Proof/TestKit/Server/TestServer.swift",
  ]

  @Test("No folder that must be new is taken from others")
  func folders() {
    expectNone(
      House.sources.filter { !Self.folderMakers.contains($0.path) }
        .flatMap(StyleRules.foldersOfOthers))
  }

  @Test("Only drivers start tasks or let time pass")
  func tasks() { expectNone(House.sources.flatMap(StyleRules.bareTasks)) }

  @Test("Doors around the compiler's checks are in hands, with their proof")
  func doors() {
    let hands = House.map.hands
    expectNone(
      House.sources.flatMap { file in
        let module = House.map.target(of: file.path)?.name ?? ""
        let mayOpen = hands.contains(module) || Self.doorsBesideHands.contains(file.path)
        return StyleRules.uncheckedDoors(in: file, isHand: mayOpen)
      })
  }

  @Test("No file is over 400 lines")
  func length() {
    expectNone(House.files.flatMap { StyleRules.tooLong(in: $0, exceptions: Self.longFiles) })
  }

  @Test("No path of one machine is written down")
  func localPaths() {
    expectNone(House.texts.flatMap { StyleRules.localPaths(path: $0.path, lines: $0.lines) })
  }

  @Test("Every public type and function has a doc comment")
  func documented() {
    let described = DocumentationRules.protocolMembers(in: House.sources)
    expectNone(
      House.sources.filter { !$0.isIn("Sources/Tools/Programs") }.flatMap {
        DocumentationRules.violations(in: $0, described: described)
      })
  }
}

@Suite("The style can fail")
struct StyleRulesTests {
  private func file(_ text: String) -> SourceFile {
    SourceFile(path: "Sources/Circle/Wire/A.swift", text)
  }

  @Test(
    "A skipped test is found",
    arguments: [
      "@Test(.disabled(\"later\")) func f() {}", "@Test(.enabled(if: false)) func f() {}",
      "withKnownIssue { }", "throw XCTSkip()", "#if false\n@Test func f() {}\n#endif",
      "try Test.cancel()",
    ])
  func skipped(text: String) {
    #expect(StyleRules.skippedTests(in: file(text)).count == 1)
  }

  @Test("Words about skipping in a literal skip nothing")
  func notSkipped() {
    #expect(StyleRules.skippedTests(in: file("let a = \".disabled(\" // withKnownIssue")).isEmpty)
  }

  @Test("Work left for later is found in comments, not in literals")
  func unfinished() {
    let word = "TO" + "DO"
    #expect(StyleRules.unfinished(in: file("let a = 1 // \(word): more")).count == 1)
    #expect(StyleRules.unfinished(in: file("/* \(word) */")).count == 1)
    #expect(StyleRules.unfinished(in: file("let a = \"\(word)\"")).isEmpty)
  }

  @Test(
    "Force is found",
    arguments: [
      "let a = b!", "let a = f()!", "let a = list[0]!.c", "try! f()", "a as! B", "let a: B!",
      "let a = \"\\(b!)\"", "{ 1 }()!",
    ])
  func forced(text: String) {
    #expect(StyleRules.forced(in: file(text)).count == 1)
  }

  @Test(
    "What only looks like force is not found",
    arguments: [
      "if !a {}", "a != b", "a!=b", "f(!a)", "let a = \"b!\"", "// b!", "#if !os(Linux)\n#endif",
      "a !== b", "[!a]", "#\"b!\"#", "let a = \"\"\"\n  Help!\n  \"\"\"",
    ])
  func unforced(text: String) {
    #expect(StyleRules.forced(in: file(text)).isEmpty)
  }

  @Test("A quote that is sought as a Character is found, one in bytes or scalars is not")
  func quotes() {
    for text in [
      "a.split(separator: \"'\")", "a.contains(\"\\\"\")", "a.firstIndex(of: \"'\")",
      "a.hasPrefix(\"'\")", "a.replacing(\"''\", with: b)",
    ] {
      #expect(StyleRules.quotesAsCharacters(in: file(text)).count == 1, "\(text)")
    }
    for text in ["a.utf8.contains(UInt8(ascii: \"'\"))", "a.unicodeScalars.contains(\"'\")"] {
      #expect(StyleRules.quotesAsCharacters(in: file(text)).isEmpty, "\(text)")
    }
  }

  @Test("Printing is found, a function of that name on something else is not")
  func prints() {
    #expect(StyleRules.prints(in: file("print(1)\ndebugPrint(2)")).map(\.line) == [1, 2])
    #expect(StyleRules.prints(in: file("page.print(1)\nfunc print(_ a: Int) {}")).isEmpty)
  }

  @Test("A folder that may be another's is found, one that mkdir makes is not")
  func folders() {
    let text = "try manager.createDirectory(\n  atPath: a, withIntermediateDirectories: true)"
    #expect(StyleRules.foldersOfOthers(in: file(text)).map(\.line) == [1])
    #expect(StyleRules.foldersOfOthers(in: file("mkdir(a, 0o700) // createDirectory(")).isEmpty)
  }

  @Test(
    "A bare task and a nap are found",
    arguments: [
      "Task { }", "Task(priority: .high) { }", "Task.detached { }", "await Task.sleep(for: a)",
      "usleep(3)",
    ])
  func tasks(text: String) {
    #expect(StyleRules.bareTasks(in: file(text)).count == 1)
    let driver = SourceFile(path: "Sources/Server/Server/Service/A.swift", text)
    #expect(StyleRules.bareTasks(in: driver).isEmpty)
  }

  @Test("A task that is named, asked or cancelled is not started")
  func noTask() {
    let text = "var a: Task<Void, Never>?\nif Task.isCancelled {}\na.cancel()"
    #expect(StyleRules.bareTasks(in: file(text)).isEmpty)
  }

  @Test("A door outside a hand, and one without proof, are found")
  func doors() {
    let bare = file("import A\nfinal class B: @unchecked Sendable {}")
    let proved = file("// One thread has it.\nnonisolated(unsafe) let a = b()")
    #expect(StyleRules.uncheckedDoors(in: proved, isHand: false).count == 1)
    #expect(StyleRules.uncheckedDoors(in: bare, isHand: true).count == 1)
    #expect(StyleRules.uncheckedDoors(in: proved, isHand: true).isEmpty)
  }

  @Test("A file of 401 lines is found, one of 400 is not")
  func length() {
    let lines = { (count: Int) in String(repeating: "\n", count: count) }
    #expect(StyleRules.tooLong(in: file(lines(401)), exceptions: []).count == 1)
    #expect(StyleRules.tooLong(in: file(lines(400)), exceptions: []).isEmpty)
  }

  @Test("A path of one machine is found, a part of another path is not")
  func localPaths() {
    let lines = ["cd /" + "home/anna/ferry", "see Sources/" + "work/a", "https://a.b/" + "work/"]
    #expect(StyleRules.localPaths(path: "A.md", lines: lines).map(\.line) == [1])
  }

  private func undocumented(_ text: String) -> [String] {
    let files = [file(text)]
    let described = DocumentationRules.protocolMembers(in: files)
    return DocumentationRules.violations(in: files[0], described: described).map(\.found)
  }

  @Test(
    "A public declaration without a doc comment is found",
    arguments: [
      "public struct a {", "public final class a {", "public static func a(\n  _ b: Int\n) {",
      "// no doc\npublic enum a {", "@MainActor\npublic actor a {", "  open class func a()\n",
      "public nonisolated func a() async {\n",
    ])
  func undocumented(text: String) {
    #expect(undocumented(text) == ["public a"])
  }

  @Test(
    "What is documented, or describes itself, is not found",
    arguments: [
      "/// Why.\n@inlinable\npublic func a() {\n", "struct A {", "public let a: Int",
      "public init(_ a: Int) {", "public static func == (a: A, b: A) -> Bool {",
      "public func hash(into hasher: inout Hasher) {", "public func a() { 1 }",
      "/// Why.\npublic func a() {\n}\npublic func a(_ b: Int) {\n}", "public import A",
      "/// Why.\npublic protocol A {\n  func run()\n}\npublic func run() {\n}",
    ])
  func described(text: String) {
    #expect(undocumented(text) == [])
  }
}
