import Foundation

/// Which story is told, and what its end means for the exit code.
enum DemoProgram {
  static let usage = """
    usage: ferry-demo --bin <folder of ferryd, ferry, ferry-sample, ferry-device>
                      --work <empty folder> [--pids <file>] [--rows <bookings>]
                      [--database <file>]
    Without --database: a sample business of travel agencies. With it: a copy of your database.
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
        if let database = settings.database {
          try DatabaseStory(stage, original: database).tell()
        } else {
          try FlightsStory(stage).tell()
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
}

/// The command line, read.
struct DemoSettings {
  var programs = ""
  var folder = ""
  var rows = "20000"
  var database: String?
  /// Where the ids of the processes go, for a script that outlives the demo.
  var processes: String?

  init?(_ words: ArraySlice<String>) {
    var rest = words
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { return nil }
      switch option {
      case "--bin": programs = value
      case "--work": folder = value
      case "--rows": rows = value
      case "--database": database = value
      case "--pids": processes = value
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
