import Testing

@testable import FerryCommand

struct SimulateTests {
  @Test(
    "A seed that fails names invariant, step and the last events, and its trace is the same bytes each time"
  )
  func replayed() throws {
    let words = [
      "simulate", "--seed", "1", "--steps", "200", "--plant", "forgottenOriginal", "--trace",
    ]
    let first = try RunningFerry.run(words)
    #expect(first.code == 1)
    let lines = first.said.split(separator: "\n")
    let verdict = try #require(lines.last { $0.hasPrefix("seed 1 FAILED: invariant ") })
    #expect(verdict.contains(" at step "))
    let events = lines.filter { $0.hasPrefix("    step ") }
    #expect(events.count > 5, "the last events stand before it")
    #expect(lines.contains(events.last?.dropFirst(4) ?? ""), "and in the trace")
    let second = try RunningFerry.run(words)
    #expect(second.said == first.said)
  }

  @Test("Bugs that are planted and do not exist, and seeds that are no numbers, are wrong usage")
  func usage() throws {
    #expect(try RunningFerry.run(["simulate", "--plant", "nothing"]).code == 2)
    #expect(try RunningFerry.run(["simulate", "--seeds", "9-1"]).code == 2)
    #expect(try RunningFerry.run(["simulate", "--steps", "0"]).code == 2)
  }
}
