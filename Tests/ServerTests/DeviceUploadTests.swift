import FerryCompression
import FerryHTTP
import FerryWorld
import Foundation
import Testing

@testable import FerryServer

@Suite("Logs and traces that devices send")
struct DeviceUploadTests {
  private static let trace = """
    {"resourceSpans":[{"scopeSpans":[{"spans":[
    {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","name":"tap"},
    {"traceId":"x'; DROP","spanId":"1","name":"bad"}]}]}]}
    """

  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "ferry-uploads-\(UUID().uuidString)"
  ).path

  private func uploads() -> DeviceUploads {
    DeviceUploads(folder: folder, world: .system())
  }

  private func names(_ kind: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(folder)/device-\(kind)").sorted()
  }

  @Test("A file is what the app sent, and its name has time, user and device, whatever they hold")
  func kept() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let body = try Gzip.compress(Array("INFO loaded\n".utf8))
    let kept = try uploads().keep(body, .logs, user: "../../ädä\n", device: "a/b")
    let path = "\(folder)/device-logs/\(kept.file)"
    #expect([UInt8](try Data(contentsOf: URL(filePath: path))) == body)
    #expect(kept.file.hasSuffix(".log.gz") && !kept.file.contains("/") && kept.traces.isEmpty)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(
      try uploads().keep(Array("plain\n".utf8), .logs, user: "a", device: "").file
        .hasSuffix(".log"))
    let trace = try uploads().keep(Array(Self.trace.utf8), .traces, user: "a", device: "p")
    #expect(trace.traces == ["4bf92f3577b34da6a3ce929d0e0e4736"])
    #expect(try names("traces") == [trace.file] && trace.file.hasSuffix(".json"))
  }

  @Test("What is no log and no trace is refused, and nothing is written")
  func unreadable() throws {
    let bomb = try Gzip.compress([UInt8](repeating: 65, count: DeviceUploads.textBytes + 1))
    #expect(bomb.count < DeviceUploads.bodyBytes)
    let good = try Gzip.compress(Array("INFO loaded\n".utf8))
    for body in [[], bomb, Array(good.dropLast(3)), [0xFF, 0xFE], [65, 0, 66]] {
      #expect(throws: DeviceUploads.Refusal.self) {
        try uploads().keep(body, .logs, user: "a", device: "p")
      }
    }
    for text in ["", "{", "[]", "{}", #"{"resourceSpans":5}"#] {
      #expect(throws: DeviceUploads.Refusal.self) {
        try uploads().keep(Array(text.utf8), .traces, user: "a", device: "p")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test("Of each user the newest 50 stay, and nobody removes those of another")
  func bounds() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let uploads = uploads()
    let other = try uploads.keep([65], .logs, user: "ben", device: "p").file
    var last: [String] = []
    for _ in 0..<60 { last.append(try uploads.keep([65], .logs, user: "ann", device: "p").file) }
    let left = try names("logs")
    #expect(left.count == 51 && left.contains(other))
    // Several may have the same millisecond; then chance decides which of them are the oldest.
    #expect(Set(left).isSubset(of: Set(last + [other])))
    #expect(!left.contains(last[0]) || last[0].prefix(14) == last[10].prefix(14))
    #expect(DeviceUploads.owner("ann") != DeviceUploads.owner("Ann"))
    #expect(DeviceUploads.owner("ä") != DeviceUploads.owner("ö"))
  }

  @Test("A folder that cannot be written is told as that, and nothing is half written")
  func disk() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data().write(to: URL(filePath: folder))
    do throws(DeviceUploads.Refusal) {
      _ = try uploads().keep([65], .logs, user: "a", device: "p")
      Issue.record("it was kept")
    } catch {
      guard case .disk = error else { return #expect(Bool(false), "\(error)") }
    }
  }
}
