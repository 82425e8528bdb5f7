#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// What a program prints, looked at once before it ends: who reads half of it must learn so.
package enum StandardOutput {
  /// Sends what is still in memory. False where something that was printed is lost; one line on
  /// standard error says so then. A reader that went away, as `head` does, is no loss.
  package static func isWritten(by program: String) -> Bool {
    errno = 0
    let isFlushed = fflush(nil) == 0
    let reason = errno
    guard !isFlushed else { return true }
    var end = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    if poll(&end, 1, 0) == 1, end.revents & Int16(POLLERR) != 0, isPipe { return true }
    let text =
      "\(program): standard output cannot be written: \(String(cString: strerror(reason))). Check "
      + "where it leads to, and the free space there.\n"
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    return false
  }

  private static var isPipe: Bool {
    var facts = stat()
    guard fstat(STDOUT_FILENO, &facts) == 0 else { return false }
    let kind = facts.st_mode & S_IFMT
    return kind == S_IFIFO || kind == S_IFSOCK
  }
}
