import Foundation
import Testing

extension Way {
  /// `Scripts/check kill` runs many rounds; here is shown that they would find what they are for.
  @Suite struct RoundsTests {
    private static let plants = [
      ("forgottenOperations", "is unknown"), ("emptiedRecord", "times|it was done"),
      ("lostSaves", "it was lost|told 0 times"), ("lostAfterCancel", "it was lost"),
      ("doubledUpdates", "was done 2 times"), ("wrongWord", "the server gave 0 such answers"),
    ]

    /// All of them, or those that FERRY_KILL_PLANTS names.
    private static let drawn: [(String, String)] = {
      guard let names = ProcessInfo.processInfo.environment["FERRY_KILL_PLANTS"] else {
        return plants
      }
      let drawn = names.split(separator: " ").map(String.init)
      return drawn.map { name in (name, plants.first { $0.0 == name }?.1 ?? "no such plant") }
    }()

    @Test(
      "Rounds with kill -9 find what is forgotten, lost, done twice, or told and not true",
      arguments: drawn)
    func planted(plant: String, word: String) async throws {
      let place = try Place()
      let rounds = try Programs.path("FerryRounds")
      let programs = rounds.split(separator: "/").dropLast()
      let process = try ChildProcess(
        rounds,
        [
          "--bin", "/" + programs.joined(separator: "/"), "--work", place.path,
          "--pids", place.file("pids"), "--rounds", "400", "--seed", "5", "--plant", plant,
        ])
      // They end with the first that finds it, mostly one of the first ten.
      let end = try await process.ended(within: patience * 4)
      #expect(end == .exit(1), "\(process.lines.suffix(4)) \(process.errorText)")
      let words = word.split(separator: "|")
      #expect(process.lines.contains { $0.contains("rounds, seed 5") })
      let problems = process.lines.filter { $0.contains("PROBLEM") }
      #expect(
        problems.contains { line in words.contains { line.contains($0) } },
        "\(problems) \(process.errorText)")
    }
  }
}
