/// No result of a test depends on how fast the machine is.
///
/// A test waits for an event, or moves a clock of its own. What ends a test that hangs is minutes long.
enum TimeRules {
  /// Files that look at the machine's clock or let it pass, and why.
  static let exceptions: [String: String] = [
    "Tests/HTTPServerTests/LimitTests.swift":
      "the server's own time limits; a client that the machine held up is not judged",
    "Tests/WayTests/RoughNetwork.swift": "is a slow network",
    "Tests/WayTests/DripFeeders.swift": "are slow clients",
    "Tests/WayTests/SmallDisk.swift": "is a slow disk",
    "Tests/WayTests/NodeKillTests.swift": "draws the moments of its faults; any moment is right",
    "Tests/Rounds/Reaper.swift": "kills at moments that a seed draws; any moment is right",
    "Tests/Rounds/KillRound.swift": "pauses of a drawn length, and waits that only a failure ends",
    "Tests/Rounds/KillStory.swift": "says how long the rounds took",
  ]

  /// Texts of guides, compiled and not run.
  static let guides: Set = [
    "Tests/ClientTests/QueriesGuide.swift", "Tests/ReadmeTests/ReadmeSample.swift",
  ]

  /// What ends a wait may not be shorter; one millisecond ends at once, which a test may want.
  private static let leastSeconds: Double = 300
  /// The tests of a target begin together: the last of them waits for all others.
  private static let leastMinutes: Double = 60

  /// Clocks and naps. One file of a target has them: the one that says how long its tests wait.
  static func clocks(in file: SourceFile) -> [Violation] {
    guard file.name != "Patience.swift", exceptions[file.path] == nil else { return [] }
    let clocks: Set = [
      "ContinuousClock", "SuspendingClock", "DispatchTime", "clock_gettime", "gettimeofday",
      "timeIntervalSinceNow",
    ]
    let naps: Set = ["sleep", "usleep", "nanosleep"]
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      let name = tokens[index].text
      let isDate =
        name == "Date"
        && (tokens.match(index + 1, "(", ")") || tokens.match(index + 1, ".", "now"))
      let isNap = naps.contains(name) && tokens.text(index + 1) == "("
      guard clocks.contains(name) || isDate || isNap else { return nil }
      return file.violation(
        tokens[index].line, "no test depends on the speed of the machine",
        isNap ? "\(name)(" : name,
        cure:
          "wait for the event itself with Patience, or give the code a clock that the test moves"
      )
    }
  }

  /// Bounds that a slow machine meets.
  static func shortBounds(in file: SourceFile) -> [Violation] {
    guard !guides.contains(file.path) else { return [] }
    let tokens = file.tokens
    return tokens.indices.compactMap { index in
      guard let bound = bound(tokens, index), bound.found < bound.least else { return nil }
      return file.violation(
        tokens[index].line, "what ends a wait is minutes long",
        "\(tokens[index].text) of \(bound.found) s",
        cure: "use Patience.limit, or .milliseconds(1) where the end itself is wanted")
    }
  }

  /// The seconds of a bound that begins here, and of the least that it may have.
  private static func bound(_ tokens: [Token], _ index: Int) -> (found: Double, least: Double)? {
    if tokens.match(index, "timeLimit", "(", ".", "minutes", "(") {
      return number(tokens, index + 5).map { ($0 * 60, leastMinutes * 60) }
    }
    guard ["within", "timeout"].contains(tokens[index].text), tokens.text(index + 1) == ":" else {
      return nil
    }
    // `timeout: .now() + 5`
    if tokens.match(index + 2, ".", "now", "(", ")", "+") {
      return number(tokens, index + 7).map { ($0, leastSeconds) }
    }
    let units: [String: Double] = ["seconds": 1, "milliseconds": 0.001, "microseconds": 0.000_001]
    guard tokens.text(index + 2) == ".", let unit = units[tokens.text(index + 3)],
      let count = number(tokens, index + 5)
    else { return nil }
    let seconds = count * unit
    return seconds <= 0.001 ? nil : (seconds, leastSeconds)
  }

  private static func number(_ tokens: [Token], _ index: Int) -> Double? {
    Double(tokens.text(index).filter { $0 != "_" })
  }
}
