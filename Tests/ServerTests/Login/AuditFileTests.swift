import FerryModel
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryServer

@Suite("The audit log is cut, and the lines of operators stay")
final class AuditFileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ferry-audit-\(UUID().uuidString)").path
  private let clock = HandClock()
  private let log = KeptLog()

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var path: String { "\(folder)/audit.jsonl" }

  private func audit(fileBytes: Int = AuditFiles.fileBytes) -> AuditLog {
    var files = AuditFiles(path: path)
    files.fileBytes = fileBytes
    return AuditLog(files, world: World(clock: clock, chance: SeededChance(1), log: log))
  }

  private func lines(_ ending: String = "") -> [String] {
    ((try? String(contentsOfFile: path + ending, encoding: .utf8)) ?? "")
      .split(separator: "\n").map(String.init)
  }

  private func bytesOnDisk() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { !$0.hasSuffix(".operator") }
      .reduce(0) { sum, name in
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
        return sum + (attributes[.size] as? Int ?? 0)
      }
  }

  @Test(
    "Ten thousand logins have the room of eight files, and no line of an operator is lost")
  func size() throws {
    let audit = audit(fileBytes: 2_000)
    for number in 0..<10_000 {
      audit.note(.login, user: "u\(number)", device: "d", address: "192.0.2.1")
      if number % 1_000 == 0 { audit.note(.deviceLocked, user: "locked \(number)") }
    }
    #expect(try bytesOnDisk() <= 8 * 2_000)
    #expect(lines().last?.contains("u9999") == true)
    let all = lines(".operator") + (1...7).reversed().flatMap { lines(".\($0)") } + lines()
    let locked = all.filter { $0.contains("deviceLocked") }
    #expect(locked.count == 10)
    for (number, line) in locked.enumerated() {
      #expect(line.contains("locked \(number * 1_000)\""))
    }
    // What is left of the others is without a gap.
    let users = all.compactMap { line in
      line.firstRange(of: #""user":"u"#).map { line[$0.upperBound...].prefix { $0 != "\"" } }
    }.compactMap { Int($0) }
    #expect(users == Array((10_000 - users.count)..<10_000))
    #expect(log.lines.isEmpty)
    for ending in ["", ".1", ".operator"] {
      let mode = try FileManager.default.attributesOfItem(atPath: path + ending)[.posixPermissions]
      #expect(mode as? Int == 0o600)
    }
  }

  @Test("A file is begun anew after 30 days, and an old one goes after 400")
  func age() throws {
    let day: Int64 = 86_400
    var first: AuditLog? = audit()
    first?.note(.login, user: "first")
    first?.note(.keyMade, reason: "token.key")
    first = nil
    // Another start reads from the file when it was begun.
    clock.advance(29 * day)
    let audit = audit()
    audit.note(.login, user: "second")
    #expect(lines().count == 3)
    clock.advance(2 * day)
    audit.note(.login, user: "third")
    #expect(lines().count == 1 && lines(".1").count == 3)
    // The file says when it was written last.
    let written = Date(timeIntervalSince1970: Double(clock.now.milliseconds) / 1_000)
    try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: path + ".1")
    clock.advance(401 * day)
    audit.note(.login, user: "fourth")
    audit.note(.login, user: "fifth")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(lines().count == 2)
    #expect(
      !names.contains { file in
        (try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8).contains("second"))
          == true
      })
    #expect(lines(".operator").count == 1)
    #expect(lines(".operator").first?.contains("keyMade") == true)
  }

  @Test("On a full disk no part of a line stays, and no line of an operator is there twice")
  func fullDisk() throws {
    let room = Mutex<Int>(.max)
    var files = AuditFiles(path: path)
    files.fileBytes = 300
    files.systemWrite = { descriptor, bytes in
      let part = room.withLock { room in
        let part = min(bytes.count, room)
        if room != .max { room -= part }
        return part
      }
      guard part > 0 else {
        errno = ENOSPC
        return -1
      }
      return write(descriptor, bytes, part)
    }
    let audit = AuditLog(files, world: World(clock: clock, chance: SeededChance(1), log: log))
    audit.note(.deviceLocked, user: "first")
    let whole = try Data(contentsOf: URL(filePath: path))
    room.withLock { $0 = 10 }
    audit.note(.deviceLocked, user: "cut")
    #expect(try Data(contentsOf: URL(filePath: path)) == whole)
    #expect(log.lines.count == 1)
    room.withLock { $0 = .max }
    for number in 0..<40 { audit.note(.deviceLocked, user: "locked \(number)") }
    // The oldest file goes, and its lines find room for a part only, several times.
    let before = try Data(contentsOf: URL(filePath: path + ".operator"))
    for _ in 0..<5 {
      room.withLock { $0 = 30 }
      audit.note(.deviceLocked, user: "cut")
      audit.note(.deviceLocked, user: "cut")
      #expect(try Data(contentsOf: URL(filePath: path + ".operator")) == before)
    }
    room.withLock { $0 = .max }
    for number in 40..<80 { audit.note(.deviceLocked, user: "locked \(number)") }
    let all = lines(".operator") + (1...7).reversed().flatMap { lines(".\($0)") } + lines()
    let locked = all.compactMap { line in
      line.firstRange(of: #""user":"locked "#).map { line[$0.upperBound...].prefix { $0 != "\"" } }
    }
    #expect(locked.compactMap { Int($0) } == Array(0..<80))
    #expect(all.count == 81 && all.allSatisfy { $0.hasSuffix("}") })
  }

  @Test("Where the operator moves the file away, the next line makes a new one")
  func moved() throws {
    let audit = audit()
    audit.note(.login, user: "first")
    try FileManager.default.moveItem(atPath: path, toPath: "\(folder)/away")
    audit.note(.login, user: "second")
    #expect(lines().count == 1)
  }
}
