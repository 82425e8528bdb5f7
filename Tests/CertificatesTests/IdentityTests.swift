import FerryCertificates
import FerryCrypto
import FerryTestTraits
import FerryVault
import Foundation
import Testing

@Suite("Certificates with their keys")
struct IdentityTests {
  @Test(
    "A file of PKCS#12 gives certificate and key, under old and new ciphers",
    .reference("ios/CRT-1", "adr/CRT-1"),
    arguments: [PKCS12Sample.modern, PKCS12Sample.old, PKCS12Sample.curve])
  func opened(_ bytes: [UInt8]) throws {
    let identity = try CertificateIdentity(pkcs12: bytes, password: "geheim")
    let key = try #require(identity.key)
    #expect(key.publicKeyInfo == identity.certificate.publicKeyInfo)
    #expect(try CertificateKey(der: key.der) == key)
    let isCurve = bytes == PKCS12Sample.curve
    #expect(identity.certificate.subjectCommonName == (isCurve ? "EC" : "Anna Mueller"))
    let login = identity.login()
    #expect((login == nil) == isCurve)
    #expect(login?.subjectCN == (isCurve ? nil : "Anna Mueller"))
  }

  @Test(
    "A file gives its certificate as Base64; the password is judged by name",
    .reference("ios/CRT-1", "ios/CS-116", "adr/A61")
  )
  func base64() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try Data(PKCS12Sample.modern).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let text = try CertificateIdentity.signedCertificate(file: path, password: "geheim")
    let der = try #require(Data(base64Encoded: text))
    #expect(try X509Certificate(der: [UInt8](der)).subject.contains("CN=Anna Mueller"))
    func code(_ path: String, _ password: String) -> CertificateError.Code? {
      let error = #expect(throws: CertificateError.self) {
        try CertificateIdentity.signedCertificate(file: path, password: password)
      }
      return error?.code
    }
    #expect(code(path, "falsch") == .password)
    #expect(code(path, "") == .password)
    #expect(code(path + "x", "geheim") == .noFile)
  }

  @Test(
    "Without a key there is no login and no blob; a foreign key is damage", .reference("ios/AFA-6"))
  func withoutKey() throws {
    let identity = try CertificateIdentity(pkcs12: PKCS12Sample.withoutKey, password: "geheim")
    #expect(identity.key == nil && identity.login() == nil)
    let error = #expect(throws: CertificateError.self) { try CertificateKey(der: [0x30, 0]) }
    #expect(error?.code == .damaged)
  }

  @Test("A file of PKCS#12 that is cut or flipped is an error by name or opens, never a crash")
  func flipped() throws {
    let whole = PKCS12Sample.curve
    for index in whole.indices {
      for bytes in [Array(whole[..<index]), flip(whole, index)] {
        do throws(CertificateError) {
          let read = try CertificateIdentity(pkcs12: bytes, password: "geheim")
          #expect(read.certificate.subjectCommonName == "EC")
        } catch {
          #expect([.damaged, .password, .unsupported].contains(error.code))
        }
      }
    }
    let large = #expect(throws: CertificateError.self) {
      try CertificateIdentity(
        pkcs12: [UInt8](repeating: 0x30, count: PKCS12.limitBytes + 1), password: "")
    }
    #expect(large?.code == .tooLarge)
  }

  private func flip(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
    var bytes = bytes
    bytes[index] ^= 0x80
    return bytes
  }

  @Test("A file that asks for 12 million rounds is refused before the first of them")
  func rounds() throws {
    // Two billion would take an hour, so whoever counts them does not get to the end of this test.
    var endless = PKCS12Sample.manyRounds
    let count = try #require(endless.firstRange(of: [0x02, 0x04, 0x00, 0xB7, 0x1B, 0x00]))
    endless[count.lowerBound + 2] = 0x7F
    for file in [PKCS12Sample.manyRounds, endless] {
      let error = #expect(throws: CertificateError.self) {
        try CertificateIdentity(pkcs12: file, password: "geheim")
      }
      #expect(error?.code == .damaged && error?.message.contains("rounds") == true)
    }
  }

  @Test("A key on P-256 signs, comes back from its bytes, and refuses others")
  func curve() throws {
    let key = try P256Key.generate()
    let signature = try key.sign([1, 2, 3])
    #expect(P256Key.verify(signature, of: [1, 2, 3], publicKeyInfo: key.publicKeyInfo))
    #expect(!P256Key.verify(signature, of: [1, 2], publicKeyInfo: key.publicKeyInfo))
    let other = try P256Key.generate()
    #expect(other != key)
    #expect(!P256Key.verify(signature, of: [1, 2, 3], publicKeyInfo: other.publicKeyInfo))
    #expect(try P256Key(der: key.der) == key)
    for bytes in [[], [0x30], key.der + [0], Array(key.der.dropLast()), Sample.key] {
      #expect(throws: CryptoError.self) { try P256Key(der: bytes) }
    }
  }

  @Test(
    "Certificates of a vault are listed to pick from, and leave as Base64",
    .reference("adr/CRT-2", "adr/SET-7"))
  func list() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      .path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let vaults = DataVaults(
      storage: FolderVaultStorage(folder: folder), derivation: .pbkdf2(rounds: 1))
    let store = VaultCertificates(vault: try vaults.createVault("v", password: "p", salt: nil))
    let identity = try CertificateIdentity(pkcs12: PKCS12Sample.curve, password: "geheim")
    try store.storeCertificate(Sample.certificate, label: "anna")
    try store.storeCertificate([1, 2, 3], label: "broken")
    try store.storeCertificate(identity.certificate.der, label: "device")
    #expect(try store.availableCertificates().map(\.label) == ["anna", "device"])
    #expect(
      try store.availableCertificates().map(\.certificate.displayName) == ["Anna Müller", "EC"])
    #expect(try store.signedCertificate(label: "device") == identity.certificate.base64)
    #expect(try store.signedCertificate(label: "none") == nil)
    #expect(try store.removeCertificate(label: "anna") && !store.removeCertificate(label: "anna"))
    #expect(try store.availableCertificates().map(\.label) == ["device"])
  }
}

/// How an app keeps its certificates in a vault.
struct VaultCertificates: CertificateStore {
  let vault: DataVault
  func certificateLabels() throws -> [String] {
    try vault.getDataNames().filter { $0.type == .certificate }.map(\.name)
  }
  func certificate(label: String) throws -> [UInt8]? { try vault.getCertificate(label) }
  func storeCertificate(_ der: [UInt8], label: String) throws {
    try vault.setCertificate(label, der: der)
  }
  func removeCertificate(label: String) throws -> Bool { try vault.deleteValue(label) }
}
