import FerryTestTraits
import Foundation
import Testing

@Suite("The pages about the reference")
struct ReferenceTests {
  @Test("Each row is what the tests and the list of ids make of it")
  func made() throws {
    #expect(try script("reference", "--check") == [])
  }

  @Test("The list has every id of the inventories, once")
  func ids() {
    let lines = House.read("Documentation/reference-ids.txt").split(separator: "\n")
    let ids = lines.filter { $0.contains(" | ") && !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: " ").first }
    #expect(ids.count == Set(ids).count)
    let families = Dictionary(grouping: ids) { $0.prefix { $0 != "/" } }.mapValues(\.count)
    #expect(families == ["sync": 124, "ios": 401, "adr": 386, "facts": 49])
  }

  @Test("What the pages name as ours is declared, and what is declared is not called \"not here\"")
  func symbols() {
    let sources = House.sources.filter { !$0.isIn("Sources/Tools/Programs", "Sources/System") }
    // The server is no product, so what is its own is declared for the package (Decision 0152).
    let server = sources.filter { $0.isIn("Sources/Server", "Sources/OData", "Sources/Tools") }
    let declared = ReferenceSymbols.declared(in: sources)
      .union(ReferenceSymbols.declared(in: server, for: "package"))
    let client = ReferenceSymbols.declared(
      in: sources.filter { $0.isIn("Sources/Circle/Device", "Sources/Circle/Reference") })
    let tests = Set(
      House.tests.flatMap { file in
        file.tokens.indices.filter { file.tokens[$0].text == "func" }
          .map { file.tokens.text($0 + 1) }
      })
    for page in ReferenceSymbols.pages {
      let lines = House.read("Documentation/\(page)").components(separatedBy: "\n")
      #expect(
        ReferenceSymbols.violations(
          in: page, lines, declared: declared, client: client, tests: tests) == [])
    }
  }

  @Test("A name that there is not, and a name called missing that is there, are told")
  func wrongSymbols() {
    let page = [
      "| `a` | `Thing.run(_:)`, `.gone` |", "| `UPLOADING`, `nothing` | not here, because |",
      "| sync/X1 | asks | `Thing.stop` | shown | |", "| `b` | `Thing`: `ATests/BTests.first` |",
    ]
    let found = ReferenceSymbols.violations(
      in: "P.md", page, declared: ["Thing", "run"], client: ["uploading"], tests: [])
    #expect(
      found.map(\.found) == [".gone", "UPLOADING is declared as uploading", "Thing.stop"])
    #expect(found.map(\.line) == [1, 2, 3])
    #expect(ReferenceSymbols.swiftName("CONNECTION_ERROR") == "connectionError")
  }
}

@Suite("The pages about the reference can be wrong")
final class ReferenceFaultTests {
  private let checkout = SmallCheckout()
  private var root: URL { checkout.root }

  /// A checkout with one test, a list of ids, and a page whose rows are not made yet.
  private func lay(
    _ ids: String,
    test: String = #""It is so", .reference("sync/P1", "sync/Q4", "facts/1.5")"#,
    suite: String = #""Something", .reference("sync/R2")"#
  ) throws {
    try checkout.write("= all\n\(ids)\n", to: "Documentation/reference-ids.txt")
    try checkout.write(
      "# Ids\n\n<!-- rows: all -->\nold\n<!-- end -->\n", to: "Documentation/Reference.md")
    for page in ["ReferenceOData", "ReferenceSDK"] {
      try checkout.write("# None\n", to: "Documentation/\(page).md")
    }
    try checkout.write(
      """
      @Suite(\(suite))
      struct BTests {
        @Test(\(test))
        func first() {}
      }
      """, to: "Tests/ATests/BTests.swift")
  }

  private func page() throws -> String {
    try String(contentsOf: root.appending(path: "Documentation/Reference.md"), encoding: .utf8)
  }

  @Test(
    "A row is shown, partly there, a departure or for later, by one rule",
    arguments: [
      (
        #""It is so", .reference("sync/P1", "sync/Q4", "facts/1.5")"#,
        #""Something", .reference("sync/R2")"#
      ),
      (
        #""It is so", .reference("sync/P1", "sync/Q4", "facts/1.5"), arguments: [f(")")]"#,
        #"\#n  "The class of (all)",\#n  .serialized, .reference(\#n    "sync/R2")"#
      ),
      (
        #""An actor x of 1: so", .enabled(if: a()), .reference("sync/P1", "facts/1.5", "sync/R2")"#,
        #".reference("sync/Q4")"#
      ),
    ])
  func states(test: String, suite: String) throws {
    try lay(
      """
      sync/P1 | | rows | `create`
      sync/Q4 | partly: no end | more | `next`
      facts/1.5 | departure: by choice | else |
      sync/R2 | | suites
      sync/R3 | | nothing yet
      sync/R4 | partly: no test names it | half | `half`
      """, test: test, suite: suite)
    #expect(try script("reference", "--root", root.path) == [])
    #expect(
      try page() == """
        # Ids

        <!-- rows: all -->
        | id | asks for | here | state | shown by |
        | --- | --- | --- | --- | --- |
        | sync/P1 | rows | `create` | shown | `ATests/BTests.first` |
        | sync/Q4 | more | `next`; missing: no end | partly | `ATests/BTests.first` |
        | facts/1.5 | else | by choice | departure | `ATests/BTests.first` |
        | sync/R2 | suites |  | shown | `ATests/BTests.first` |
        | sync/R3 | nothing yet |  | later |  |
        | sync/R4 | half | `half`; missing: no test names it | partly |  |
        <!-- end -->

        """)
    #expect(try script("reference", "--root", root.path, "--check") == [])
    try checkout.write(
      try page().replacing("later", with: "shown"), to: "Documentation/Reference.md")
    #expect(
      try script("reference", "--root", root.path, "--check")
        == ["Reference.md:10 is not what the tests say; run Scripts/reference"])
  }

  @Test(
    "A list or an id that is wrong is told",
    arguments: [
      ("sync/R2 | | a\nsync/R2 | | b", "reference-ids.txt:3: sync/R2 has a row already"),
      ("sync/R2 | shown | a", "reference-ids.txt:2 is no row: id | mark | asks for | here"),
      ("sync/R2 | partly | a", "reference-ids.txt:2 is no row: id | mark | asks for | here"),
      ("sync/R1 | | a", "ATests/BTests.first names sync/R2, which is in no list of ids"),
      ("sync/R2 | | a\n= other\nsync/R3 | | b", "the block other is on no page"),
    ])
  func faults(ids: String, told: String) throws {
    try lay(ids, test: #""It is so""#)
    #expect(try script("reference", "--root", root.path).contains(told))
  }

  @Test("Half an id in a trait, and an id in a title, are told")
  func wrongIDs() throws {
    try lay("sync/R2 | | a", test: #""It is so (R3, sync/R2)", .reference("P1")"#)
    #expect(
      try script("reference", "--root", root.path) == [
        "ATests/BTests.first names P1, which is in no list of ids",
        "ATests/BTests.first names sync/R2 in its title, which is in no list of ids",
      ])
  }

  @Test("A failure prints the ids of its test", .reference("sync/P1", "facts/1.5"))
  func comments() {
    #expect(Test.current?.comments.map(\.rawValue) == ["shows sync/P1, facts/1.5"])
  }
}
