import Testing

@Suite("The guides")
struct GuideTests {
  private static let guides = [
    "README.md", "CONTRIBUTING.md", "Documentation/TheWay.md", "Documentation/Invariants.md",
    "Documentation/Reference.md", "Documentation/ReferenceOData.md",
    "Documentation/ReferenceSDK.md", "Documentation/Wire.md", "Documentation/Rough.md",
    "Documentation/Queries.md", "Documentation/BigValues.md", "Documentation/Events.md",
    "Documentation/Testing.md", "Documentation/Rollout.md", "Documentation/OutsideChanges.md",
    "Documentation/Start.md", "Documentation/Model.md", "Documentation/Encryption.md",
    "Documentation/Simulation.md", "Documentation/Security.md", "Documentation/Inspect.md",
    "Documentation/PostgreSQL.md", "Benchmarks/README.md",
  ]
  private static let files = Dictionary(uniqueKeysWithValues: House.files.map { ($0.path, $0) })

  private func lines(_ guide: String) -> [String] {
    House.texts.first { $0.path == guide }?.lines ?? []
  }

  @Test("Every path and every anchor that a guide names is there", arguments: guides)
  func anchors(guide: String) {
    #expect(!lines(guide).isEmpty)
    expectNone(
      GuideRules.anchors(
        in: guide, lines(guide), paths: Set(House.paths), files: GuideTests.files))
  }

  @Test("Every test that a guide names is there", arguments: guides)
  func tests(guide: String) {
    expectNone(GuideRules.tests(in: guide, lines(guide), files: GuideTests.files))
  }

  @Test("The way has ten steps, each with an anchor")
  func steps() {
    let lines = lines("Documentation/TheWay.md")
    let heads = lines.indices.filter { lines[$0].hasPrefix("## ") && lines[$0].contains(". ") }
    #expect(heads.count == 10)
    for (number, head) in heads.enumerated() {
      #expect(lines[head].hasPrefix("## \(number + 1). "))
      let end = heads.dropFirst(number + 1).first ?? lines.count
      let words = GuideRules.words(in: Array(lines[head..<end])).map(\.text)
      #expect(words.contains { $0.hasPrefix("Sources/") && $0.contains(":") }, "\(lines[head])")
    }
  }

  @Test("Every name of the reference's object API has its row")
  func referenceNames() {
    let guide = "Documentation/Reference.md"
    expectNone(ReferenceNames.violations(in: guide, lines(guide)))
  }
}

@Suite("The guides can be wrong")
struct GuideRulesTests {
  private let file = SourceFile(
    path: "Tests/ATests/BTests.swift",
    """
    @Suite("Something (sync/Q11)")
    struct BTests {
      @Test("sync/P3, P4: it is so")
      func first() {}
      @Test(
        "Also so (sync/M1, sync/RC2)",
        arguments: [1])
      func second(number: Int) {}
      @Test("By a trait", .reference("sync/P5"))
      func third() {}
      case one, two
      func noTest() {}
    }
    """)

  private func files() -> [String: SourceFile] { [file.path: file] }

  @Test("A path and a symbol that are not there are found, others are not")
  func anchors() {
    let lines = [
      "see `Tests/ATests/BTests.swift:first`, `Tests/ATests/` and `Sources/…`",
      "`Tests/ATests/BTests.swift:fourth` `Tests/CTests` `Tests/ATests/BTests.swift:two`",
      "```", "`Tests/DTests`", "```", "    `Tests/DTests`",
      "`Scripts/check kill --seed 1`, `Scripts/check --list`, `Scripts/check format`",
      "`Scripts/check lill`, `Scripts/tesd --quick`",
    ]
    let found = GuideRules.anchors(
      in: "A.md", lines,
      paths: ["Tests/ATests", file.path, "Scripts/check", "Scripts/check-kill"], files: files())
    #expect(found.map(\.line) == [2, 2, 8, 8])
  }

  @Test("A test that is not there, and a function that is none, are found")
  func tests() {
    let lines = [
      "`ATests/BTests.first`", "`ATests/BTests.noTest`", "`ATests/CTests.first`", "`a.b`",
      "`ATests/Room/BTests.first`", "`ATests/BTests` `ATests/CTests`",
    ]
    #expect(GuideRules.tests(in: "A.md", lines, files: files()).map(\.line) == [2, 3, 5, 6])
  }

  @Test("A title and a trait name their capabilities and those of their suite")
  func titles() {
    let titles = GuideRules.titles(in: file)
    let expected = [
      ("first", ["P3, P4"]), ("second", ["sync/M1, sync/RC2"]), ("third", ["sync/P5"]),
    ]
    for (name, words) in expected {
      for word in words + ["sync/Q11"] { #expect(titles[name]?.contains(word) == true) }
    }
    #expect(titles["noTest"] == nil)
  }

  @Test("A name is named as code in the first column, and nowhere else")
  func names() {
    let lines = [
      "| there | here |", "| `find:`, `[Order getInstance]`, load | `save` |",
      "`update` | `delete`",
      "| `_pk` |",
    ]
    #expect(ReferenceNames.named(in: lines) == ["find", "Order", "getInstance", "_pk"])
    let missing = ReferenceNames.violations(in: "A.md", lines).map(\.found)
    #expect(missing.contains("load (facts/1.5) has none"))
    #expect(!missing.contains("find (facts/1.5) has none"))
  }
}
