import FerryFaultVFS
import FerrySQLite
import FerryTestTraits
import Testing

@Suite("After any crash", .serialized)
struct CrashTests {
  @Test("A sealed database opens, is sound and holds what was promised", .reference("facts/5.23"))
  func matrix() async throws {
    let reports = try await CrashTests.all(CrashMatrix.Mode.allCases) {
      try await $0.crashes(seeds: 0..<2)
    }
    CrashTests.show(reports)
    #expect(reports.reduce(0) { $0 + $1.points } >= 2_000)
    for report in reports { #expect(report.failures.prefix(3) == [], "\(report.line)") }
  }

  @Test("An operation that fails loses nothing that was promised")
  func errors() async throws {
    let reports = try await CrashTests.all([.log, .delete]) { try await $0.errors() }
    CrashTests.show(reports)
    for report in reports { #expect(report.failures.prefix(3) == [], "\(report.line)") }
  }

  @Test(
    "On a disk that lies about its syncs the matrix fails", arguments: CrashMatrix.Mode.allCases)
  func liar(mode: CrashMatrix.Mode) async throws {
    var matrix = CrashMatrix(workload: .smallTransactions, mode: mode)
    matrix.lies = true
    let report = try await matrix.crashes(seeds: 0..<1)
    print("syncs are lies: \(report.line)")
    #expect(report.failures.contains { $0.contains("promised was") })
    #expect(report.failures.count > report.points)
  }

  private static func all(
    _ modes: [CrashMatrix.Mode], _ body: (CrashMatrix) async throws -> CrashMatrix.Report
  ) async throws -> [CrashMatrix.Report] {
    var reports: [CrashMatrix.Report] = []
    for workload in Workload.all {
      for mode in modes {
        reports.append(try await body(CrashMatrix(workload: workload, mode: mode)))
      }
    }
    return reports
  }

  private static func show(_ reports: [CrashMatrix.Report]) {
    guard let first = reports.first else { return }
    for report in reports { print(report.line) }
    var sum = CrashMatrix.Report(workload: "all", mode: first.mode)
    for report in reports { sum.add(report) }
    print("in all: \(sum.points) fault points, \(sum.crashes) runs, \(sum.failures.count) failures")
  }
}
