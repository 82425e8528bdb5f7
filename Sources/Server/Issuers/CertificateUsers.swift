import FerryCertificates
import FerryCrypto
import FerryServer
import FerryWorld
import Foundation

/// Lets users in by a certificate of the company's authority in place of a password.
///
/// The password of such a login is `LoginCertificate.password`: the certificate with a signature of
/// its own key, as Base64. The certificate's common name must be the user's name, byte for byte, and
/// the user must be known to `users`, which also has the claims and roles. Every other password goes
/// to `users`.
///
/// A refused certificate is a `wrongLogin` for the device, like a wrong password; the log says why.
package struct CertificateUsers: AuthenticationProvider {
  private let users: any AuthenticationProvider
  private let authorities: [[UInt8]]
  private let world: World

  package init(
    _ users: any AuthenticationProvider, authorities: [X509Certificate], world: World
  ) {
    self.users = users
    self.authorities = authorities.map(\.der)
    self.world = world
  }

  /// `file`: the authorities, as PEM. Throws `badUserFile`.
  package init(
    _ users: any AuthenticationProvider, file: String, world: World
  ) throws(ServerError) {
    guard let bytes = FileManager.default.contents(atPath: file),
      let authorities = try? X509Certificate.all(pem: String(decoding: bytes, as: UTF8.self)),
      !authorities.isEmpty
    else {
      throw ServerError(
        .badUserFile, "the file of authorities \(file) cannot be used",
        hint: "Write each certificate as PEM.")
    }
    self.init(users, authorities: authorities, world: world)
  }

  /// A certificate says who somebody is, and a user file what that user may do.
  package static func noUsers(_ file: String) -> ServerError {
    ServerError(
      .badUserFile, "the authorities in \(file) let users in, and there is no user file",
      hint: "Add the users with ferry user add.")
  }

  package func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    guard let blob = CertificateUsers.blob(password) else {
      return try users.authenticate(user: user, password: password)
    }
    if let reason = refusal(blob, user) {
      world.log.warn(
        "a login certificate was refused", ("user", user), ("reason", reason),
        ("subject", blob.certificate.subject), ("fingerprint", blob.certificate.fingerprint))
      throw .wrongLogin
    }
    guard let record = users.record(of: user) else {
      world.log.warn(
        "a login certificate was refused", ("user", user),
        ("reason", "the user is not in the user file"))
      throw .wrongLogin
    }
    return record
  }

  package func record(of user: String) -> UserRecord? { users.record(of: user) }

  package func areRightsKnown(of user: String, now: Timestamp) -> Bool {
    users.areRightsKnown(of: user, now: now)
  }

  /// nil for what is a password.
  private static func blob(_ password: String) -> CertBlob.Parts? {
    // No blob is shorter: a certificate and a signature have more bytes.
    guard password.utf8.count > 500, let data = Data(base64Encoded: password) else { return nil }
    return try? CertBlob.read([UInt8](data))
  }

  private func refusal(_ blob: CertBlob.Parts, _ user: String) -> String? {
    guard blob.algorithm == .sha256 else { return "its signature uses SHA-1" }
    guard blob.isSigned else { return "its signature is not that of its key" }
    // With two names it would depend on the reader who it is.
    guard blob.certificate.subjectParts.count(where: { $0.type == "CN" }) == 1 else {
      return "its subject does not have exactly one common name"
    }
    guard blob.certificate.subjectCommonName?.utf8.elementsEqual(user.utf8) == true else {
      return "its common name is not the name of the user"
    }
    return CertificateTrust.refusal(
      of: blob.certificate.der, authorities: authorities,
      atSeconds: world.clock.now.milliseconds / 1_000)
  }
}
