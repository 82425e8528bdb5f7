import FerryCertificates
import FerryCrypto
import FerryTestTraits
import Foundation
import Testing

@Suite("Certificates")
struct CertificateTests {
  @Test("A descriptor says names, common names and both dates", .reference("adr/CRT-3", "adr/B27"))
  func descriptor() throws {
    let certificate = try X509Certificate(der: Sample.certificate)
    #expect(certificate.subject == "CN=Anna Müller, O=Ferry Tests, C=DE")
    #expect(certificate.issuer == certificate.subject)
    #expect(certificate.subjectCommonName == "Anna Müller" && certificate.issuerCommonName != nil)
    #expect(certificate.displayName == "Anna Müller" && certificate.serialNumber == "1f2e3d")
    #expect(certificate.notBeforeSeconds == 1_795_464_234)
    #expect(certificate.notAfterSeconds == 2_110_824_234)
    #expect(certificate.isValid(atSeconds: 1_795_464_234))
    #expect(certificate.isValid(atSeconds: 2_110_824_234))
    #expect(!certificate.isValid(atSeconds: 1_795_464_233))
    #expect(!certificate.isValid(atSeconds: 2_110_824_235))
    #expect(
      certificate.fingerprint
        == "74d86927a662bc575c5b8bad24104b2680edd6ca83cecd8eb40a3a6b8077d181")
    #expect(Data(base64Encoded: certificate.base64) == Data(Sample.certificate))
  }

  @Test("Each byte of a certificate flipped or cut is read or an error by name, never a crash")
  func flipped() throws {
    let whole = Sample.certificate
    for index in whole.indices {
      let error = #expect(throws: CertificateError.self) {
        try X509Certificate(der: Array(whole[..<index]))
      }
      #expect(error?.code == .damaged)
      for mask: UInt8 in [0x01, 0x80, 0xFF] {
        var bytes = whole
        bytes[index] ^= mask
        do throws(CertificateError) {
          #expect(try X509Certificate(der: bytes).der == bytes)
        } catch {
          #expect([.damaged, .unsupported].contains(error.code))
        }
      }
    }
    let error = #expect(throws: CertificateError.self) { try X509Certificate(der: whole + [0]) }
    #expect(error?.message == "more bytes follow the end of the certificate")
    let large = #expect(throws: CertificateError.self) {
      try X509Certificate(der: [UInt8](repeating: 0x30, count: X509Certificate.limitBytes + 1))
    }
    #expect(large?.code == .tooLarge)
  }

  @Test("Signatures are those of another program, byte for byte, and are verified")
  func signatures() throws {
    let key = try RSAKey(der: Sample.key)
    #expect(try key.sign(Sample.certificate, .sha1) == Sample.sha1Signature)
    #expect(try key.sign(Sample.certificate, .sha256) == Sample.sha256Signature)
    func verify(_ signature: [UInt8], _ bytes: [UInt8], _ digest: SignatureDigest) -> Bool {
      RSAKey.verify(signature, of: bytes, publicDER: key.publicDER, digest)
    }
    #expect(verify(Sample.sha256Signature, Sample.certificate, .sha256))
    #expect(!verify(Sample.sha256Signature, Sample.certificate, .sha1))
    #expect(!verify(Sample.sha256Signature, Sample.certificate + [0], .sha256))
    #expect(!verify([], Sample.certificate, .sha256))
    #expect(!RSAKey.verify(Sample.sha1Signature, of: [], publicDER: [1, 2], .sha1))
  }

  @Test(
    "A new key has 2,048 bits and signs; fewer are refused, and bytes that are no key",
    .reference("adr/AFA-3"))
  func keys() throws {
    let key = try RSAKey.generate()
    #expect(try key.sign([1], .sha256).count == 256)
    #expect(try RSAKey(der: key.der) == key && key.publicDER.count == 270)
    #expect(throws: CryptoError.self) { try RSAKey.generate(bits: 1_024) }
    for bytes in [[], [0x30], Sample.certificate, Sample.key + [0], Array(Sample.key.dropLast())] {
      #expect(throws: CryptoError.self) { try RSAKey(der: bytes) }
    }
  }

  @Test(
    "A blob is certificate, signature and algorithm byte, 1 for SHA-1, 2 for SHA-256",
    .reference("ios/CRT-2", "ios/AFA-6", "ios/CS-94", "ios/CS-95")
  )
  func blob() throws {
    let key = try RSAKey(der: Sample.key)
    func expected(_ signature: [UInt8], _ algorithm: UInt8) -> [UInt8] {
      // 840 bytes of certificate and 256 of signature: 4 + 840 + 4 + 256 + 3 = 1107.
      [0x30, 0x82, 0x04, 0x53, 0x04, 0x82, 0x03, 0x48] + Sample.certificate
        + [0x04, 0x82, 0x01, 0x00] + signature + [0x02, 0x01, algorithm]
    }
    #expect(
      CertBlob.make(certificate: Sample.certificate, key: key, .sha1)
        == expected(Sample.sha1Signature, 1))
    #expect(
      CertBlob.make(certificate: Sample.certificate, key: key)
        == expected(Sample.sha256Signature, 2))
    #expect(CertBlob.make(certificate: nil, key: key) == nil)
    #expect(CertBlob.make(certificate: [], key: key) == nil)
    #expect(CertBlob.make(certificate: Sample.certificate, key: nil) == nil)
    #expect(CertBlob.md5sum(Sample.certificate) == "9275b328830f6e13d0f89471765dbb34")
    #expect(
      CertBlob.sha1(Sample.certificate)
        == "72 a9 c0 e6 c2 cc 4c 3a ff 14 87 fe b8 7c bc 20 8d 80 e5 67")
  }

  @Test(
    "Lengths and blobs are written in two passes; too small a memory is false",
    .reference("ios/AFA-7"))
  func twoPasses() {
    for (length, bytes) in [
      (0, [0x00]), (127, [0x7F]), (128, [0x81, 0x80]), (255, [0x81, 0xFF]),
      (256, [0x82, 0x01, 0x00]), (65_536, [0x83, 0x01, 0x00, 0x00]),
    ] as [(Int, [UInt8])] {
      var count = 0
      #expect(CertBlob.writeLength(length, into: nil, count: &count) && count == bytes.count)
      var memory = [UInt8](repeating: 0xEE, count: bytes.count)
      let isWritten = memory.withUnsafeMutableBufferPointer {
        CertBlob.writeLength(length, into: $0, count: &count)
      }
      #expect(isWritten && memory == bytes && count == bytes.count)
      count = bytes.count - 1
      memory = [UInt8](repeating: 0xEE, count: bytes.count)
      let isRefused = memory.withUnsafeMutableBufferPointer {
        !CertBlob.writeLength(length, into: $0, count: &count)
      }
      #expect(isRefused && memory.allSatisfy { $0 == 0xEE } && count == bytes.count)
    }
    var count = 0
    #expect(
      CertBlob.write(certificate: [1], signature: [2], algorithm: 1, into: nil, count: &count))
    #expect(count == 11)
    var memory = [UInt8](repeating: 0, count: 11)
    let isWritten = memory.withUnsafeMutableBufferPointer {
      CertBlob.write(certificate: [1], signature: [2], algorithm: 1, into: $0, count: &count)
    }
    #expect(isWritten && memory == [0x30, 9, 4, 1, 1, 4, 1, 2, 2, 1, 1])
  }

  @Test(
    "A login certificate has the common name and the blob, not the certificate",
    .reference("ios/AFA-5", "ios/CS-93", "adr/A53")
  )
  func login() throws {
    let key = try RSAKey(der: Sample.key)
    let login = LoginCertificate(try X509Certificate(der: Sample.certificate), key: key, .sha1)
    #expect(login?.subjectCN == "Anna Müller")
    #expect(
      login?.signedCertificate == CertBlob.make(certificate: Sample.certificate, key: key, .sha1))
  }
}

