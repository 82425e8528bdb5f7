import Foundation

/// What the process says when it crashes.
enum CrashReport {
  /// Registers may hold parts of users' rows and keys, so they stay out of the log; the names of the
  /// functions stay in. The system reads the wish when a process starts, so the program is started
  /// once more in its own place. A wish that the operator has set stays.
  static func leaveOutRegisters() {
    #if os(Linux)
      guard ProcessInfo.processInfo.environment["SWIFT_BACKTRACE"] == nil,
        let program = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/exe"), setenv("SWIFT_BACKTRACE", "registers=none", 1) == 0
      else { return }
      var words = CommandLine.arguments.map { strdup($0) }
      words.append(nil)
      // It returns only where it failed: then the server runs without it.
      execv(program, words)
      for word in words { free(word) }
    #endif
  }
}
