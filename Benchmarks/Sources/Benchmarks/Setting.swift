import Foundation

/// How thoroughly a run measures, and where it may write.
struct Setting: Sendable {
  /// So many rounds are taken of everything, or fewer where that would take too long; figures are
  /// their medians.
  let rounds: Int
  /// Less of everything: shows that the harness runs. Its figures say nothing.
  let isQuick: Bool
  /// A folder of this run alone, removed at its end.
  let folder: URL
  /// Where the programs stand that a measure starts: `ferryd`, `ferry-device`.
  let programs: String
  /// Servers that several measures use.
  let servers = ServerRoom()

  /// How many of something: `full`, or `quick` where only the harness is tried.
  func n(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }

  /// The rounds of a series that is one of `parts` of its measure. Three are always taken; a whole
  /// run ends within 12 minutes.
  func eachRound(of parts: Int = 1) -> Rounds {
    Rounds(most: rounds, fewest: min(rounds, 3), budgetSeconds: 60 / Double(parts))
  }

  /// A path in the run's folder; nothing is there yet.
  func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Tells the person who waits what is going on.
  func say(_ text: String) { FileHandle.standardError.write(Data("  \(text)\n".utf8)) }

  /// The sizes of a database's files.
  func megabytes(_ path: String) -> Double {
    ["", "-wal"].reduce(0) { sum, tail in
      let size = try? FileManager.default.attributesOfItem(atPath: path + tail)[.size] as? Int
      return sum + Double(size ?? 0) / 1_000_000
    }
  }

  /// Removes a database with all its files.
  func remove(_ path: String) {
    for tail in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: path + tail)
    }
  }
}
