import Foundation

/// What the `main` of a story does.
package enum StageProgram {
  /// Tells a story, and ends its processes and this one: with 0 only when it came out as it should.
  package static func run(
    _ settings: StageSettings, _ name: String, _ tell: (Stage) throws -> Bool
  ) -> Never {
    // A child that ended must be told in words, not end the story by a signal.
    signal(SIGPIPE, SIG_IGN)
    let stage = Stage(settings, Narrator())
    var isRight = false
    do { isRight = try tell(stage) } catch {
      stage.narrator.complain("\n\(name) stopped: \(error)")
      stage.complainOfChildren()
    }
    stage.end()
    exit(isRight ? 0 : 1)
  }

  /// The command line cannot be read.
  package static func refuse(_ usage: String) -> Never {
    Narrator().complain(usage)
    exit(2)
  }
}
