import FerryServer

/// Asks a directory (LDAP): it looks for the user with a technical user, and binds with the user's own
/// password.
package struct DirectoryModule: LoginModule {
  /// Where a directory is, and how users and their groups are found in it.
  package struct Settings: Sendable {
    /// `ldaps://host` or `ldap://host`, asked in this order until one is there.
    package var servers: [String]
    /// Whether `ldap://` goes on over TLS. Without it passwords are sent only to this machine.
    package var startsTLS: Bool = false
    /// Certificates (PEM) to trust in place of the system's.
    package var trust: String?
    /// Who looks for users; nil: nobody in particular (an anonymous bind).
    package var technicalUser: (name: String, password: String)?
    package var base: String
    /// `{user}` is the name of the user.
    package var filter: String = "(uid={user})"
    /// Where groups are; nil: the user has no roles.
    package var groups: Groups?
    /// For each answer of the directory.
    package var seconds: Int = 5

    package init(servers: [String], base: String) {
      self.servers = servers
      self.base = base
    }
  }

  /// How the groups of a user are found, each of which is a role.
  package struct Groups: Sendable {
    package var base: String
    /// `{dn}` is the user's entry, `{user}` the name.
    package var filter: String = "(member={dn})"
    /// Of the group's entry: the name of the role.
    package var attribute: String = "cn"

    package init(base: String) { self.base = base }
  }

  package let kind = "ldap"
  package let looksUpUsers: Bool = false
  private let settings: Settings

  package init(_ settings: Settings) { self.settings = settings }

  package func record(of user: String) -> UserRecord? { nil }

  package func judge(user: String, password: String) -> LoginOutcome {
    // A bind with a name and no password is one of nobody, and succeeds.
    guard !user.isEmpty, !password.isEmpty else { return .refused("name or password is empty") }
    guard !(user + password).utf8.contains(0) else { return .refused("it has a zero in it") }
    guard let library = DirectoryLibrary.shared else {
      return .away("libldap is missing: install libldap-2.5-0")
    }
    var reasons: [String] = []
    for server in settings.servers {
      do throws(DirectoryError) {
        return try judge(user, password, DirectoryConnection(library, server, settings))
      } catch {
        if case .refused(let reason) = error { return .refused(reason) }
        reasons.append("\(server): \(error.text)")
      }
    }
    return .away(reasons.joined(separator: "; "))
  }

  private func judge(
    _ user: String, _ password: String, _ directory: DirectoryConnection
  ) throws(DirectoryError) -> LoginOutcome {
    try bindTechnically(directory)
    let filter = settings.filter.replacing("{user}", with: DirectoryText.escaped(user))
    let found = try directory.search(settings.base, filter, attribute: nil, most: 2)
    guard let entry = found.first else { return .refused("the directory has no such user") }
    guard found.count == 1 else { return .refused("the directory has several such users") }
    do throws(DirectoryError) {
      try directory.bind(entry.name, password)
    } catch {
      guard case .failed(DirectoryError.invalidCredentials, _) = error else { throw error }
      return .refused("the directory refused the password of \(entry.name)")
    }
    guard let groups = settings.groups else { return .accepted(UserRecord(name: user)) }
    // The user may not be allowed to read groups.
    try bindTechnically(directory)
    let filterOfGroups = groups.filter
      .replacing("{dn}", with: DirectoryText.escaped(entry.name))
      .replacing("{user}", with: DirectoryText.escaped(user))
    let roles = try directory.search(
      groups.base, filterOfGroups, attribute: groups.attribute, most: 10_000)
    return .accepted(UserRecord(name: user, roles: roles.flatMap(\.values)))
  }

  private func bindTechnically(_ directory: DirectoryConnection) throws(DirectoryError) {
    do throws(DirectoryError) {
      try directory.bind(settings.technicalUser?.name ?? "", settings.technicalUser?.password ?? "")
    } catch {
      // Nobody's guess: the file is wrong.
      guard case .failed(let code, let text) = error else { throw error }
      throw .failed(
        code == DirectoryError.invalidCredentials ? -1 : code, "technical user: \(text)")
    }
  }
}

/// Texts of a directory.
enum DirectoryText {
  /// A value inside a filter (RFC 4515): nothing in it ends or widens the filter.
  static func escaped(_ text: String) -> String {
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x00...0x1F, 0x7F, UInt8(ascii: "*"), UInt8(ascii: "("), UInt8(ascii: ")"),
        UInt8(ascii: "\\"):
        let digits = Array("0123456789abcdef".utf8)
        escaped += [UInt8(ascii: "\\"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}

enum DirectoryError: Error {
  static let invalidCredentials: Int32 = 49

  /// What libldap says.
  case failed(Int32, String)
  case refused(String)

  var text: String {
    switch self {
    case .failed(_, let text): text
    case .refused(let text): text
    }
  }
}
