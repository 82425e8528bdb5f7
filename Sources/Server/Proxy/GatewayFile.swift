import FerryHTTP
import FerryHTTPClient
import FerryJSON
import Glibc

/// Why a gateway's file cannot be used.
public struct GatewayError: Error, Sendable, Equatable, CustomStringConvertible {
  public let message: String
  public let hint: String

  public init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  public var description: String { "\(message). \(hint)" }
}

/// The services behind the door, from a JSON file that only its owner can read:
///
///     {"door": "https://gate.example.com",
///      "services": [{"name": "flights", "address": "http://10.0.0.7:8000/odata/",
///                    "networks": ["private"],
///                    "credentials": {"user": "FERRY", "password": "…"}}]}
public struct GatewayFile: Sendable {
  /// The address under which callers see the door; links lead there. Nil: none is rewritten.
  public let door: String?
  /// By name, in the order of the file.
  public let services: [BackEnd]

  /// Services that are not read from a file.
  public init(door: String?, services: [BackEnd]) {
    self.door = door
    self.services = services
  }

  /// Reads the file. It holds passwords: others must not be able to read it.
  public init(path: String) throws(GatewayError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw GatewayError(
        "the gateway file \(path) cannot be read", hint: "Name a file that exists (--gateway).")
    }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw GatewayError("\(path) is not a file", hint: "Name a file (--gateway).")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw GatewayError(
        "others can read the gateway file \(path), and it may hold passwords",
        hint: "Type: chmod 600 \(path)")
    }
    guard facts.st_size <= GatewayFile.mostBytes else {
      throw GatewayError("the gateway file \(path) is too large", hint: "Shorten it to 1 MB.")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &piece, piece.count), count > 0 {
      bytes += piece.prefix(count)
    }
    try self.init(bytes, name: path)
  }

  private static let mostBytes: Int = 1 << 20

  public init(_ bytes: [UInt8], name: String) throws(GatewayError) {
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      let place = TextPlace(offset: error.offset, in: bytes)
      throw GatewayError("\(name):\(place): \(error.problem)", hint: "Correct the file.")
    }
    let reader = Reader(name: name, bytes: bytes)
    try reader.check(root, ["door", "services"], "the gateway file")
    door = try reader.text(root, "door")
    if let door {
      guard let address = HTTPAddress(door), address.path == "/", !door.contains("?"),
        !door.contains("@")
      else {
        throw reader.fault(root["door"] ?? root, "the door is not an address such as https://host")
      }
    }
    var services: [BackEnd] = []
    for node in root["services"]?.array ?? [] {
      let service = try reader.service(node)
      guard !services.contains(where: { $0.name == service.name }) else {
        throw reader.fault(node, "there are two services named \(service.name)")
      }
      services.append(service)
    }
    guard !services.isEmpty else {
      throw reader.fault(root, "no service is named", hint: "Write \"services\": [{…}].")
    }
    self.services = services
  }

  /// Reads members, and names the place of what is wrong.
  private struct Reader {
    let name: String
    let bytes: [UInt8]

    func fault(_ node: JSONNode, _ text: String, hint: String = "Correct the file.") -> GatewayError
    {
      GatewayError("\(name):\(TextPlace(offset: node.offset, in: bytes)): \(text)", hint: hint)
    }

    /// A member that nobody reads may be a rule that its writer relies on.
    func check(_ node: JSONNode, _ known: [String], _ what: String) throws(GatewayError) {
      guard let members = node.object else { throw fault(node, "\(what) is not an object") }
      var seen: Set<String> = []
      for member in members {
        guard known.contains(member.key) else {
          throw fault(
            member.value, "\(what) has no member \"\(member.key)\"",
            hint: "Known are \(known.joined(separator: ", ")).")
        }
        guard seen.insert(member.key).inserted else {
          throw fault(member.value, "\"\(member.key)\" is there twice")
        }
      }
    }

    func text(_ node: JSONNode, _ member: String) throws(GatewayError) -> String? {
      guard let value = node[member] else { return nil }
      guard let text = value.string, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw fault(value, "\"\(member)\" is not a text")
      }
      return text
    }

    func flag(_ node: JSONNode, _ member: String) throws(GatewayError) -> Bool? {
      guard let value = node[member] else { return nil }
      guard let flag = value.boolean else {
        throw fault(value, "\"\(member)\" is neither true nor false")
      }
      return flag
    }

    func texts(_ node: JSONNode, _ member: String) throws(GatewayError) -> [String]? {
      guard let value = node[member] else { return nil }
      let texts = value.array?.map(\.string) ?? [nil]
      guard !texts.contains(nil) else { throw fault(value, "\"\(member)\" is not a list of texts") }
      return texts.compactMap { $0 }
    }

    func number(
      _ node: JSONNode, _ member: String, _ range: ClosedRange<Int64>
    ) throws(GatewayError) -> Int? {
      guard let value = node[member] else { return nil }
      guard let number = value.integer, range.contains(number) else {
        throw fault(
          value, "\"\(member)\" is not a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return Int(number)
    }

    func service(_ node: JSONNode) throws(GatewayError) -> BackEnd {
      try check(
        node,
        [
          "name", "address", "paths", "credentials", "roles", "anonymous", "userHeader",
          "rewriteLinks", "networks", "trust", "limits",
        ], "a service")
      guard let name = try text(node, "name"), !name.isEmpty, name != ".", name != "..",
        ForwardedTarget(path: "/\(name)/", query: nil)?.name == name
      else {
        throw fault(
          node["name"] ?? node, "a service needs a name of letters, digits, -, _ and .")
      }
      guard let text = try text(node, "address"), let address = HTTPAddress(text),
        !text.contains(where: { "?#@\\ ".contains($0) })
      else {
        throw fault(
          node["address"] ?? node, "\(name) needs an address such as http://host:port/path/")
      }
      var networks: Set<BackEnd.Network> = []
      for word in try texts(node, "networks") ?? ["public"] {
        guard let network = BackEnd.Network(rawValue: word) else {
          throw fault(
            node["networks"] ?? node, "there is no network \"\(word)\"",
            hint: "Write public, private, loopback or linkLocal.")
        }
        networks.insert(network)
      }
      let trust = try self.text(node, "trust").map { TransportOptions.Trust.file($0) }
      let userHeader = try self.text(node, "userHeader")
      if let userHeader, userHeader.isEmpty || !userHeader.utf8.allSatisfy(Self.isNameByte) {
        throw fault(node["userHeader"] ?? node, "\"userHeader\" is not the name of a header")
      }
      return BackEnd(
        name: name, address: "\(address.origin)\(address.path)",
        paths: try texts(node, "paths") ?? [], credentials: try credentials(node["credentials"]),
        roles: try texts(node, "roles").map(Set.init),
        isOpenToAll: try flag(node, "anonymous") ?? false, userHeader: userHeader,
        rewritesLinks: try flag(node, "rewriteLinks") ?? true, limits: try limits(node["limits"]),
        trust: trust ?? .system, networks: networks)
    }

    private func credentials(_ node: JSONNode?) throws(GatewayError) -> BackEnd.Credentials {
      guard let node else { return .none }
      if let word = node.string {
        switch word {
        case "none": return .none
        case "own": return .own
        default:
          throw fault(
            node, "there are no credentials \"\(word)\"",
            hint: "Write \"none\", \"own\" or {\"user\": …, \"password\": …}.")
        }
      }
      try check(node, ["user", "password"], "\"credentials\"")
      guard let user = try text(node, "user"), let password = try text(node, "password"),
        !user.contains(":")
      else {
        throw fault(node, "credentials need a user, without a colon, and a password")
      }
      return .technical(authorization: BasicCredentials(user: user, password: password).header)
    }

    private func limits(_ node: JSONNode?) throws(GatewayError) -> BackEnd.Limits {
      var limits = BackEnd.Limits()
      guard let node else { return limits }
      try check(
        node, ["uploadMB", "connections", "connectSeconds", "idleSeconds"], "\"limits\"")
      if let number = try number(node, "uploadMB", 1...1_000_000) {
        limits.uploadBytes = number << 20
      }
      if let number = try number(node, "connections", 1...10_000) { limits.connections = number }
      if let number = try number(node, "connectSeconds", 1...600) {
        limits.connect = .seconds(number)
      }
      if let number = try number(node, "idleSeconds", 1...86_400) { limits.idle = .seconds(number) }
      return limits
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
      default: false
      }
    }
  }
}
