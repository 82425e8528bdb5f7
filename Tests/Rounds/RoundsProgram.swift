import FerryPostgreSQL
import FerryStage

/// Runs the rounds that the command line asks for.
enum RoundsProgram {
  static let usage = """
    usage: FerryRounds --bin <folder of ferryd, ferry, ferry-sample, ferry-device>
                       --work <empty folder> [--pids <file>] --rounds <rounds> [--seed <number>]
                       [--json] [--postgres <address> [--postgres-line <file>]] [--plant <name>]
    With --postgres: on an empty database of PostgreSQL; a line "kill" in the file kills its server.
    --plant \(KillPlant.allCases.map(\.rawValue).joined(separator: "|")) makes a fault
    that the rounds must find.
    """

  static func run(_ words: [String]) -> Never {
    guard let settings = RoundsSettings(words.dropFirst()) else { StageProgram.refuse(usage) }
    StageProgram.run(settings.stage, "The rounds") { stage in
      let database: BusinessDatabase =
        if let text = settings.postgreSQL {
          .postgreSQL(try PostgreSQLAddress(text))
        } else {
          .sqlite(path: stage.path("flights.db"))
        }
      return try KillStory(
        stage: stage, database: database, rounds: settings.rounds, seed: settings.seed,
        isJSON: settings.isJSON, plant: settings.plant, postgreSQLLine: settings.postgreSQLLine
      ).tell()
    }
  }
}

/// The command line, read.
struct RoundsSettings {
  var stage = StageSettings()
  var rounds = 0
  var seed: UInt64 = 1
  var isJSON = false
  var plant: KillPlant?
  /// The address of an empty database of PostgreSQL for the sample.
  var postgreSQL: String?
  /// Where `kill` is written to kill the server of PostgreSQL and start it again.
  var postgreSQLLine: String?

  init?(_ words: ArraySlice<String>) {
    var rest = words
    while let option = rest.popFirst() {
      if option == "--json" {
        isJSON = true
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      switch option {
      case "--rounds":
        guard let number = Int(value), number > 0 else { return nil }
        rounds = number
      case "--seed":
        guard let number = UInt64(value) else { return nil }
        seed = number
      case "--plant":
        guard let known = KillPlant(rawValue: value) else { return nil }
        plant = known
      case "--postgres": postgreSQL = value
      case "--postgres-line": postgreSQLLine = value
      default: guard stage.take(option, value) else { return nil }
      }
    }
    guard stage.isComplete, rounds > 0 else { return nil }
  }
}
