import Testing

/// Limits only ever fall: a change that removes such words lowers them.
@Suite("Plain English")
struct EnglishTests {
  /// Pages that are not rewritten yet; every other page has none of these words.
  private static let pages = [
    "Documentation/Known.md": 1, "Documentation/Reference.md": 24,
    "Documentation/Decisions/0031-postgresql.md": 1,
  ]
  /// In all documentation comments of Sources, and in all texts of Sources.
  private static let documentation = 400
  private static let texts = 50

  private static let guides = House.texts.filter { text in
    text.path.hasSuffix(".md")
      && (text.path.hasPrefix("Documentation/") || text.path.contains(".docc/")
        || !text.path.contains("/") || text.path == "Benchmarks/README.md")
  }

  @Test("No page has more overloaded words than before")
  func pages() {
    for guide in EnglishTests.guides {
      expectNone(
        EnglishRules.violations(
          EnglishRules.places(inPage: guide.lines, file: guide.path),
          limit: EnglishTests.pages[guide.path] ?? 0, in: guide.path))
    }
  }

  /// Pages whose rows come from test titles, and Decisions, which are not rewritten as a whole.
  private static let isLong = ["Documentation/Reference", "Documentation/Decisions/", ".docc/"]

  @Test("No sentence of a page is too long")
  func sentences() {
    for guide in EnglishTests.guides
    where !EnglishTests.isLong.contains(where: guide.path.contains) {
      expectNone(
        EnglishRules.longSentences(inPage: guide.lines, file: guide.path, limit: 40))
    }
  }

  @Test("Documentation comments have no more overloaded words than before")
  func documentation() {
    expectNone(
      EnglishRules.violations(
        House.sources.flatMap(EnglishRules.places(inDocumentationOf:)),
        limit: EnglishTests.documentation, in: "the documentation of Sources"))
  }

  @Test("Errors, messages and help have no more overloaded words than before")
  func texts() {
    expectNone(
      EnglishRules.violations(
        House.sources.flatMap(EnglishRules.places(inTextsOf:)), limit: EnglishTests.texts,
        in: "the messages of Sources"))
  }
}

@Suite("The words of plain English are counted")
struct EnglishRulesTests {
  @Test("Words are found in prose, not in code, names or REST")
  func pages() {
    let lines = [
      "He was told; the rest stands.", "`told` and REST and encryption at rest", "```", "told",
      "```",
      "    told", "Gone, and settled",
    ]
    let places = EnglishRules.places(inPage: lines, file: "A.md")
    #expect(places.map(\.word) == ["told", "rest", "stands", "gone", "settled"])
    #expect(places.map(\.line) == [1, 1, 1, 7, 7])
  }

  @Test("Words are found in documentation and texts, not in code and other comments")
  func sources() {
    let file = SourceFile(
      path: "Sources/A/B.swift",
      "/// It is told.\n// told\nlet told = \"the file is gone \\(rest)\"  // gone\n")
    #expect(EnglishRules.places(inDocumentationOf: file).map(\.line) == [1])
    #expect(EnglishRules.places(inTextsOf: file).map(\.word) == ["gone"])
  }

  @Test("A long sentence is found, and a name in code is one word of it")
  func sentences() {
    let lines = [
      "One two `three four five` six. Seven eight; nine.", "| a b c d e f |", "# a b c d e",
    ]
    #expect(EnglishRules.longSentences(inPage: lines, file: "A.md", limit: 4).isEmpty)
    #expect(EnglishRules.longSentences(inPage: lines, file: "A.md", limit: 3).map(\.line) == [1])
  }

  @Test("A limit allows what was there, and refuses one more")
  func limits() {
    let places = EnglishRules.places(in: "told told", file: "A.md", line: 1)
    #expect(EnglishRules.violations(places, limit: 2, in: "A").isEmpty)
    #expect(EnglishRules.violations(places, limit: 1, in: "A").count == 2)
  }
}
