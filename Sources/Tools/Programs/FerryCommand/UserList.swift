import FerryJSON
import FerryModel
import FerryServer
import FerryWorld
import Glibc

/// The file of users as the server reads it.
struct UserList {
  struct Claim: Equatable {
    let name: String
    var values: [String]
  }

  struct User {
    let name: String
    var passwordHash: String
    var roles: [String]
    var claims: [Claim]
    /// Names of the packages that the user may use; nil: all.
    var packages: [String]?
    /// When the user's sessions were ended last, as text; nil: never.
    var loggedOut: String?

    /// As the server judges by it.
    var record: UserRecord {
      UserRecord(
        name: name, roles: roles,
        claims: Dictionary(claims.map { ($0.name, $0.values) }, uniquingKeysWith: +),
        packages: packages.map { .only($0) } ?? .all)
    }
  }

  var users: [User]

  /// Nil when there is no such file.
  static func read(_ path: String) throws(CommandError) -> UserList? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno != ENOENT else { return nil }
      throw CommandError(
        "the user file \(path) cannot be read: \(reason())", hint: "Check that you may read it.")
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else {
        guard count == 0 else {
          guard errno != EISDIR else {
            throw CommandError(
              "\(path) is a folder, and a file is needed here", hint: "Name the file.")
          }
          throw CommandError(
            "the user file \(path) cannot be read: \(reason())", hint: "Check that you may read it."
          )
        }
        break
      }
      bytes += buffer[..<count]
    }
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      let place = TextPlace(offset: error.offset, in: bytes)
      throw CommandError(
        "\(path):\(place): \(error.problem)", hint: "Correct the file at this position.")
    }
    guard let nodes = root["users"]?.array else {
      throw CommandError(
        "\(path) is not a user file",
        hint: "A user file begins with {\"users\": [. Name another file.")
    }
    var users: [User] = []
    for node in nodes {
      guard let user = user(node) else {
        throw CommandError(
          "\(path):\(TextPlace(offset: node.offset, in: bytes)): this user has an unknown field, "
            + "or no name or passwordHash",
          hint:
            "A user has name, passwordHash, roles, claims and packages, a list of names. Remove "
            + "other fields; they are not kept."
        )
      }
      users.append(user)
    }
    return UserList(users: users)
  }

  static func existing(_ path: String) throws(CommandError) -> UserList {
    guard let list = try read(path) else {
      throw CommandError("there is no user file \(path)", hint: "Create it with: ferry user add.")
    }
    return list
  }

  func place(of name: String, in path: String) throws(CommandError) -> Int {
    guard let place = users.firstIndex(where: { $0.name == name }) else {
      let near = NearestWord.near(name, among: users.map(\.name)).map { "\"\($0)\"" }
      throw CommandError(
        "\(path) has no user \"\(name)\"",
        hint: (near.isEmpty ? "" : "Did you mean \(near.joined(separator: " or "))? ")
          + "List the users with: ferry user list.")
    }
    return place
  }

  func requireNone(_ name: String, in path: String) throws(CommandError) {
    guard users.contains(where: { $0.name == name }) else { return }
    throw CommandError(
      "the user \"\(name)\" is already in \(path)",
      hint: "Change the password, roles or claims with: ferry user change.")
  }

  /// Reads the file, changes it and writes it; another command that changes it waits meanwhile.
  ///
  /// Where there is no file, `body` gets an empty list. Nothing is written where it throws.
  static func change<Result>(
    _ path: String, _ body: (inout UserList) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    let lock: any FileLock
    do throws(FileError) {
      lock = try SystemFiles().lock("\(resolved(path)).lock", within: .seconds(60))
    } catch {
      guard error.cause != .busy else {
        throw CommandError(
          "another command has been changing \(path) for a minute", hint: "End it, and try again.")
      }
      throw CommandError(
        "the user file \(path) cannot be written: \(error)",
        hint: "Check that you may write in its folder.")
    }
    defer { lock.release() }
    var list = try read(path) ?? UserList(users: [])
    let result = try body(&list)
    try list.write(to: path)
    return result
  }

  /// The same for one user, who must be there; returns the user as it is written.
  static func change(
    _ name: String, in path: String, _ body: (inout User) -> Void
  ) throws(CommandError) -> User {
    try change(path) { list throws(CommandError) -> User in
      let place = try list.place(of: name, in: path)
      body(&list.users[place])
      return list.users[place]
    }
  }

  private static func user(_ node: JSONNode) -> User? {
    let known: Set = ["name", "passwordHash", "roles", "claims", "packages", "loggedOut"]
    guard let members = node.object, members.allSatisfy({ known.contains($0.key) }),
      let name = node["name"]?.string, let hash = node["passwordHash"]?.string,
      let allowed = AllowedPackages(
        listed: node["packages"].map { $0.array?.map(\.string) ?? [nil] })
    else { return nil }
    let claims = (node["claims"]?.object ?? []).map { member in
      Claim(name: member.key, values: (member.value.array ?? [member.value]).compactMap(text))
    }
    return User(
      name: name, passwordHash: hash, roles: (node["roles"]?.array ?? []).compactMap(\.string),
      claims: claims, packages: allowed.names, loggedOut: node["loggedOut"]?.string)
  }

  private static func text(_ node: JSONNode) -> String? {
    switch node.content {
    case .string(let text), .number(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .null, .array, .object: nil
    }
  }

  static func write(_ user: User, hash: String?, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("name", user.name)
    if let hash { writer.field("passwordHash", hash) }
    writer.key("roles")
    writer.array(user.roles) { $0.string($1) }
    writer.key("claims")
    writer.beginObject()
    for claim in user.claims {
      writer.key(claim.name)
      writer.array(claim.values) { $0.string($1) }
    }
    writer.endObject()
    if let packages = user.packages {
      writer.key("packages")
      writer.array(packages) { $0.string($1) }
    }
    if let loggedOut = user.loggedOut { writer.field("loggedOut", loggedOut) }
    writer.endObject()
  }

  /// One user a line, for people who read it.
  private var text: String {
    let lines = users.map { user in
      var writer = JSONWriter()
      UserList.write(user, hash: user.passwordHash, to: &writer)
      return "    " + writer.text
    }
    return "{\n  \"users\": [\n\(lines.joined(separator: ",\n"))\n  ]\n}\n"
  }

  /// A reader, and a crash, find the old file or the new one. It keeps its owner, so that the
  /// server may still read what root has changed.
  private func write(to path: String) throws(CommandError) {
    let target = UserList.resolved(path)
    var name = Array("\(target).XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else {
      throw CommandError(
        "the user file \(path) cannot be written: \(UserList.reason())",
        hint: "Check that you may write in its folder.")
    }
    var known = stat()
    if stat(target, &known) == 0 { _ = fchown(descriptor, known.st_uid, known.st_gid) }
    let bytes = Array(text.utf8)
    var isWritten = fchmod(descriptor, 0o600) == 0
    var done = 0
    while isWritten, done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      isWritten = count > 0
      done += max(0, count)
    }
    isWritten = isWritten && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten, rename(name, target) == 0 else {
      let reason = UserList.reason()
      unlink(name)
      throw CommandError(
        "\(path) was not changed: \(reason)", hint: "Check the free space on its disk.")
    }
  }

  /// The file behind a symbolic link, which stays one.
  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static func reason() -> String { String(cString: strerror(errno)) }
}
