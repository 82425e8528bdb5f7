import FerryServer
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerryIssuers

@Suite("Certificates of callers")
struct ClientAuthorityTests {
  /// A clock that a test moves.
  private final class Hands: WorldClock {
    private let ahead = Atomic<Int64>(0)
    private let own = World.system(log: SilentLog()).clock
    // The certificates of a test begin now.
    var now: Timestamp {
      own.now.advanced(by: .milliseconds(ahead.load(ordering: .relaxed)))
    }
    var uptime: Duration { .milliseconds(now.milliseconds) }
    func pass(seconds: Int64) { ahead.add(seconds * 1_000, ordering: .relaxed) }
  }

  /// Two authorities with a person each, and the first one's lists of before and after a revocation.
  private static func makeFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "ferry-clients-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/certificates.sh").path
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      """
      set -e
      sh '\(script)' stranger=/CN=anna
      mv ca.pem other.pem
      sh '\(script)' anna=/CN=anna berta=/CN=berta two=/CN=anna/CN=berta none=/O=anna
      printf '[ca]\\ndefault_ca=x\\n[x]\\ndatabase=index\\ndefault_md=sha256\\ndefault_crl_days=1\\n' >config
      touch index
      openssl ca -config config -gencrl -keyfile ca.key -cert ca.pem -out before.crl
      openssl ca -config config -revoke anna.pem -keyfile ca.key -cert ca.pem
      openssl ca -config config -gencrl -keyfile ca.key -cert ca.pem -out after.crl
      for name in anna berta two none stranger; do
        openssl x509 -in $name.pem -outform DER -out $name.der
      done
      """,
    ]
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return folder
  }

  @Test("Only a good certificate with one common name proves a user")
  func names() throws {
    let folder = try Self.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let hands = Hands()
    let world = World(clock: hands, chance: SystemChance(), log: SilentLog())
    let authorities = try ClientAuthorities(
      authorities: folder.appending(path: "ca.pem").path, world: world)
    func name(_ file: String) throws -> String? {
      authorities.userName(
        in: [UInt8](try Data(contentsOf: folder.appending(path: "\(file).der"))))
    }
    #expect(try name("anna") == "anna" && name("berta") == "berta")
    for file in ["two", "none", "stranger"] { #expect(try name(file) == nil, "\(file)") }
    #expect(authorities.userName(in: [1, 2, 3]) == nil)
    #expect(authorities.pem.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    // Its two days are over, also for what was remembered.
    hands.pass(seconds: 3 * 86_400)
    #expect(try name("anna") == nil)
  }

  @Test("A revoked certificate is refused once its list was read")
  func revoked() throws {
    let folder = try Self.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let list = folder.appending(path: "now.crl")
    let hands = Hands()
    let world = World(clock: hands, chance: SystemChance(), log: SilentLog())
    try FileManager.default.copyItem(at: folder.appending(path: "before.crl"), to: list)
    let authorities = try ClientAuthorities(
      authorities: folder.appending(path: "ca.pem").path, revocations: list.path, world: world)
    func refusal(_ file: String) throws -> String? {
      authorities.refusal(
        of: [UInt8](try Data(contentsOf: folder.appending(path: "\(file).der"))))
    }
    #expect(try refusal("anna") == nil && refusal("berta") == nil)
    try FileManager.default.removeItem(at: list)
    try FileManager.default.copyItem(at: folder.appending(path: "after.crl"), to: list)
    #expect(try refusal("anna") == nil)
    try authorities.reload()
    #expect(try refusal("anna")?.contains("revoked") == true)
    #expect(try refusal("berta") == nil)
    // What cannot be read changes nothing.
    try Data("none".utf8).write(to: list)
    #expect(throws: ServerError.self) { try authorities.reload() }
    #expect(try refusal("anna") != nil && refusal("berta") == nil)
    // An old list says nothing of those who were revoked since.
    hands.pass(seconds: 90_000)
    #expect(try refusal("berta") != nil)
  }
}
