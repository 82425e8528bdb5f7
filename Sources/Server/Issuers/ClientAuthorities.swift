import FerryCertificates
import FerryCrypto
import FerryServer
import FerryWorld
import Foundation
import Synchronization

/// Whose certificates callers may show, and which of them were revoked: files that are read again while
/// the server runs. Any thread.
package final class ClientAuthorities: Sendable {
  private struct State {
    var authorities: [[UInt8]]
    var revocations: [[UInt8]]
    /// Why a certificate is refused, and until when that is remembered.
    var judged: [[UInt8]: (refusal: String?, until: Int64)] = [:]
  }

  /// A connection has many requests: its certificate is not judged for each.
  static let memorySeconds: Int64 = 60
  static let memory: Int = 10_000

  private let authorities: String
  private let revocations: String?
  private let world: World
  private let state: Mutex<State>

  /// Paths of files in PEM. `revocations`: nil where nothing is revoked; with it each authority that
  /// signs certificates of clients needs a list. Throws `badUserFile`.
  package init(
    authorities: String, revocations: String? = nil, world: World
  ) throws(ServerError) {
    self.authorities = authorities
    self.revocations = revocations
    self.world = world
    state = Mutex(try ClientAuthorities.read(authorities, revocations))
  }

  /// Reads the files again. Throws `badUserFile`: then those of before stay.
  package func reload() throws(ServerError) {
    let fresh = try ClientAuthorities.read(authorities, revocations)
    state.withLock { $0 = fresh }
  }

  /// What a server asks its clients for.
  package var pem: String {
    state.withLock { $0.authorities }.map { ClientAuthorities.pem($0) }.joined()
  }

  /// Why a certificate is not good; nil: it is.
  package func refusal(of der: [UInt8]) -> String? {
    let now = world.clock.now.milliseconds / 1_000
    let digest = SHA256Digest.hash(der)
    let (known, authorities, revocations) = state.withLock { state in
      (state.judged[digest], state.authorities, state.revocations)
    }
    if let known, now < known.until { return known.refusal }
    let refusal = CertificateTrust.refusal(
      of: der, authorities: authorities, revocations: revocations, atSeconds: now)
    state.withLock { state in
      guard state.authorities == authorities, state.revocations == revocations else { return }
      if state.judged.count >= ClientAuthorities.memory { state.judged = [:] }
      state.judged[digest] = (refusal, now + ClientAuthorities.memorySeconds)
    }
    return refusal
  }

  /// The user whom a good certificate names; nil where it is not good or does not have exactly one
  /// common name.
  package func userName(in der: [UInt8]) -> String? {
    guard refusal(of: der) == nil, let certificate = try? X509Certificate(der: der),
      certificate.subjectParts.count(where: { $0.type == "CN" }) == 1
    else { return nil }
    return certificate.subjectCommonName
  }

  private static func read(
    _ authorities: String, _ revocations: String?
  ) throws(ServerError) -> State {
    let lists = try revocations.map { path throws(ServerError) in
      let blocks = try blocks(of: path, "X509 CRL")
      guard !blocks.isEmpty else { throw unreadable(path, "it has no revocation list") }
      return blocks
    }
    let certificates = try blocks(of: authorities, "CERTIFICATE")
    guard !certificates.isEmpty, certificates.allSatisfy({ (try? X509Certificate(der: $0)) != nil })
    else { throw unreadable(authorities, "it has no certificate that can be read") }
    return State(authorities: certificates, revocations: lists ?? [])
  }

  private static func unreadable(_ path: String, _ why: String) -> ServerError {
    ServerError(
      .badUserFile, "the file \(path) cannot be used: \(why)",
      hint: "Write each certificate or list as PEM.")
  }

  private static func blocks(of path: String, _ label: String) throws(ServerError) -> [[UInt8]] {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw unreadable(path, "it cannot be read")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    var blocks: [[UInt8]] = []
    for part in text.components(separatedBy: "-----BEGIN \(label)-----").dropFirst() {
      guard let end = part.range(of: "-----END \(label)-----"),
        let data = Data(base64Encoded: part[..<end.lowerBound].filter { !$0.isWhitespace })
      else { throw unreadable(path, "a block of it is cut off") }
      blocks.append([UInt8](data))
    }
    return blocks
  }

  private static func pem(_ der: [UInt8]) -> String {
    "-----BEGIN CERTIFICATE-----\n"
      + Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
      + "\n-----END CERTIFICATE-----\n"
  }
}
