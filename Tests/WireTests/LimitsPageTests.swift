import FerryWire
import Foundation
import Testing

struct LimitsPageTests {
  /// Name and number of each row of the page.
  private static func rows() throws -> [String: Int] {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Documentation/Limits.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    var rows: [String: Int] = [:]
    for line in text.split(separator: "\n") {
      guard let match = line.firstMatch(of: /^\| [^|]*\(`(\w+)`\) \| ([0-9]+) \w+ \|/) else {
        continue
      }
      rows[String(match.1)] = Int(match.2)
    }
    return rows
  }

  @Test("The page of limits has the numbers of the code")
  func numbers() throws {
    #expect(
      try Self.rows() == [
        "rowBytes": WireLimits.rowBytes, "operationBytes": WireLimits.operationBytes,
        "operationsInChain": WireLimits.operationsInChain, "chainBytes": WireLimits.chainBytes,
        "operationsInFlight": WireLimits.operationsInFlight, "pageRows": WireLimits.pageRows,
        "pageBytes": WireLimits.pageBytes, "frameBytes": WireLimits.frameBytes,
        "expandedBytes": WireLimits.expandedBytes, "parameterBytes": WireLimits.parameterBytes,
        "parameterSets": WireLimits.parameterSets, "reportRecords": WireLimits.reportRecords,
        "reportCharacters": WireLimits.reportCharacters, "settingBytes": WireLimits.settingBytes,
        "correctionBytes": WireLimits.correctionBytes,
        "corrections": WireLimits.corrections,
      ])
  }
}
