import FerryHTTP
import FerryHTTPClient
import FerryJSON
import Foundation

/// Reads members, and names the place of what is wrong.
struct GatewayFileReader: MemberReader {
  let name: String
  let bytes: [UInt8]

  func fault(_ node: JSONNode, _ text: String, hint: String) -> GatewayError {
    GatewayError("\(name):\(TextPlace(offset: node.offset, in: bytes)): \(text)", hint: hint)
  }

  func fault(_ node: JSONNode, _ text: String) -> GatewayError {
    fault(node, text, hint: "Correct the file.")
  }

  func unknown(_ member: JSONNode.Member, of what: String, known: [String]) -> GatewayError {
    fault(
      member.value, "\(what) has no member \"\(member.key)\"",
      hint: "Known are \(known.joined(separator: ", ")).")
  }

  func service(_ node: JSONNode) throws(GatewayError) -> BackEnd {
    try check(
      node,
      [
        "name", "address", "paths", "credentials", "roles", "anonymous", "userHeader",
        "rewriteLinks", "networks", "trust", "limits", "publicPaths", "identity",
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
      trust: trust ?? .system, networks: networks,
      publicPaths: try texts(node, "publicPaths") ?? [], identity: try identity(node["identity"]))
  }

  func clientCertificates(
    _ node: JSONNode?
  ) throws(GatewayError) -> GatewayFile.ClientCertificates? {
    guard let node else { return nil }
    try check(
      node, ["authorities", "revocations", "required", "throughProxies"], "\"clientCertificates\"")
    guard let authorities = try text(node, "authorities") else {
      throw fault(node, "\"clientCertificates\" needs a file of authorities")
    }
    var required: Set<String>?
    if let flag = node["required"]?.boolean {
      required = flag ? [] : nil
    } else if let addresses = try texts(node, "required") {
      guard !addresses.isEmpty else {
        throw fault(node["required"] ?? node, "\"required\" names no address")
      }
      required = Set(addresses)
    }
    return GatewayFile.ClientCertificates(
      authorities: authorities, revocations: try text(node, "revocations"),
      requiredFrom: required, comeThroughProxies: try flag(node, "throughProxies") ?? false)
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
    if node["cookie"] != nil {
      try check(node, ["cookie"], "\"credentials\"")
      guard let name = try text(node, "cookie"), !name.isEmpty,
        name.utf8.allSatisfy(Self.isNameByte)
      else { throw fault(node, "\"cookie\" is not the name of a cookie") }
      return .cookie(name)
    }
    try check(node, ["user", "password"], "\"credentials\"")
    guard let user = try text(node, "user"), let password = try text(node, "password"),
      !user.contains(":")
    else {
      throw fault(node, "credentials need a user, without a colon, and a password")
    }
    return .technical(authorization: BasicCredentials(user: user, password: password).header)
  }

  private func identity(_ node: JSONNode?) throws(GatewayError) -> ClientIdentity? {
    guard let node else { return nil }
    try check(node, ["file", "password"], "\"identity\"")
    guard let path = try text(node, "file"), let password = try text(node, "password") else {
      throw fault(node, "\"identity\" needs a file of PKCS#12 and its password")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw fault(node, "the file \(path) cannot be read")
    }
    return ClientIdentity(pkcs12: [UInt8](data), password: password)
  }

  private func limits(_ node: JSONNode?) throws(GatewayError) -> BackEnd.Limits {
    var limits = BackEnd.Limits()
    guard let node else { return limits }
    try check(
      node,
      [
        "uploadMB", "connections", "connectionsPerUser", "turnSeconds", "connectSeconds",
        "idleSeconds",
      ], "\"limits\"")
    if let number = try number(node, "uploadMB", 1...1_000_000) {
      limits.uploadBytes = number << 20
    }
    if let number = try number(node, "connections", 1...10_000) { limits.connections = number }
    limits.connectionsPerUser = try number(
      node, "connectionsPerUser", 1...Int64(limits.connections))
    if let number = try number(node, "turnSeconds", 1...600) { limits.turn = .seconds(number) }
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
