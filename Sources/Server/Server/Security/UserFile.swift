import FerryCrypto
import FerryJSON
import FerryModel

/// Users from a JSON file:
///
///     {"users": [{"name": "anna", "passwordHash": "$argon2id$…", "roles": ["sales"],
///                 "claims": {"employee": [5]}, "packages": ["Travel"]}]}
///
/// Without `packages` a user may use each package of the server.
package struct UserFile: AuthenticationProvider {
  /// Whether a password fits a hash in PHC text.
  package typealias Verify = @Sendable (_ password: String, _ hash: String) -> Bool

  private struct User: Sendable {
    let record: UserRecord
    let passwordHash: String
  }

  private let users: [ExactText: User]
  private let verify: Verify
  /// Verified for users that are not there, so that both cases take the same time.
  private let decoy: String

  package init(path: String, verify: @escaping Verify) throws(ServerError) {
    guard let bytes = Folder.read(path) else {
      throw ServerError(
        .badUserFile, "the user file \(path) cannot be read",
        hint: "Name a file that exists and is readable (--users).")
    }
    try self.init(bytes, name: path, verify: verify)
  }

  package init(_ bytes: [UInt8], name: String, verify: @escaping Verify) throws(ServerError) {
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      let place = TextPlace(offset: error.offset, in: bytes)
      throw ServerError(
        .badUserFile, "\(name):\(place): \(error.problem)", hint: "Correct the file.")
    }
    var users: [ExactText: User] = [:]
    for node in root["users"]?.array ?? [] {
      guard let user = node["name"]?.string, !user.isEmpty, let hash = node["passwordHash"]?.string,
        hash.hasPrefix("$"), users[ExactText(user)] == nil,
        // Users of issuers have such names.
        !(user.hasPrefix("http") && user.utf8.contains(UInt8(ascii: "|")))
      else {
        throw ServerError(
          .badUserFile,
          "\(name):\(TextPlace(offset: node.offset, in: bytes)): a user needs a unique name and "
            + "a passwordHash", hint: "Add users with `ferry user add`.")
      }
      guard
        let packages = AllowedPackages(
          listed: node["packages"].map { $0.array?.map(\.string) ?? [nil] })
      else {
        throw ServerError(
          .badUserFile,
          "\(name):\(TextPlace(offset: node.offset, in: bytes)): \"packages\" of \(user) is not a "
            + "list of names of packages",
          hint: "Write \"packages\": [\"Travel\"], without a version.")
      }
      let roles = (node["roles"]?.array ?? []).compactMap(\.string)
      users[ExactText(user)] = User(
        record: UserRecord(
          name: user, roles: roles, claims: ClaimText.decode(node["claims"]),
          stamp: UserFile.stamp(hash, node["loggedOut"]?.string), packages: packages),
        passwordHash: hash)
    }
    guard let first = users.min(by: { $0.key < $1.key }) else {
      throw ServerError(
        .badUserFile, "\(name) names no users", hint: "Write {\"users\": […]} with at least one.")
    }
    self.users = users
    self.verify = verify
    decoy = first.value.passwordHash
  }

  /// A new password and `ferry user logout` make another one.
  private static func stamp(_ hash: String, _ loggedOut: String?) -> String {
    let text = "\(hash)\n\(loggedOut ?? "")"
    return hexadecimal(SHA256Digest.hash(Array(text.utf8)).prefix(8))
  }

  package func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    let known = users[ExactText(user)]
    let fits = verify(password, known?.passwordHash ?? decoy)
    guard fits, let known else { throw .wrongLogin }
    return known.record
  }

  /// All of them, in the order of their names.
  package var records: [UserRecord] { users.values.map(\.record).sorted { $0.name < $1.name } }

  package func record(of user: String) -> UserRecord? { users[ExactText(user)]?.record }
}
