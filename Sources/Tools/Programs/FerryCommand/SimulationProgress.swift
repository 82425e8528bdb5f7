import Foundation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#endif

/// How far a long run is, for people whose standard output goes elsewhere.
struct SimulationProgress {
  // The lines of the seeds are progress enough where both are one terminal.
  private let isShown = isatty(STDERR_FILENO) != 1 || isatty(STDOUT_FILENO) != 1
  private let line = CopyProgress("")

  func tell(_ summary: SimulationSummary, of count: Int) {
    guard isShown, count > 1 else { return }
    line.tell(
      "\(summary.seeds) of \(count) seeds, \(summary.failed) failed",
      isEnd: summary.seeds == count)
  }
}
