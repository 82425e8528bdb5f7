import Foundation

/// How far a long copy is, for people whose standard output may go elsewhere.
struct CopyProgress {
  private let isShown = isatty(STDERR_FILENO) == 1
  private let what: String

  init(_ what: String) { self.what = what }

  func tell(_ done: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    let end = done >= total ? "\n" : ""
    let text = "\r\(what) \(done * 100 / total) %\(end)"
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
