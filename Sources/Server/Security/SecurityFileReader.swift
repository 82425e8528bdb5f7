import FerryHTTP
import FerryHTTPClient
import FerryJSON
import FerryServer

/// Reads members of a security file, and names the place of what is wrong.
struct SecurityFileReader: MemberReader {
  let name: String
  let bytes: [UInt8]
  let sources: SecurityFile.Sources

  func fault(_ node: JSONNode, _ text: String) -> ServerError {
    SecurityFile.fault("\(name):\(TextPlace(offset: node.offset, in: bytes)): \(text)")
  }

  func configuration(
    _ node: JSONNode
  ) throws(ServerError) -> SecurityConfigurations.Configuration {
    try check(node, ["name", "domain", "cacheSeconds", "providers"], "a configuration")
    guard let name = try text(node, "name"), SecurityFileReader.isName(name) else {
      throw fault(
        node["name"] ?? node, "a configuration needs a name of letters, digits, -, _ and .")
    }
    var entries: [SecurityStack.Entry] = []
    for provider in node["providers"]?.array ?? [] { entries.append(try entry(provider)) }
    guard entries.contains(where: { $0.flag != .optional }) else {
      throw fault(
        node["providers"] ?? node, "\(name) needs a provider that is not optional")
    }
    return SecurityConfigurations.Configuration(
      name: name, domain: try text(node, "domain") ?? RoleMapping.defaultDomain,
      stack: SecurityStack(entries),
      memory: .seconds(try number(node, "cacheSeconds", 0...86_400) ?? 3_600))
  }

  private func entry(_ node: JSONNode) throws(ServerError) -> SecurityStack.Entry {
    let word = try text(node, "flag") ?? ControlFlag.required.rawValue
    guard let flag = ControlFlag(rawValue: word) else {
      throw fault(
        node["flag"] ?? node,
        "there is no flag \"\(word)\"; known are required, requisite, sufficient and optional")
    }
    switch try text(node, "type") {
    case "userFile":
      try check(node, ["type", "flag"], "a userFile")
      guard let users = sources.userFile else {
        throw fault(node, "there is no user file; add users with ferry user add")
      }
      return SecurityStack.Entry(flag, UserFileModule(users))
    case "certificate":
      try check(node, ["type", "flag", "authorities"], "a certificate provider")
      let path = try needed(node, "authorities")
      return SecurityStack.Entry(
        flag, UserFileModule(try sources.certificates(path), kind: "certificate"))
    case "anonymous":
      try check(node, ["type", "flag", "user", "roles"], "an anonymous provider")
      return SecurityStack.Entry(
        flag,
        AnonymousModule(
          user: try text(node, "user") ?? "anonymous", roles: try texts(node, "roles") ?? []))
    case "http": return SecurityStack.Entry(flag, try http(node))
    case "ldap": return SecurityStack.Entry(flag, try ldap(node))
    case let other:
      throw fault(
        node["type"] ?? node,
        "there is no provider \"\(other ?? "")\"; known are userFile, certificate, anonymous, http "
          + "and ldap")
    }
  }

  private func http(_ node: JSONNode) throws(ServerError) -> HTTPModule {
    try check(
      node,
      [
        "type", "flag", "address", "cookie", "rolesField", "successStatus", "seconds", "trust",
        "networks",
      ], "an http provider")
    let address = try needed(node, "address")
    guard let read = HTTPAddress(address), !address.contains("@") else {
      throw fault(node["address"] ?? node, "\(address) is not an address such as https://host/path")
    }
    var networks: Set<AddressKind> = []
    for word in try texts(node, "networks") ?? ["public"] {
      switch word {
      case "public": networks.insert(.public)
      case "private": networks.insert(.private)
      case "loopback": networks.insert(.loopback)
      default:
        throw fault(
          node["networks"] ?? node,
          "there is no network \"\(word)\"; known are public, private and loopback")
      }
    }
    guard read.isSecure || networks == [.loopback] else {
      throw fault(
        node["address"] ?? node,
        "passwords are sent over http only to this machine; write https, or networks [\"loopback\"]"
      )
    }
    var settings = HTTPModule.Settings(address: address)
    settings.cookie = try text(node, "cookie")
    settings.rolesField = try text(node, "rolesField")
    settings.successStatus = try number(node, "successStatus", 200...599) ?? 200
    settings.deadline = .seconds(try number(node, "seconds", 1...60) ?? 5)
    var options = TransportOptions(trust: try text(node, "trust").map { .file($0) } ?? .system)
    options.proxy = .none
    options.usesHTTP2 = false
    options.allowedAddresses = networks
    return HTTPModule(settings, transport: CurlTransport(options))
  }

