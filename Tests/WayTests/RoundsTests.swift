import Testing

extension Way {
  /// `Scripts/check kill` runs many rounds; here is shown that they would find what they are for.
  @Suite struct RoundsTests {
    @Test(
      "Rounds with kill -9 find a server that forgets what it did, and a device that loses a save",
      arguments: [("forgottenOperations", "unknown"), ("lostLog", "was lost|was not told|died")])
    func planted(plant: String, word: String) async throws {
      let place = try Place()
      let programs = try Programs.path("ferry-demo").split(separator: "/").dropLast()
      let process = try ChildProcess(
        try Programs.path("ferry-demo"),
        [
          "--bin", "/" + programs.joined(separator: "/"), "--work", place.path,
          "--pids", place.file("pids"), "--kill", "40", "--seed", "5", "--plant", plant,
        ])
      let end = try await process.ended(within: 240)
      #expect(end == .exit(1), "\(process.lines.suffix(4)) \(process.errorText)")
      let words = word.split(separator: "|")
      // The pipe is read to its end a moment after the process is gone.
      try await until("the problem is told", within: 5) {
        process.lines.contains { line in
          line.contains("PROBLEM") && words.contains { line.contains($0) }
        }
      }
    }
  }
}
