import FerryLogger
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@Suite("ferry log of an exported file")
struct LogFileTests {
  private let path = FileManager.default.temporaryDirectory
    .appending(path: "log-\(UUID().uuidString).log.gz").path

  private func export() throws -> LogExport {
    let log = DeviceLog(world: .system())
    log.level = .trace
    log.logsLocation = false
    log.header.appName = "Flights"
    log.info("loaded", tag: "a", correlationID: "c1")
    log.error("broken\u{1B}[2J", tag: "b", correlationID: "c2")
    log.warning("slow", tag: "a", correlationID: "c1")
    return LogExport(header: log.header, records: log.records())
  }

  @Test(
    "It shows header and records, packed or not, of one level and one correlation id",
    .reference("adr/SV-35"))
  func shown() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let export = try export()
    for bytes in [try export.compressed(), Array(export.text.utf8)] {
      try Data(bytes).write(to: URL(filePath: path))
      let all = try RunningFerry.run(["log", path])
      #expect(all.code == 0 && all.said.contains("App name: Flights"))
      #expect(all.said.contains(" INFO a loaded correlation=c1\n"))
      // What a terminal would obey is shown as text.
      #expect(all.said.contains("broken") && !all.said.contains("\u{1B}"))
      let bad = try RunningFerry.run(["log", path, "--level", "warn"])
      #expect(bad.said.contains("broken") && bad.said.contains("slow"))
      #expect(!bad.said.contains("loaded"))
      let one = try RunningFerry.run(["log", path, "--correlation", "c1", "--take", "1", "--json"])
      let read = try JSONSerialization.jsonObject(with: Data(one.said.utf8)) as? [String: Any]
      let records = try #require(read?["records"] as? [String])
      #expect(records.count == 1 && records[0].hasSuffix("WARNING a slow correlation=c1"))
      #expect((read?["header"] as? [String: String])?["App name"] == "Flights")
    }
  }

  @Test("A file that is missing, cut or foreign is an error; options of the server are refused")
  func refused() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let missing = try RunningFerry.run(["log", path])
    #expect(missing.code == 1 && missing.said.contains("cannot be read"))
    try Data(try export().compressed().dropLast(12)).write(to: URL(filePath: path))
    #expect(try RunningFerry.run(["log", path]).code == 1)
    try Data("hello".utf8).write(to: URL(filePath: path))
    let foreign = try RunningFerry.run(["log", path])
    #expect(foreign.code == 1 && foreign.said.contains("header"))
    #expect(try RunningFerry.run(["log", path, "--user", "a"]).code == 2)
    #expect(try RunningFerry.run(["log", path, "second"]).code == 2)
    #expect(try RunningFerry.run(["log", "--data", "d", "--correlation", "c"]).code == 2)
  }
}
