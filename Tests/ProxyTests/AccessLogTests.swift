import FerryTestSupport
import FerryWorld
import Foundation
import Testing

@testable import FerryProxy

@Suite("The log of the gateway")
struct AccessLogTests {
  @Test("After a rotation lines go into a new file, and nothing is lost")
  func rotation() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-log-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (path, old) = (
      folder.appending(path: "access.jsonl").path, folder.appending(path: "access.1").path
    )
    let log = try AccessLog(path: path, world: World.system(log: SilentLog()))
    func lines(_ path: String) throws -> [String] {
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    func write(_ id: String) {
      log.write(AccessLog.Entry(id: id, method: "GET", path: "/a\"b", status: 200))
    }
    write("1")
    try FileManager.default.moveItem(atPath: path, toPath: old)
    // Until somebody says so the file of before goes on.
    write("2")
    try log.reopen()
    write("3")
    #expect(try lines(old).map { $0.contains("\"id\":\"1\"") } == [true, false])
    #expect(try lines(path).count == 1 && lines(path)[0].contains("\"id\":\"3\""))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    // Where there can be no new file the one of before goes on.
    try FileManager.default.moveItem(atPath: path, toPath: old + "0")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(throws: GatewayError.self) { try log.reopen() }
    write("4")
    #expect(try lines(old + "0").count == 2)
  }
}
