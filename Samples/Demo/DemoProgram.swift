import FerryPostgreSQL
import FerryStage

/// Which story is told.
enum DemoProgram {
  static let usage = """
    usage: ferry-demo --bin <folder of ferryd, ferry, ferry-sample, ferry-device>
                      --work <empty folder> [--pids <file>] [--rows <bookings>]
                      [--database <file> | --postgres <address>]
    Without --database: a sample business of travel agencies. With it: a copy of your database.
    With --postgres: the sample business in an empty database of PostgreSQL.
    """

  static func run(_ words: [String]) -> Never {
    guard let settings = DemoSettings(words.dropFirst()) else { StageProgram.refuse(usage) }
    StageProgram.run(settings.stage, "The demo") { stage in
      if let database = settings.database {
        return try DatabaseStory(stage, original: database).tell()
      }
      let sample: BusinessDatabase =
        if let text = settings.postgreSQL {
          .postgreSQL(try PostgreSQLAddress(text))
        } else {
          .sqlite(path: stage.path("flights.db"))
        }
      return try FlightsStory(stage, sample, rows: settings.rows).tell()
    }
  }
}

/// The command line, read.
struct DemoSettings {
  var stage = StageSettings()
  var rows = "20000"
  var database: String?
  /// The address of an empty database of PostgreSQL for the sample.
  var postgreSQL: String?

  init?(_ words: ArraySlice<String>) {
    var rest = words
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { return nil }
      switch option {
      case "--rows": rows = value
      case "--database": database = value
      case "--postgres": postgreSQL = value
      default: guard stage.take(option, value) else { return nil }
      }
    }
    guard stage.isComplete else { return nil }
  }
}
