import FerryCertificates
import FerryCrypto
import FerryIssuers
import FerryServer
import FerryTestTraits
import FerryWorld
import Foundation
import Synchronization
import Testing

/// An authority of the tests with the certificates that it gave: files of OpenSSL's own program.
private final class LoginAuthority {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try run(
      "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
      "-days", "30", "-subj", "/CN=Company")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func certificates() throws -> [X509Certificate] {
    try X509Certificate.all(
      pem: String(contentsOf: folder.appendingPathComponent("ca.pem"), encoding: .utf8))
  }

  func identity(
    _ name: String, bits: Int = 2_048, digest: String = "-sha256", usage: String = "clientAuth"
  ) throws -> CertificateIdentity {
    try run(
      "req", "-newkey", "rsa:\(bits)", "-nodes", "-keyout", "own.key", "-out", "own.csr", "-utf8",
      "-subj", "/CN=\(name)")
    try Data("extendedKeyUsage=\(usage)\n".utf8).write(
      to: folder.appendingPathComponent("extensions"))
    try run(
      "x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "7", digest,
      "-extfile", "extensions", "-out", "own.pem")
    try run(
      "pkcs12", "-export", "-inkey", "own.key", "-in", "own.pem", "-passout", "pass:p", "-out",
      "own.p12")
    let file = try Data(contentsOf: folder.appendingPathComponent("own.p12"))
    return try CertificateIdentity(pkcs12: [UInt8](file), password: "p")
  }

  private func run(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "openssl \(arguments)")
  }
}

private struct OneUser: AuthenticationProvider {
  let name: String
  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard password == "by password", let record = record(of: user) else {
      throw ServerError(.wrongLogin, "no", hint: "no")
    }
    return record
  }
  func record(of user: String) -> UserRecord? {
    user == name ? UserRecord(name: name, claims: ["agency": ["AG-01"]]) : nil
  }
}

private final class ReasonLog: Log {
  private let kept = Mutex<[String]>([])
  var reasons: [String] { kept.withLock { $0 } }
  func write(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
    kept.withLock { $0 += fields.filter { $0.0 == "reason" }.map(\.1) }
  }
}

private struct StoppedClock: WorldClock {
  let now: Timestamp
  var uptime: Duration { .zero }
}

@Suite("Logins by certificate")
struct CertificateUserTests {
  private let log = ReasonLog()

  private func users(
    _ authority: LoginAuthority, name: String = "anna", daysFromNow: Int64 = 1
  ) throws -> CertificateUsers {
    let clock = StoppedClock(now: SystemClock().now.advanced(by: .seconds(daysFromNow * 86_400)))
    return CertificateUsers(
      OneUser(name: name), authorities: try authority.certificates(),
      world: World(clock: clock, chance: SystemChance(), log: log))
  }

  private func refused(_ users: CertificateUsers, _ password: String) -> String? {
    let error = #expect(throws: ServerError.self) {
      try users.authenticate(user: "anna", password: password)
    }
    #expect(error?.code == .wrongLogin)
    return log.reasons.last
  }

  @Test(
    "A certificate of the authority lets its user in, with the rights of the user file, and a password still does",
    .reference("ios/AFA-5", "adr/AFA-3")
  )
  func accepted() throws {
    let authority = try LoginAuthority()
    let login = try #require(try authority.identity("anna").login())
    let users = try users(authority)
    let record = try users.authenticate(user: login.subjectCN, password: login.password)
    #expect(record == UserRecord(name: "anna", claims: ["agency": ["AG-01"]]))
    #expect(try users.authenticate(user: "anna", password: "by password") == record)
    #expect(log.reasons == [])
  }

  @Test(
    "A certificate that proves nothing is a wrong login, and the log says why",
    .reference("ios/AFA-6"))
  func refusals() throws {
    let authority = try LoginAuthority()
    let anna = try authority.identity("anna")
    let login = try #require(anna.login())
    let users = try users(authority)
    #expect(
      refused(users, try #require(anna.login(.sha1)).password) == "its signature uses SHA-1")
    let other = try #require(try authority.identity("Anna").login())
    #expect(refused(users, other.password) == "its common name is not the name of the user")
    // Two names, of which either could be the user's.
    for subject in ["anna/CN=eve", "eve/CN=anna", "anna/CN=anna", "anna/O=x/CN=eve"] {
      let several = try #require(try authority.identity(subject).login())
      #expect(
        refused(users, several.password) == "its subject does not have exactly one common name",
        "\(subject)")
    }
    // Somebody has the certificate, which is public, and not its key.
    guard case .rsa(let foreign)? = try authority.identity("eve").key else { return }
    let stolen = LoginCertificate(anna.certificate, key: foreign)
    #expect(
      refused(users, try #require(stolen).password) == "its signature is not that of its key")
    #expect(
      refused(try self.users(try LoginAuthority()), login.password)?.contains("issuer") == true)
    #expect(
      refused(try self.users(authority, daysFromNow: 8), login.password)?.contains("expired")
        == true)
    #expect(
      refused(try self.users(authority, daysFromNow: -1), login.password)?.contains("not yet")
        == true)
    let servers = try #require(try authority.identity("anna", usage: "serverAuth").login())
    #expect(refused(users, servers.password)?.contains("purpose") == true)
    #expect(
      refused(try self.users(authority, name: "berta"), login.password)
        == "the user is not in the user file")
  }

  @Test("A blob that is cut or changed lets nobody in")
  func flipped() throws {
    let authority = try LoginAuthority()
    let blob = try #require(try authority.identity("anna").login()).signedCertificate
    let users = try users(authority)
    for place in stride(from: 0, to: blob.count, by: 7) {
      var changed = blob
      changed[place] ^= 1
      for bytes in [changed, Array(blob[..<place])] {
        #expect(throws: ServerError.self) {
          try users.authenticate(user: "anna", password: Data(bytes).base64EncodedString())
        }
      }
    }
  }

  @Test("Certificates of a text are read in their order; one without any is an error by name")
  func pem() throws {
    let authority = try LoginAuthority()
    let text = try String(
      contentsOf: authority.folder.appendingPathComponent("ca.pem"), encoding: .utf8)
    let two = try X509Certificate.all(pem: "a line\n" + text + "\n" + text)
    #expect(two.map(\.subjectCommonName) == ["Company", "Company"])
    for bad in [
      "", "-----BEGIN CERTIFICATE-----\nAAAA",
      "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----",
    ] {
      let error = #expect(throws: CertificateError.self) { try X509Certificate.all(pem: bad) }
      #expect(error?.code == .damaged, "\(bad)")
    }
  }
}
