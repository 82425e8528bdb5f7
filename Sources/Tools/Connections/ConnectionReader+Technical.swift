import FerryHTTP
import FerryJSON
import FerryModel

/// What the technical user logs in with.
extension ConnectionReader {
  func technical(
    _ node: JSONNode, _ connection: String
  ) throws(ConnectionsError) -> TechnicalCredentials {
    let what = "\"credentials\" of \(connection)"
    try check(node, ConnectionKey.credentials, what)
    let ways = ["user", "token", "header", "client"].filter { node[$0] != nil }
    guard ways.count == 1 else {
      throw fault(
        node, "\(what) need one of \"user\", \"token\", \"header\" and \"client\"")
    }
    switch ways[0] {
    case "user":
      try only(["user", "password"], node, what)
      let user = try required(node, "user", what)
      guard !user.contains(":") else {
        throw fault(node, "the user's name has a colon", hint: "Basic login allows none.")
      }
      return .password(user: user, try requiredSecret(node, "password", what))
    case "token":
      try only(["token"], node, what)
      return .token(try requiredSecret(node, "token", what))
    case "header":
      try only(["header", "key"], node, what)
      return .header(
        name: try header(node, what), try requiredSecret(node, "key", what))
    default:
      try only(["client", "clientSecret", "tokenAddress", "scope", "resource"], node, what)
      let address = try required(node, "tokenAddress", what)
      guard HTTPAddress(address) != nil, !address.contains("@") else {
        throw fault(
          node["tokenAddress"] ?? node, "\"tokenAddress\" is not an address",
          hint: "Write https://HOST/PATH.")
      }
      return .client(
        ClientGrant(
          tokenAddress: address, client: try required(node, "client", what),
          clientSecret: try requiredSecret(node, "clientSecret", what),
          scope: try text(node, "scope"), resource: try text(node, "resource")))
    }
  }

  /// Headers that say how a request is read are not for secrets.
  private static let framing: Set<String> = [
    "host", "content-length", "content-type", "transfer-encoding", "connection", "te", "upgrade",
    "expect", "if-match", "if-none-match",
  ]

  private func header(_ node: JSONNode, _ what: String) throws(ConnectionsError) -> String {
    let name = try required(node, "header", what)
    let isName = name.utf8.allSatisfy {
      ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2D || $0 == 0x5F
    }
    guard isName, !ConnectionReader.framing.contains(name.lowercased()) else {
      throw fault(
        node["header"] ?? node, "\"\(name)\" is no header for a key",
        hint: "Write a name such as X-API-Key.")
    }
    return name
  }

  private func requiredSecret(
    _ node: JSONNode, _ key: String, _ what: String
  ) throws(ConnectionsError) -> Secret {
    if let secret = try secret(node, key) { return secret }
    throw fault(node, "\(what) have no \"\(key)\"", hint: "Add it.")
  }

  private func only(
    _ keys: [String], _ node: JSONNode, _ what: String
  ) throws(ConnectionsError) {
    guard let extra = node.object?.first(where: { !keys.contains($0.key) }) else { return }
    throw fault(
      extra.value, "\"\(extra.key)\" means nothing in \(what) beside \"\(keys[0])\"",
      hint: "Leave it out.")
  }
}
