import Foundation
import Glibc

/// A terminal whose other end is the test.
final class PseudoTerminal {
  struct Failure: Error, CustomStringConvertible { let description: String }

  private let near: CInt
  private let far: CInt
  private var shown = ""

  init(columns: UInt16, lines: UInt16) throws {
    near = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // TIOCSPTLCK and TIOCGPTN, which are no constants for Swift.
    let (unlock, askNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    var (locked, number): (CInt, CInt) = (0, 0)
    guard near >= 0, ioctl(near, unlock, &locked) == 0, ioctl(near, askNumber, &number) == 0 else {
      throw Failure(description: "no pseudo-terminal")
    }
    far = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard far >= 0 else { throw Failure(description: "no other end of the pseudo-terminal") }
    var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(near, UInt(TIOCSWINSZ), &size)
  }

  deinit {
    close(near)
    close(far)
  }

  /// Starts `ferry` on it.
  func run(_ words: [String]) throws -> Process {
    let process = Process()
    process.executableURL = FerryProgram.url
    process.arguments = words
    process.environment = ["TERM": "xterm"]
    let handle = FileHandle(fileDescriptor: far, closeOnDealloc: false)
    process.standardInput = handle
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    return process
  }

  /// Reads until this text was shown since the last wait.
  func wait(for text: String) throws {
    let patience = Patience()
    while true {
      if let found = shown.range(of: text) {
        shown = String(shown[found.upperBound...])
        return
      }
      guard !patience.hasEnded else {
        throw Failure(description: "\(text) was not shown, but \(shown)")
      }
      var wait = pollfd(fd: near, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 1_000) > 0 else { continue }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = read(near, &bytes, bytes.count)
      if count > 0 { shown += String(decoding: bytes[..<count], as: UTF8.self) }
    }
  }

  func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard write(near, bytes, bytes.count) == bytes.count else {
      throw Failure(description: "the terminal takes no keys")
    }
  }

  /// Whether what is typed is shown, as a shell expects it.
  func echoes() throws -> Bool {
    var state = termios()
    guard tcgetattr(near, &state) == 0 else { throw Failure(description: "no state") }
    return state.c_lflag & tcflag_t(ECHO) != 0 && state.c_lflag & tcflag_t(ICANON) != 0
  }
}
