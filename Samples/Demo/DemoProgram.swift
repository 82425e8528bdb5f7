import FerryPostgreSQL
import Foundation

/// Which story is told, and what its end means for the exit code.
enum DemoProgram {
  static let usage = """
    usage: ferry-demo --bin <folder of ferryd, ferry, ferry-sample, ferry-device>
                      --work <empty folder> [--pids <file>] [--rows <bookings>]
                      [--database <file> | --postgres <address>] [--kill <rounds> [--seed <number>] [--json]]
    Without --database: a sample business of travel agencies. With it: a copy of your database.
    With --postgres: the sample business in an empty database of PostgreSQL.
    With --kill: rounds of work on the sample in which processes are killed at random times;
    with --postgres-line <file>, into which a line "kill" is written, PostgreSQL too;
    --plant \(KillPlant.allCases.map(\.rawValue).joined(separator: "|")) makes a fault
    that they must find.
    """

  static func run(_ words: [String]) {
    // A child that ended must be told in words, not end the demo by a signal.
    signal(SIGPIPE, SIG_IGN)
    let narrator = Narrator()
    guard let settings = DemoSettings(words.dropFirst()) else {
      narrator.complain(usage)
      exit(2)
    }
    let stage = Stage(settings, narrator)
    var code: Int32 = 0
    do {
      let isEqual =
        if let rounds = settings.rounds {
          try KillStory(
            stage: stage, database: try sample(settings, stage), rounds: rounds,
            seed: settings.seed, isJSON: settings.isJSON, plant: settings.plant,
            postgreSQLLine: settings.postgreSQLLine
          ).tell()
        } else if let database = settings.database {
          try DatabaseStory(stage, original: database).tell()
        } else {
          try FlightsStory(stage, try sample(settings, stage)).tell()
        }
      code = isEqual ? 0 : 1
    } catch let failure as DemoFailure {
      narrator.complain("\nThe demo stopped: \(failure)")
      stage.complainOfChildren()
      code = 1
    } catch {
      narrator.complain("\nThe demo stopped: \(error)")
      stage.complainOfChildren()
      code = 1
    }
    stage.end()
    exit(code)
  }

  private static func sample(_ settings: DemoSettings, _ stage: Stage) throws -> BusinessDatabase {
    guard let text = settings.postgreSQL else { return .sqlite(path: stage.path("flights.db")) }
    return .postgreSQL(try PostgreSQLAddress(text))
  }
}

/// The command line, read.
struct DemoSettings {
  var programs = ""
  var folder = ""
  var rows = "20000"
  var database: String?
  /// The address of an empty database of PostgreSQL for the sample.
  var postgreSQL: String?
  /// Where `kill` is written to kill the server of PostgreSQL and start it again.
  var postgreSQLLine: String?
  /// With killed processes, and from which seed.
  var rounds: Int?
  var seed: UInt64 = 1
  var isJSON = false
  var plant: KillPlant?
  /// Where the ids of the processes go, for a script that outlives the demo.
  var processes: String?

  init?(_ words: ArraySlice<String>) {
    var rest = words
    while let option = rest.popFirst() {
      if option == "--json" {
        isJSON = true
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      switch option {
      case "--bin": programs = value
      case "--work": folder = value
      case "--rows": rows = value
      case "--database": database = value
      case "--postgres": postgreSQL = value
      case "--postgres-line": postgreSQLLine = value
      case "--pids": processes = value
      case "--kill":
        guard let number = Int(value), number > 0 else { return nil }
        rounds = number
      case "--seed":
        guard let number = UInt64(value) else { return nil }
        seed = number
      case "--plant":
        guard let known = KillPlant(rawValue: value) else { return nil }
        plant = known
      default: return nil
      }
    }
    guard !programs.isEmpty, !folder.isEmpty else { return nil }
  }
}

/// Why the story could not go on.
struct DemoFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
