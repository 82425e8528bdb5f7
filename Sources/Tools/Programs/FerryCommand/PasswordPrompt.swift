import Glibc

/// Asks on the terminal, without showing what is typed.
enum PasswordPrompt {
  /// The same twice, or an error.
  static func ask() throws(CommandError) -> String {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else {
      throw CommandError(
        "there is no terminal to ask for the password",
        hint: "Give the password with --password-stdin.")
    }
    defer { close(terminal) }
    let first = try ask("Password: ", terminal)
    guard try ask("Once more: ", terminal) == first else {
      throw CommandError("the two passwords differ", hint: "Nothing was changed; try again.")
    }
    return first
  }

  /// A password that somebody else will check, so that it is asked for once.
  static func askOnce() throws(CommandError) -> String {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else {
      throw CommandError(
        "there is no terminal to ask for the password",
        hint: "Give the password with --password-stdin.")
    }
    defer { close(terminal) }
    return try ask("Password: ", terminal)
  }

  private static func ask(_ question: String, _ terminal: CInt) throws(CommandError) -> String {
    var before = termios()
    guard tcgetattr(terminal, &before) == 0 else {
      throw CommandError(
        "the terminal cannot hide the password", hint: "Give the password with --password-stdin.")
    }
    // Ctrl-C ends the line instead of the program, which would leave the terminal without an echo.
    let interrupt: UInt8 = 3
    var quiet = before
    quiet.c_lflag &= ~tcflag_t(ECHO | ISIG)
    quiet.c_cc.11 = interrupt
    tcsetattr(terminal, TCSAFLUSH, &quiet)
    defer {
      tcsetattr(terminal, TCSAFLUSH, &before)
      say("\n", terminal)
    }
    say(question, terminal)
    var line = [UInt8](repeating: 0, count: 4096)
    let count = max(0, read(terminal, &line, line.count))
    guard count > 0, !line[..<count].contains(interrupt) else {
      throw CommandError("no password was given", hint: "Nothing was changed.")
    }
    return String(decoding: line[..<count].filter { $0 != 10 && $0 != 13 }, as: UTF8.self)
  }

  private static func say(_ text: String, _ terminal: CInt) {
    var text = text
    text.withUTF8 { _ = write(terminal, $0.baseAddress, $0.count) }
  }
}
