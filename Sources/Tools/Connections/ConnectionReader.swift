import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryModel

/// Reads the members of a connections file, and names the place of what is wrong.
struct ConnectionReader: MemberReader {
  let name: String
  let bytes: [UInt8]

  func fault(
    _ node: JSONNode, _ text: String, hint: String
  ) -> ConnectionsError {
    ConnectionsError("\(name):\(TextPlace(offset: node.offset, in: bytes)): \(text)", hint: hint)
  }

  func fault(_ node: JSONNode, _ text: String) -> ConnectionsError {
    fault(node, text, hint: "Correct the file.")
  }

  func unknown(_ member: JSONNode.Member, of what: String, known: [String]) -> ConnectionsError {
    fault(
      member.value, "\(what) has no key \"\(member.key)\"",
      hint: NearestWord.cure(member.key, among: known))
  }

  func check(
    _ node: JSONNode, _ known: [ConnectionKey], _ what: String
  ) throws(ConnectionsError) {
    try check(node, known.map(\.name), what)
  }

  /// Never empty.
  func text(_ node: JSONNode, _ key: String) throws(ConnectionsError) -> String? {
    guard let value = node[key] else { return nil }
    guard let text = value.string, !text.isEmpty,
      !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
    else { throw fault(value, "\"\(key)\" is not a text") }
    return text
  }

  func required(_ node: JSONNode, _ key: String, _ what: String) throws(ConnectionsError) -> String
  {
    guard let text = try text(node, key) else {
      throw fault(node, "\(what) has no \"\(key)\"", hint: "Add it.")
    }
    return text
  }

  func secret(_ node: JSONNode, _ key: String) throws(ConnectionsError) -> Secret? {
    guard let value = node[key] else { return nil }
    guard value.object != nil else {
      throw fault(
        value, "\"\(key)\" is written into the file",
        hint: "Write {\"environment\": \"NAME\"} or {\"file\": \"PATH\"}, and put the secret there."
      )
    }
    try check(value, ConnectionKey.secret, "\"\(key)\"")
    switch (try text(value, "environment"), try text(value, "file")) {
    case (let variable?, nil): return .environment(variable)
    case (nil, let path?): return .file(path)
    default:
      throw fault(
        value, "\"\(key)\" must have either \"environment\" or \"file\"", hint: "Keep one of them.")
    }
  }

  private func seconds(
    _ node: JSONNode, _ key: String, _ range: ClosedRange<Int64>
  ) throws(ConnectionsError) -> Duration? {
    try number(node, key, range).map { .seconds($0) }
  }

  // MARK: A connection

  func connection(
    _ name: String, _ node: JSONNode
  ) throws(ConnectionsError) -> ConnectionsFile.Named {
    let what = "the connection \"\(name)\""
    try check(node, ConnectionKey.connection, what)
    let address = try required(node, "address", what)
    let settings = try settings(node, address, what)
    do throws(ConnectionsError) {
      let database = try BusinessDatabase(address, settings: settings)
      if !database.isService, let extra = node.object?.first(where: { $0.key != "address" }) {
        throw fault(
          extra.value, "\"\(extra.key)\" means nothing for \(what), which is a database",
          hint:
            "Leave it out. PostgreSQL takes a password from PGPASSFILE or a service file, MariaDB "
            + "from an option file.")
      }
      var passwords: SealedPasswords?
      if case .sealedPasswords(let file, let key)? = settings.users {
        passwords = SealedPasswords(file: file, key: key)
      }
      return ConnectionsFile.Named(
        name: name, address: address, database: database, passwords: passwords)
    } catch {
      guard error.message.hasPrefix("\(self.name):") else {
        throw fault(node["address"] ?? node, error.message, hint: error.hint)
      }
      throw error
    }
  }

  private func settings(
    _ node: JSONNode, _ address: String, _ what: String
  ) throws(ConnectionsError) -> ServiceSettings {
    var settings = ServiceSettings()
    if let credentials = node["credentials"] {
      settings.credentials = try technical(credentials, what)
    }
    if let users = node["users"] { settings.users = try way(users, what) }
    if let file = try text(node, "mapping") {
      guard address.hasPrefix(BusinessDatabase.restScheme) else {
        throw fault(
          node["mapping"] ?? node,
          "\"mapping\" means nothing for \(what), which is no REST service",
          hint: "Leave it out.")
      }
      settings.mapping = file
    }
    if let file = try text(node, "authority") { settings.trust = .file(file) }
    if let file = try text(node, "certificate") {
      settings.certificate = ServiceSettings.ClientCertificate(
        file: file, password: try secret(node, "certificatePassword"))
    } else if let password = node["certificatePassword"] {
      throw fault(password, "\(what) has a \"certificatePassword\" and no \"certificate\"")
    }
    if let text = try text(node, "proxy") { settings.proxy = try proxy(text, node) }
    if let limits = node["limits"] { try read(limits, of: what, into: &settings) }
    if try flag(node, "allowPlainPasswords") != true {
      try refusePlain(node, address, settings, what)
    }
    return settings
  }

  private func proxy(
    _ text: String, _ node: JSONNode
  ) throws(ConnectionsError) -> TransportOptions.Proxy {
    if text == "none" { return .none }
    guard let address = HTTPAddress(text), !address.isSecure, address.path == "/",
      !text.contains("@")
    else {
      throw fault(
        node["proxy"] ?? node, "\"proxy\" is not an address",
        hint: "Write http://HOST:PORT or none.")
    }
    return .server(host: address.host, port: address.port)
  }

  private func read(
    _ limits: JSONNode, of what: String, into settings: inout ServiceSettings
  ) throws(ConnectionsError) {
    try check(limits, ConnectionKey.limits, "\"limits\" of \(what)")
    if let number = try number(limits, "requests", 1...64) { settings.requests = number }
    if let time = try seconds(limits, "connectSeconds", 1...600) {
      settings.deadlines.connect = time
    }
    if let time = try seconds(limits, "idleSeconds", 1...3_600) { settings.deadlines.idle = time }
    if let time = try seconds(limits, "totalSeconds", 1...86_400) {
      settings.deadlines.total = time
    }
    if let time = try seconds(limits, "lateSeconds", 1...86_400) { settings.late = time }
  }

  /// What is secret is not sent where everybody on the way can read it.
  private func refusePlain(
    _ node: JSONNode, _ address: String, _ settings: ServiceSettings, _ what: String
  ) throws(ConnectionsError) {
    var places: [(address: String, node: JSONNode)] = []
    if settings.credentials != nil || settings.users != nil {
      places.append((String(address.drop { $0 != ":" }.dropFirst()), node["address"] ?? node))
    }
    if case .client(let grant)? = settings.credentials {
      places.append((grant.tokenAddress, node["credentials"] ?? node))
    }
    if let token = settings.users?.tokenAddress { places.append((token, node["users"] ?? node)) }
    for place in places {
      guard let found = HTTPAddress(place.address), !found.isSecure,
        !ConnectionReader.isLoopback(found.host)
      else { continue }
      throw fault(
        place.node, "the password or token of \(what) would travel in the clear to \(found.host)",
        hint: "Write https, or \"allowPlainPasswords\": true if the network is safe.")
    }
  }

  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
