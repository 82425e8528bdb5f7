/// The options that every story has.
package struct StageSettings {
  /// The folder of `ferryd`, `ferry`, `ferry-sample` and `ferry-device`.
  package var programs = ""
  /// An empty folder for all files.
  package var folder = ""
  /// Where the ids of the processes go, for a script that outlives the story.
  package var processes: String?

  package init() {}

  /// Takes an option with its value; false where it is no option of every story.
  package mutating func take(_ option: String, _ value: String) -> Bool {
    switch option {
    case "--bin": programs = value
    case "--work": folder = value
    case "--pids": processes = value
    default: return false
    }
    return true
  }

  package var isComplete: Bool { !programs.isEmpty && !folder.isEmpty }
}

/// Why a story could not go on.
package struct StageFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
