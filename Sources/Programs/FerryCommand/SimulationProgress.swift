import Foundation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#endif

/// How far a long run is, for people whose standard output goes elsewhere.
enum SimulationProgress {
  private static let isShown = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) != 1

  static func tell(_ summary: SimulationSummary, of count: Int) {
    guard isShown, count > 1 else { return }
    let end = summary.seeds == count ? "\n" : ""
    let text = "\r\(summary.seeds) of \(count) seeds, \(summary.failed) failed\(end)"
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
