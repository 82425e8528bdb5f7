import FerryCrypto
import FerryHTTP
import FerryJSON
import FerryModel
import FerryText
import FerryWorld

/// Why the file of senders cannot be used.
package struct NoticeFileError: Error, Sendable, Equatable, CustomStringConvertible {
  package let message: String
  package let hint: String

  package init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  package var description: String { "\(message). \(hint)" }
}

/// Who may say what was changed, from a JSON file that only its owner can read:
///
///     {"senders": [{"name": "erp", "token": "…", "package": "Shop", "entities": ["Item"]}],
///      "versions": {"Shop": {"Item": "changedAt"}}}
package struct NoticeSenders: Sendable {
  struct Sender: Sendable {
    let name: String
    /// SHA-256 of the bearer token; nil where the sender signs.
    let tokenHash: [UInt8]?
    /// With which the sender signs the body; nil where it has a token.
    let secret: [UInt8]?
    let package: String
    /// Empty: all.
    let entities: Set<String>
    /// How a body of the sender's own shape is read; nil where it sends messages.
    let shape: NoticeShape?

    func mayName(_ entity: String) -> Bool { entities.isEmpty || entities.contains(entity) }
  }

  let senders: [Sender]
  /// By package and entity: the attribute that says which of two states is newer.
  let versions: [String: [String: String]]
  /// Whether the reference's address with name and password in it is answered.
  let allowsPasswordInAddress: Bool

  private static let mostBytes = 1 << 20
  private static let shortestToken = 20

  /// Reads the file. It holds secrets: others must not be able to read it.
  package init(path: String) throws(NoticeFileError) {
    let bytes: [UInt8]
    do throws(PrivateFile.Fault) {
      bytes = try PrivateFile.read(path, atMost: NoticeSenders.mostBytes)
    } catch {
      throw
        switch error
      {
      case .unreadable:
        NoticeFileError(
          "the file of senders \(path) cannot be read",
          hint: "Name a file that exists (--notices).")
      case .noFile: NoticeFileError("\(path) is not a file", hint: "Name a file (--notices).")
      case .open:
        NoticeFileError(
          "others can read the file of senders \(path), and it holds secrets",
          hint: "Type: chmod 600 \(path)")
      case .tooLarge: NoticeSenders.noObject(path)
      }
    }
    try self.init(bytes, name: path)
  }

  package init(_ text: [UInt8], name: String) throws(NoticeFileError) {
    guard text.count <= NoticeSenders.mostBytes, let root = try? JSONNode.parse(text),
      root.object != nil
    else { throw NoticeSenders.noObject(name) }
    for member in root.object ?? []
    where !["senders", "versions", "passwordInAddress"].contains(member.key) {
      throw NoticeFileError(
        "\(name): \"\(member.key)\" is not known",
        hint: "Write \"senders\", \"versions\" or \"passwordInAddress\".")
    }
    var senders: [Sender] = []
    for node in root["senders"]?.array ?? [] {
      senders.append(try NoticeSenders.sender(node, name))
    }
    var versions: [String: [String: String]] = [:]
    for package in root["versions"]?.object ?? [] {
      for entity in package.value.object ?? [] {
        guard let attribute = entity.value.string else {
          throw NoticeFileError(
            "\(name): the version of \(package.key).\(entity.key) is no attribute",
            hint: "Write the attribute that says which of two states is newer.")
        }
        versions[package.key.lowercased(), default: [:]][entity.key] = attribute
      }
    }
    self.senders = senders
    self.versions = versions
    allowsPasswordInAddress = root["passwordInAddress"]?.boolean ?? false
  }

  private static func noObject(_ name: String) -> NoticeFileError {
    NoticeFileError(
      "the file of senders \(name) is no JSON object", hint: "Write {\"senders\": [ … ]}.")
  }

  private static func sender(_ node: JSONNode, _ file: String) throws(NoticeFileError) -> Sender {
    guard let name = node["name"]?.string, !name.isEmpty, let package = node["package"]?.string
    else {
      throw NoticeFileError(
        "\(file): a sender has no name or no package", hint: "Write \"name\" and \"package\".")
    }
    for member in node.object ?? []
    where !["name", "token", "secret", "package", "entities", "shape"].contains(member.key) {
      throw NoticeFileError(
        "\(file): \"\(member.key)\" of \(name) is not known",
        hint: "Write name, package, entities, shape, and token or secret.")
    }
    let token = node["token"]?.string
    let secret = node["secret"]?.string
    guard (token == nil) != (secret == nil),
      (token ?? secret ?? "").utf8.count >= shortestToken
    else {
      throw NoticeFileError(
        "\(file): \(name) needs a token or a secret of at least \(shortestToken) characters",
        hint: "Make one with: openssl rand -hex 32")
    }
    var key: [UInt8]?
    if let secret {
      // Standard Webhooks writes secrets in Base64 behind this.
      key =
        secret.hasPrefix("whsec_")
        ? Base64.decode(String(secret.dropFirst(6))) : Array(secret.utf8)
      guard key?.isEmpty == false else {
        throw NoticeFileError(
          "\(file): the secret of \(name) is not Base64 behind whsec_", hint: "Copy it again.")
      }
    }
    let entities = (node["entities"]?.array ?? []).compactMap(\.string)
    guard node["entities"] == nil || !entities.isEmpty else {
      throw NoticeFileError(
        "\(file): \(name) may name no entity", hint: "List entities, or leave the list out for all."
      )
    }
    return Sender(
      name: name, tokenHash: token.map { SHA256Digest.hash(Array($0.utf8)) }, secret: key,
      package: package,
      entities: Set(entities),
      shape: try node["shape"].map { shape throws(NoticeFileError) in
        try NoticeShape(shape, sender: name, file: file)
      })
  }

  /// Whose token it is; every hash is looked at, so that time tells nothing.
  func sender(token: String) -> Sender? {
    let hash = SHA256Digest.hash(Array(token.utf8))
    var found: Sender?
    for sender in senders {
      if let known = sender.tokenHash, equalInConstantTime(known, hash) { found = sender }
    }
    return found
  }
}
