import Testing

@Suite("Time in tests")
struct TimeTests {
  @Test("No test looks at the machine's clock or sleeps")
  func clocks() { expectNone(House.tests.flatMap(TimeRules.clocks)) }

  @Test("What ends a test that waits is minutes long")
  func bounds() { expectNone(House.tests.flatMap(TimeRules.shortBounds)) }

  @Test("Each exception is needed")
  func exceptions() {
    for path in TimeRules.exceptions.keys {
      let file = House.tests.first { $0.path == path }
      let other = file.map {
        SourceFile(path: "Tests/Other.swift", $0.text.code.joined(separator: "\n"))
      }
      #expect(other.map(TimeRules.clocks)?.isEmpty == false, "\(path)")
    }
    for path in TimeRules.guides { #expect(House.tests.contains { $0.path == path }, "\(path)") }
  }
}

@Suite("The rules of time in tests can fail")
struct TimeRulesTests {
  private func file(_ text: String, name: String = "A.swift") -> SourceFile {
    SourceFile(path: "Tests/WireTests/\(name)", text)
  }

  @Test(
    "A clock and a nap are found",
    arguments: [
      "let a = ContinuousClock.now", "let a = Date()", "let a = Date.now", "usleep(3)",
      "try await Task.sleep(for: a)", "Thread.sleep(forTimeInterval: 1)",
      "DispatchTime.now()", "Date(timeIntervalSinceNow: 3)",
    ])
  func clocks(text: String) {
    #expect(TimeRules.clocks(in: file(text)).count == 1)
    #expect(TimeRules.clocks(in: file(text, name: "Patience.swift")).isEmpty)
  }

  @Test("A clock that is given, a date that is said and a nap of the database are not found")
  func givenClocks() {
    let text = "clock.advance(3)\nDate(timeIntervalSince1970: 3)\nf(\"SELECT pg_sleep(60)\")"
    #expect(TimeRules.clocks(in: file(text)).isEmpty)
  }

  @Test(
    "A short bound is found",
    arguments: [
      "a.b(within: .seconds(20))", "a.b(within: .milliseconds(1_500))",
      "a.wait(timeout: .now() + 20)", "@Suite(.timeLimit(.minutes(5)))",
    ])
  func bounds(text: String) {
    #expect(TimeRules.shortBounds(in: file(text)).count == 1)
  }

  @Test("A bound of minutes, and one that ends at once, are not found")
  func longBounds() {
    let text = """
      a.b(within: .seconds(600)), a.b(within: .milliseconds(1)), a.b(within: .zero)
      a.b(within: limit), a.wait(timeout: .now() + 600), @Suite(.timeLimit(.minutes(60)))
      """
    #expect(TimeRules.shortBounds(in: file(text)).isEmpty)
  }
}
