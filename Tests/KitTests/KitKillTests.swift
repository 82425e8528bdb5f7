import FerryPersistence
import FerryVault
import Foundation
import Testing

/// How often the writer is killed: few in each run, FERRY_KIT_KILLS of them in `Scripts/check kit-kills`.
private let rounds = ProcessInfo.processInfo.environment["FERRY_KIT_KILLS"].flatMap(Int.init) ?? 25

@Suite("A kit that is killed")
struct KitKillTests {
  private let marker = "PLAINTEXT-MARKER"

  @Test("What was reported as stored is there after kill -9, and no plaintext is on the disk")
  func killed() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "kit-kill-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var random = UInt64(rounds)
    var last = 0
    var stored: Int?
    for round in 0..<rounds {
      let child = try Child(["FerryKitWriter"], [folder.path])
      // So many lines later, wherever the process is by then.
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var left = Int(random >> 33) % 24
      let seen = try #require(
        child.lines { _ in
          left -= 1
          return left < 0
        }, "round \(round): the writer ended by itself")
      let lines = seen + child.kill()
      try check(lines, folder, &last, &stored, round)
      if !lines.isEmpty {
        #expect(try plainText(in: folder, [marker]) == [], "round \(round)")
      }
    }
    #expect(last > rounds)
  }

  /// Compares what was said with what is stored: it is there, or what came right behind it.
  private func check(
    _ lines: [String], _ folder: URL, _ last: inout Int, _ stored: inout Int?, _ round: Int
  ) throws {
    func number(_ line: String?) -> Int? { line?.split(separator: " ").last.flatMap { Int($0) } }
    let vaults = DataVaults(folder: folder.path + "/vaults")
    let vault = try vaults.getVault("v")
    try vault.unlock("p", salt: marker)
    let inVault = try #require(number(try vault.getString("\(marker) number")))
    let said = number(lines.last { $0.hasPrefix("vault") }) ?? last
    #expect(said...(said + 1) ~= inVault, "round \(round): said \(said), stored \(inVault)")
    let key = try #require(try vault.getValue("key"))
    let store = try Persistence(folder: folder.path + "/store", key: key)
    var inStore: Int?
    if let data = try store.loadData("\(marker) data") {
      let words = String(decoding: data, as: UTF8.self).split(separator: " ")
      let found = try #require(Int(words[1]))
      #expect(words.count == (found % 5 == 0 ? 20_000 : 6), "round \(round): half of \(found)")
      inStore = found
    }
    // What was said last, or what the writer was about to say.
    for line in lines {
      if line.hasPrefix("store") { stored = number(line) }
      if line.hasPrefix("removed") { stored = nil }
    }
    let isRemoved = inStore == nil && stored.map { $0 % 11 == 0 } ?? true
    #expect(
      inStore == stored || inStore == inVault || isRemoved,
      "round \(round): said \(stored ?? 0), stored \(inStore ?? 0)")
    stored = inStore
    last = inVault
  }
}
