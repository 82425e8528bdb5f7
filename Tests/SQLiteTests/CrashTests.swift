import FerryFaultVFS
import FerrySQLite
import Synchronization
import Testing

@Suite("After any crash")
struct CrashTests {
  @Test("A sealed database opens, is sound and holds what was promised")
  func matrix() async throws {
    let reports = try await CrashTests.all { try $0.crashes(seeds: 0..<3) }
    CrashTests.show(reports)
    #expect(reports.reduce(0) { $0 + $1.points } >= 2_000)
    for report in reports { #expect(report.failures.prefix(3) == [], "\(report.line)") }
  }

  @Test("An operation that fails loses nothing that was promised")
  func errors() async throws {
    let reports = try await CrashTests.all { try $0.errors() }
    CrashTests.show(reports)
    for report in reports { #expect(report.failures.prefix(3) == [], "\(report.line)") }
  }

  @Test(
    "On a disk that lies about its syncs the matrix fails", arguments: CrashMatrix.Mode.allCases)
  func liar(mode: CrashMatrix.Mode) throws {
    var matrix = CrashMatrix(workload: .smallTransactions, mode: mode)
    matrix.lies = true
    let report = try matrix.crashes(seeds: 0..<3)
    print("syncs are lies: \(report.line)")
    #expect(report.failures.contains { $0.contains("promised was") })
    #expect(report.failures.count > report.points)
  }

  private static func all(
    _ body: @escaping @Sendable (CrashMatrix) throws -> CrashMatrix.Report
  ) async throws -> [CrashMatrix.Report] {
    try await withThrowingTaskGroup(of: CrashMatrix.Report.self) { group in
      for mode in CrashMatrix.Mode.allCases {
        for workload in Workload.all {
          group.addTask { try body(CrashMatrix(workload: workload, mode: mode)) }
        }
      }
      var reports: [CrashMatrix.Report] = []
      for try await report in group { reports.append(report) }
      return reports.sorted { $0.line < $1.line }
    }
  }

  private static func show(_ reports: [CrashMatrix.Report]) {
    guard let first = reports.first else { return }
    for report in reports { print(report.line) }
    var sum = CrashMatrix.Report(workload: "all", mode: first.mode)
    for report in reports { sum.add(report) }
    print("in all: \(sum.points) fault points, \(sum.crashes) runs, \(sum.failures.count) failures")
  }
}
