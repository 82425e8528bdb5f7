import FerryHTTPClient
import FerryTestTraits
import Foundation
import Testing

/// `ferry odata` in a process of its own, against pyslet behind nginx with TLS.
@Suite("ferry odata with a service on the network", .timeLimit(.minutes(60)))
struct ShellTests {
  static func ferry(
    _ words: [String], input: String = ""
  ) throws -> (
    code: Int32, output: String, errors: String
  ) {
    let beside = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "ferry")
    let built = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: ".build/debug/ferry")
    let process = Process()
    process.executableURL =
      [beside, built].compactMap(\.self).first {
        FileManager.default.isExecutableFile(atPath: $0.path)
      }
    process.arguments = ["odata"] + words
    let (typed, said, complained) = (Pipe(), Pipe(), Pipe())
    process.standardInput = typed
    process.standardOutput = said
    process.standardError = complained
    try process.run()
    try typed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try typed.fileHandleForWriting.close()
    // Both are a few lines, so neither fills its pipe while the other is read.
    let output = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let errors = String(
      decoding: complained.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output, errors)
  }

  @Test("Sets are listed; an entry is made, changed, read and deleted, each in one line")
  func verbs() throws {
    let peer = try PeerService.start()
    let trusted = ["--authority", peer.authority]
    let sets = try Self.ferry(["get", peer.root] + trusted)
    #expect(sets.code == 0 && sets.output.contains(#""name":"Items""#), "\(sets.errors)")
    let two = try Self.ferry(["get", peer.root + "Items?$top=2"] + trusted)
    #expect(two.code == 0 && two.output.split(separator: "\n").count == 2, "\(two)")
    let made = try Self.ferry(
      ["create", peer.root + "Items", #"{"ID":71,"Name":"new","Rev":1}"#] + trusted)
    #expect(made.code == 0 && made.output.contains(#""Name":"new""#), "\(made)")
    let item = peer.root + "Items(71)"
    let changed = try Self.ferry(["update", item, #"{"Name":"changed"}"#] + trusted)
    #expect(changed.code == 0 && changed.output.contains(#""Name":"changed""#), "\(changed)")
    #expect(changed.output.contains(#""Rev":1"#), "what is not named stays")
    #expect(try Self.ferry(["delete", item] + trusted).code == 0)
    let missing = try Self.ferry(["get", item] + trusted)
    #expect(missing.code == 1 && missing.output.isEmpty && missing.errors.contains("404"))
    let nonsense = try Self.ferry(["create", peer.root + "Items", "{"] + trusted)
    #expect(nonsense.code != 0 && nonsense.output.isEmpty && !nonsense.errors.isEmpty)
    #expect(try Self.ferry(["get"]).code == 2)
  }

  @Test(
    "A certificate that nobody vouches for is shown and refused, unless --trust has its fingerprint",
    .reference("ios/LSN-1", "adr/TLS-2")
  )
  func trust() throws {
    let peer = try PeerService.start()
    let shown = try Self.ferry(["get", peer.root])
    #expect(shown.code == 1 && shown.output.isEmpty)
    #expect(shown.errors.contains("is not trusted") && shown.errors.contains("issuer"))
    let line = try #require(
      shown.errors.split(separator: "\n").first { $0.contains("fingerprint  ") })
    let fingerprint = String(try #require(line.split(separator: " ").last))
    #expect(fingerprint.split(separator: ":").count == 32)
    for right in [fingerprint, fingerprint.lowercased()] {
      let sets = try Self.ferry(["get", peer.root, "--trust", right])
      #expect(sets.code == 0 && sets.output.contains(#""name":"Items""#), "\(sets.errors)")
    }
    let other = "00" + fingerprint.dropFirst(2)
    let refused = try Self.ferry(["get", peer.root, "--trust", other])
    #expect(refused.code == 1 && refused.output.isEmpty)
    #expect(refused.errors.contains(fingerprint))
  }
}
