import FerryHTTP
import FerryJSON
import FerryModel

/// How changes are sent as their users.
extension ConnectionReader {
  private static let sealed = "sealedPasswords"

  func way(_ node: JSONNode, _ connection: String) throws(ConnectionsError) -> UserWay {
    let what = "\"users\" of \(connection)"
    try check(node, ConnectionKey.users, what)
    let word = try required(node, "way", what)
    if word == ConnectionReader.sealed { return try sealedPasswords(node, what) }
    guard let grant = TokenWay.Grant(rawValue: word) else {
      throw fault(
        node["way"] ?? node, "there is no way \"\(word)\"",
        hint: NearestWord.cure(
          word, among: TokenWay.Grant.allCases.map(\.rawValue) + [ConnectionReader.sealed]))
    }
    try refuse(["passwords", "passwordKey"], node, word)
    let address = try required(node, "tokenAddress", what)
    guard HTTPAddress(address) != nil, !address.contains("@") else {
      throw fault(
        node["tokenAddress"] ?? node, "\"tokenAddress\" is not an address",
        hint: "Write https://HOST/PATH.")
    }
    return .token(
      TokenWay(
        grant: grant, address: address, keyFile: try required(node, "key", what),
        keyID: try text(node, "keyID"), issuer: try required(node, "issuer", what),
        audience: try text(node, "audience") ?? address, client: try text(node, "client"),
        clientSecret: try secret(node, "clientSecret"), scope: try text(node, "scope"),
        resource: try text(node, "resource")))
  }

  private func sealedPasswords(
    _ node: JSONNode, _ what: String
  ) throws(ConnectionsError) -> UserWay {
    let own: Set<String> = ["way", "passwords", "passwordKey"]
    try refuse(
      ConnectionKey.users.map(\.name).filter { !own.contains($0) }, node, ConnectionReader.sealed)
    guard let key = try secret(node, "passwordKey") else {
      throw fault(node, "\(what) has no \"passwordKey\"", hint: "Add it.")
    }
    return .sealedPasswords(file: try required(node, "passwords", what), key: key)
  }

  private func refuse(
    _ keys: [String], _ node: JSONNode, _ way: String
  ) throws(ConnectionsError) {
    guard let extra = node.object?.first(where: { keys.contains($0.key) }) else { return }
    throw fault(
      extra.value, "\"\(extra.key)\" means nothing for the way \"\(way)\"", hint: "Leave it out.")
  }
}