@Suite("Seed files")
struct SeedFileTests {
  func file(_ text: String) throws -> SeedFile { try SeedFile(Array(text.utf8)) }

  @Test(
    "Lines of exactly two parts count, with and without a blank; others are passed over",
    .reference("ios/AFA-3", "ios/CS-91", "ios/CS-92", "adr/AFA-2", "adr/A52")
  )
  func lines() throws {
    let seed = try file(
      """
      Server: relay.example.org
      port:80
      Farm ID: farm1
      URL Suffix: /ias_relay_server/client/rs_client.dl
      a line without
      time: 12:30
      : none
      Port: 5001
      """)
    #expect(
      seed.connection
        == (try file(
          "Port:5001\r\nserver:relay.example.org\r\nfarm id : farm1\r\nurl suffix:/ias_relay_server/client/rs_client.dl"
        )).connection)
    #expect(seed.connection.serverName == "relay.example.org")
    #expect(seed.connection.farmID == "farm1")
    #expect(seed.connection.urlSuffix == "/ias_relay_server/client/rs_client.dl")
    #expect(seed.values["time"] == nil && seed.values.count == 5)
    for port in ["0", "65536", "-1", "x", ""] {
      #expect(try file("Port: \(port)").connection.portNumber == nil)
    }
    #expect(try file("Port: 65535").connection.portNumber == 65_535)
  }

  @Test(
    "Four outcomes; XML, JSON and binary are handed on as they came",
    .reference("ios/AFA-1", "adr/AFA-1"))
  func outcomes() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("seed").path
    #expect(SeedFile.retrieve(path: path) == .unavailable)
    #expect(SeedFile.retrieve(path: path, isRequested: true) == .settingsRequested)
    for bytes in [Array("<seed/>".utf8), Array("{\"a\":1}".utf8), [0xFF, 0x00, 0xFE]] {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      #expect(SeedFile.retrieve(path: path, isRequested: true) == .available(try SeedFile(bytes)))
    }
    #expect(try SeedFile([0xFF, 0x3A]).values == [:])
    #expect(SeedFile.retrieve(path: path, isManaged: false) == .clientNotInstalled)
    let limit = [UInt8](repeating: 0x20, count: SeedFile.limitBytes + 1)
    #expect(try SeedFile(Array(limit.dropLast())).values.isEmpty)
    let error = #expect(throws: CertificateError.self) { try SeedFile(limit) }
    #expect(error?.code == .tooLarge)
  }
}
