import Testing

@Suite("Numbers from outside")
struct NumberTests {
  /// Files whose arithmetic cannot trap, each with the reason.
  static let exceptions: Set = [
    // Fractions of at most 15 digits; a fraction has a negative of each.
    "Sources/Circle/Model/EncodedValue.swift",
    // Differences of the lengths of two texts.
    "Sources/Circle/Model/DecimalText.swift",
    // Numbers of at most 18 digits, by the count of digits.
    "Sources/OData/OData/Values/EdmTextScanner.swift",
    // Whole numbers of at most 38 digits in 128 bits.
    "Sources/OData/Address/Evaluation/DecimalNumber.swift",
    // Times of 64 bits, in 128 bits.
    "Sources/OData/Address/Evaluation/ValueOrder.swift",
    "Sources/OData/Address/Evaluation/ValueArithmetic.swift",
    // Fractions.
    "Sources/OData/Address/Evaluation/ODataEvaluator+Spatial.swift",
    // Minus one bit.
    "Sources/OData/Cache/CacheBytes.swift",
    // Deadlines of the program itself, not of who speaks to it.
    "Sources/Server/Connectors/PostgreSQL/PostgreSQLConnector.swift",
    "Sources/Server/PostgreSQL/PostgreSQLConnection.swift",
    "Sources/Server/PostgreSQL/PostgreSQLConnection+Notifications.swift",
  ]

  @Test("No arithmetic on numbers from outside can trap")
  func traps() {
    expectNone(House.sources.flatMap { NumberRules.traps(in: $0, exceptions: Self.exceptions) })
  }

  @Test("Each exception is a file that would be found")
  func exceptions() {
    for path in Self.exceptions {
      let file = House.sources.first { $0.path == path }
      #expect(file.map { !NumberRules.traps(in: $0, exceptions: []).isEmpty } == true, "\(path)")
    }
  }

  private func found(_ text: String, path: String = "Sources/Circle/Wire/A.swift") -> Int {
    NumberRules.traps(in: SourceFile(path: path, text), exceptions: []).count
  }

  @Test(
    "Arithmetic that traps is found",
    arguments: [
      "guard let a = Int(b), abs(a) <= 400 else {}", "a = b ? -c : c", "f(-$0)", "a.negate()",
      "String(repeating: \"0\", count: 4 - b.count)", "a.prefix(4 - b)", "a.dropFirst(b - 1)",
      "Int64((a * 1_000).rounded())", "Int(Double(text) ?? 0)", "Int64(time / .milliseconds(1))",
    ])
  func found(text: String) {
    #expect(found(text) == 1)
    #expect(found(text, path: "Sources/Proof/Simulation/A.swift") == 0)
  }

  @Test(
    "Arithmetic that cannot trap is not found",
    arguments: [
      "(-400...400).contains(a)", "a - b", "a -1", "[-1, 2]", "func f() -> Int", "x.magnitude < 4",
      "String(repeating: \"0\", count: max(0, 4 - b.count))", "Int64(exactly: a.rounded())",
      "Int32(clamping: a)", "a.prefix(4)", "a.prefix { $0 - 1 > 2 }", "let a = \"abs(b)\" // -c",
    ])
  func notFound(text: String) {
    #expect(found(text) == 0)
  }
}