  private func ldap(_ node: JSONNode) throws(ServerError) -> DirectoryModule {
    try check(
      node,
      [
        "type", "flag", "servers", "startTLS", "trust", "user", "password", "base", "filter",
        "groups", "seconds",
      ], "an ldap provider")
    let servers = try texts(node, "servers") ?? []
    var settings = DirectoryModule.Settings(servers: servers, base: try needed(node, "base"))
    settings.startsTLS = try flag(node, "startTLS") ?? false
    guard !servers.isEmpty else { throw fault(node, "an ldap provider needs servers") }
    for server in servers {
      let isSecure = server.hasPrefix("ldaps://") || settings.startsTLS
      let isHere = ["ldap://127.0.0.1", "ldap://localhost", "ldap://[::1]"].contains { here in
        server == here || server.hasPrefix(here + ":") || server.hasPrefix(here + "/")
      }
      guard server.hasPrefix("ldaps://") || server.hasPrefix("ldap://"), isSecure || isHere else {
        throw fault(
          node["servers"] ?? node,
          "\(server) is not ldaps://host, or ldap://host with \"startTLS\": true")
      }
    }
    settings.trust = try text(node, "trust")
    if let user = try text(node, "user") {
      settings.technicalUser = (user, try needed(node, "password"))
    }
    if let filter = try text(node, "filter") { settings.filter = filter }
    guard settings.filter.contains("{user}") else {
      throw fault(node["filter"] ?? node, "the filter does not contain {user}")
    }
    if let groups = node["groups"] {
      try check(groups, ["base", "filter", "attribute"], "\"groups\"")
      var read = DirectoryModule.Groups(base: try needed(groups, "base"))
      if let filter = try text(groups, "filter") { read.filter = filter }
      if let attribute = try text(groups, "attribute") { read.attribute = attribute }
      guard read.filter.contains("{user}") || read.filter.contains("{dn}") else {
        throw fault(groups, "the filter of groups contains neither {dn} nor {user}")
      }
      settings.groups = read
    }
    settings.seconds = try number(node, "seconds", 1...60) ?? 5
    return DirectoryModule(settings)
  }

  /// By domain, package and logical role: `"AUTO"`, `"NONE"`, or a list of roles.
  func roles(
    _ node: JSONNode?, domains: Set<String>
  ) throws(ServerError) -> [String: [String: [String: RoleMapping.Rule]]] {
    guard let node else { return [:] }
    var rules: [String: [String: [String: RoleMapping.Rule]]] = [:]
    try check(node, domains.sorted(), "\"roles\"")
    for domain in node.object ?? [] {
      guard let packages = domain.value.object else {
        throw fault(domain.value, "the domain \(domain.key) is not an object")
      }
      for package in packages {
        guard let roles = package.value.object else {
          throw fault(package.value, "the package \(package.key) is not an object")
        }
        for role in roles {
          guard rules[domain.key]?[package.key]?[role.key] == nil else {
            throw fault(role.value, "\"\(role.key)\" is there twice")
          }
          rules[domain.key, default: [:]][package.key, default: [:]][role.key] = try rule(
            role.value)
        }
      }
    }
    return rules
  }

  private func rule(_ node: JSONNode) throws(ServerError) -> RoleMapping.Rule {
    switch node.string {
    case "AUTO": return .auto
    case "NONE": return .none
    default:
      let names = node.array?.map(\.string) ?? [nil]
      guard !names.contains(nil) else {
        throw fault(node, "a role is \"AUTO\", \"NONE\" or a list of roles")
      }
      return .roles(Set(names.compactMap { $0 }))
    }
  }

  private func needed(_ node: JSONNode, _ member: String) throws(ServerError) -> String {
    guard let text = try text(node, member), !text.isEmpty else {
      throw fault(node, "\"\(member)\" is missing")
    }
    return text
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_.".utf8.contains(byte)
        }
      }
  }
}
