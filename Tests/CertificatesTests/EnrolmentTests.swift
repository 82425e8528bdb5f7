import FerryCertificates
import FerryCrypto
import FerryTestTraits
import Foundation
import Synchronization
import Testing

/// A small authority: it knows challenges, and lets OpenSSL's own program judge and sign requests.
final class SmallAuthority: EnrolmentChannel {
  private let folder: URL
  private let challenges: Mutex<Set<String>>

  init(challenges: Set<String>) throws {
    self.challenges = Mutex(challenges)
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try run(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=Small Authority")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func send(_ request: [UInt8], contentType: String) async throws -> (status: Int, body: [UInt8]) {
    guard contentType == "application/pkcs10" else { return (415, []) }
    let name = UUID().uuidString
    try Data(request).write(to: folder.appendingPathComponent(name))
    let text = try run("req", "-inform", "DER", "-in", name, "-verify", "-noout", "-text")
    guard let line = text.split(separator: "\n").first(where: { $0.contains("challengePassword") }),
      let challenge = line.split(separator: ":").last.map(String.init),
      // Each is good once.
      challenges.withLock({ $0.remove(challenge) }) != nil
    else { return (403, []) }
    try run(
      "x509", "-req", "-inform", "DER", "-in", name, "-CA", "ca.pem", "-CAkey", "ca.key", "-days",
      "7", "-outform", "DER", "-out", name + ".cer")
    return (200, [UInt8](try Data(contentsOf: folder.appendingPathComponent(name + ".cer"))))
  }

  /// Whether OpenSSL's program takes a certificate for one of this authority.
  func verifies(_ der: [UInt8]) throws -> Bool {
    let name = UUID().uuidString
    try Data(der).write(to: folder.appendingPathComponent(name))
    try run("x509", "-inform", "DER", "-in", name, "-out", name + ".pem")
    return try run("verify", "-CAfile", "ca.pem", name + ".pem").contains(": OK")
  }

  /// What the program wrote; nothing when it did not take what it was given.
  @discardableResult
  private func run(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : ""
  }
}

/// Answers the same each time; not at all without a status.
struct GivenAnswer: EnrolmentChannel {
  struct NoLine: Error {}
  let status: Int?
  let body: [UInt8]
  func send(_ request: [UInt8], contentType: String) async throws -> (status: Int, body: [UInt8]) {
    guard let status else { throw NoLine() }
    return (status, body)
  }
}

@Suite("Enrolment")
struct EnrolmentTests {
  @Test(
    "A challenge gets a certificate for a key of this device, once, of RSA and on P-256",
    .reference("ios/AFA-4", "adr/AFA-3", "adr/A53", "ios/CS-93")
  )
  func enrolled() async throws {
    let authority = try SmallAuthority(challenges: ["one", "two"])
    for (challenge, key) in [
      ("one", CertificateKey.rsa(try RSAKey.generate())), ("two", .p256(try P256Key.generate())),
    ] {
      let enrolment = Enrolment(commonName: "Anna Müller", challenge: challenge, key: key)
      let identity = try await enrolment.enrol(over: authority)
      #expect(identity.certificate.subjectCommonName == "Anna Müller" && identity.key == key)
      #expect(identity.certificate.issuerCommonName == "Small Authority")
      #expect(try authority.verifies(identity.certificate.der))
      let login = identity.login(.sha1)
      #expect((login != nil) == (challenge == "one"))
      let again = await #expect(throws: CertificateError.self) {
        try await enrolment.enrol(over: authority)
      }
      #expect(again?.code == .refused && again?.message.contains("403") == true)
    }
  }

  @Test(
    "No answer, a refusal, half a certificate and a foreign one are errors by name",
    .reference("ios/AFA-4"))
  func refused() async throws {
    let enrolment = Enrolment(
      commonName: "Anna Müller", challenge: "x", key: .p256(try P256Key.generate()))
    #expect(await code(enrolment, 403, []) == .refused)
    #expect(await code(enrolment, 200, []) == .damaged)
    #expect(await code(enrolment, 200, Array(Sample.certificate.dropLast())) == .damaged)
    #expect(await code(enrolment, 200, Sample.certificate) == .foreign)
    #expect(await code(enrolment, nil, []) == .noAnswer)
  }

  private func code(
    _ enrolment: Enrolment, _ status: Int?, _ body: [UInt8]
  ) async -> CertificateError.Code? {
    do throws(CertificateError) {
      _ = try await enrolment.enrol(over: GivenAnswer(status: status, body: body))
      return nil
    } catch {
      return error.code
    }
  }

  @Test("Names of 1 to 64 letters and challenges of 1 to 255 bytes are taken, others refused")
  func limits() throws {
    let key = CertificateKey.p256(try P256Key.generate())
    func code(_ name: String, _ challenge: String) -> CertificateError.Code? {
      do throws(CertificateError) {
        _ = try Enrolment(commonName: name, challenge: challenge, key: key).request()
        return nil
      } catch {
        return error.code
      }
    }
    let (name, challenge) = (String(repeating: "é", count: 64), String(repeating: "x", count: 255))
    #expect(code(name, challenge) == nil && code("a", "b") == nil)
    #expect(code(name + "a", "b") == .invalidRequest && code("", "b") == .invalidRequest)
    #expect(code("a", challenge + "x") == .invalidRequest && code("a", "") == .invalidRequest)
  }
}
