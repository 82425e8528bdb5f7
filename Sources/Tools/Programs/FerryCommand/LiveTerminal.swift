import Glibc
import Synchronization

/// The terminal as a page that is drawn again and again, until a key or a signal ends it.
///
/// It draws on the terminal's other screen: what was there before is there again afterwards.
struct LiveTerminal: ~Copyable {
  private let before: termios

  /// Whether both ends are a terminal that understands where to write.
  static var isPossible: Bool {
    let kind = getenv("TERM").map { String(cString: $0) } ?? ""
    return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !kind.isEmpty
      && kind != "dumb"
  }

  /// Nil when the terminal does not give in.
  init?() {
    var known = termios()
    guard tcgetattr(STDIN_FILENO, &known) == 0 else { return nil }
    before = known
    for number in LiveTerminal.signals {
      signal(number) { LiveTerminal.told.store($0, ordering: .relaxed) }
    }
    var quiet = known
    // Ctrl-C is a key like q, so that nothing ends the program before the terminal is restored.
    quiet.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
    write("\u{1B}[?1049h\u{1B}[?25l")
  }

  deinit {
    write("\u{1B}[?25h\u{1B}[?1049l")
    var before = before
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
    for number in LiveTerminal.signals { signal(number, SIG_DFL) }
  }

  private static let signals: [CInt] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private static let told = Atomic<CInt>(0)

  /// Ends the program as the signal would have.
  static func end(by number: CInt) {
    // The threads of Swift's executors take no signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
  }

  /// The signal that ended it, to be raised again when the terminal is restored.
  var endingSignal: CInt? {
    let number = LiveTerminal.told.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Columns and lines; 80 and 24 where the terminal does not say.
  var size: (columns: Int, lines: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Each line is cleared behind its text: nothing flickers.
  func draw(_ lines: [String]) {
    let drawn = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    write("\u{1B}[H" + drawn + "\u{1B}[J")
  }

  /// Waits for a key; true when it is one that ends, or nobody is there any more.
  func waitForEnd(milliseconds: CInt) -> Bool {
    var wait = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&wait, 1, milliseconds) > 0 else { return endingSignal != nil }
    var keys = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &keys, keys.count)
    guard count > 0 else { return true }
    let (interrupt, endOfInput): (UInt8, UInt8) = (3, 4)
    return keys[..<count].contains {
      [UInt8(ascii: "q"), UInt8(ascii: "Q"), interrupt, endOfInput].contains($0)
    }
  }

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else {
        if errno == EINTR { continue }
        return
      }
      rest = rest.dropFirst(count)
    }
  }
}
