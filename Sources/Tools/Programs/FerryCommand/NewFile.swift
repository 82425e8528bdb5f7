import FerryGenerator
import Glibc

/// A file that was not there before, for its owner's eyes alone.
enum NewFile {
  /// All of it is on the disk, or there is no file.
  static func write(_ text: String, to path: String) throws(GeneratorError) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      let isThere = errno == EEXIST
      throw GeneratorError(
        isThere
          ? "\(path) already exists and was not changed"
          : "\(path) cannot be written: \(String(cString: strerror(errno)))",
        hint: isThere
          ? "Name another file." : "Check that the folder exists and is writable."
      )
    }
    var rest = Array(text.utf8)[...]
    var problem: CInt = 0
    while !rest.isEmpty, problem == 0 {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { problem = errno }
    }
    if problem == 0, fsync(file) != 0 { problem = errno }
    if close(file) != 0, problem == 0 { problem = errno }
    guard problem != 0 else { return }
    unlink(path)
    throw GeneratorError(
      "\(path) cannot be written: \(String(cString: strerror(problem)))",
      hint: "Free some space or name another file. The incomplete file was removed.")
  }
}
