import FerryJSON
import FerryModel
import FerryServer

/// Which claims and groups of an issuer's tokens give which roles, claims and packages here.
///
///     {"issuer": "https://login.example.com/acme", "identity": "oid", "tenant": "72f9…",
///      "rules": [
///        {"from": "agency", "claim": "agency"},
///        {"from": ["realm_access", "roles"], "is": "ferry-sales", "role": "sales"},
///        {"from": "groups", "is": "9f1c…", "role": "manager", "claims": {"agency": ["AG-01"]},
///          "packages": ["Travel"]}]}
///
/// Once a rule names packages, a user may use those of the rules that fit, and no others.
package struct Mapping: Sendable, Equatable {
  /// One line of the mapping.
  package struct Rule: Sendable, Equatable {
    /// The way to the values in the token.
    package let path: [String]
    /// Only these values count; nil: each one.
    package let values: [String]?
    /// The values that count become those of this claim.
    package let claim: String?
    package let roles: [String]
    package let claims: [String: [String]]
    /// Names of packages, each for all its versions.
    package let packages: [String]

    /// As it is called in messages.
    package var name: String {
      path.joined(separator: " > ") + (values.map { " is " + $0.joined(separator: " or ") } ?? "")
    }
  }

  /// The issuer that it is for; nil: the only one there is.
  package let issuer: String?
  /// The claim that says whose the token is: `sub`, or the object id `oid` of Entra ID.
  package let identity: String
  /// What the claim `tid` of the token must be.
  package let tenant: String?
  package let rules: [Rule]

  /// Without a file: the claims that the model's partition rules name, and the roles that it names,
  /// under the same names.
  package init(claims: [String], roles: [String]) {
    issuer = nil
    identity = "sub"
    tenant = nil
    rules =
      claims.map { Rule(path: [$0], values: nil, claim: $0, roles: [], claims: [:], packages: []) }
      + roles.map {
        Rule(path: ["roles"], values: [$0], claim: nil, roles: [$0], claims: [:], packages: [])
      }
  }

  /// Reads a file. Errors: `badMapping`, which names line and column.
  package init(_ bytes: [UInt8], name file: String) throws(IssuerError) {
    func wrong(_ offset: Int, _ problem: String, _ hint: String) -> IssuerError {
      IssuerError(
        .badMapping, "\(file):\(TextPlace(offset: offset, in: bytes)): \(problem)", hint: hint)
    }
    let root: JSONNode
    do { root = try JSONNode.parse(bytes) } catch {
      throw wrong(error.offset, error.problem, "Correct the file at this position.")
    }
    let known = ["issuer", "identity", "tenant", "rules"]
    for member in root.object ?? [] where !known.contains(member.key) {
      throw wrong(
        member.keyOffset, "\"\(member.key)\" is unknown",
        NearestWord.cure(member.key, among: known))
    }
    guard let nodes = root["rules"]?.array, !nodes.isEmpty else {
      throw wrong(0, "the mapping has no rules", "Write {\"rules\": [{\"from\": …}]}.")
    }
    issuer = root["issuer"]?.string
    identity = root["identity"]?.string ?? "sub"
    tenant = root["tenant"]?.string
    guard !["email", "preferred_username", "upn", "name", "unique_name"].contains(identity) else {
      throw wrong(
        root["identity"]?.offset ?? 0,
        "\"identity\" is \(identity), which another user may get later",
        "Use sub, or oid with Entra ID: they never belong to another user.")
    }
    var rules: [Rule] = []
    for node in nodes {
      let fields = ["from", "is", "claim", "role", "roles", "claims", "packages"]
      for member in node.object ?? [] where !fields.contains(member.key) {
        throw wrong(
          member.keyOffset, "\"\(member.key)\" is unknown",
          NearestWord.cure(member.key, among: fields))
      }
      let path = Mapping.texts(node["from"])
      guard !path.isEmpty else {
        throw wrong(node.offset, "the rule has no \"from\"", "Name a claim of the token.")
      }
      let claims = ClaimMembers.read(node["claims"])
      let roles = Mapping.texts(node["role"]) + Mapping.texts(node["roles"])
      let claim = node["claim"]?.string
      let packages = Mapping.texts(node["packages"])
      guard packages.allSatisfy(AllowedPackages.isName),
        packages.count == node["packages"].map({ $0.array?.count ?? 1 }) ?? 0
      else {
        throw wrong(
          node["packages"]?.offset ?? node.offset,
          "\"packages\" is not a list of names of packages",
          "Write \"packages\": [\"Travel\"], without a version.")
      }
      guard claim != nil || !roles.isEmpty || !claims.isEmpty || !packages.isEmpty else {
        throw wrong(
          node.offset, "the rule gives nothing",
          "Add \"claim\", \"role\", \"claims\" or \"packages\".")
      }
      let values = node["is"].map { Mapping.texts($0) }
      guard claim != nil || values != nil else {
        throw wrong(
          node.offset, "the rule gives rights to every value of \(path.joined(separator: "."))",
          "Say which with \"is\".")
      }
      rules.append(
        Rule(
          path: path, values: values, claim: claim, roles: roles, claims: claims,
          packages: packages))
    }
    self.rules = rules
  }

  static func texts(_ node: JSONNode?) -> [String] {
    guard let node else { return [] }
    return (node.array ?? [node]).compactMap(ClaimMembers.text)
  }
}

/// Values of claims as text.
enum ClaimMembers {
  static func read(_ node: JSONNode?) -> [String: [String]] {
    var claims: [String: [String]] = [:]
    for member in node?.object ?? [] {
      claims[member.key] = (member.value.array ?? [member.value]).compactMap(text)
    }
    return claims
  }

  static func text(_ node: JSONNode) -> String? {
    switch node.content {
    case .string(let text), .number(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .null, .array, .object: nil
    }
  }
}

extension Mapping {
  /// What a token gives, and by which rules.
  package struct Outcome: Sendable, Equatable {
    package var roles: [String] = []
    package var claims: [String: [String]] = [:]
    package var packages: AllowedPackages = .all
    /// Whether each rule fits, in their order.
    package var fits: [Bool] = []
  }

  /// Errors: `tooManyGroups`.
  package func apply(to payload: JSONNode) throws(IssuerError) -> Outcome {
    var outcome = Outcome()
    if rules.contains(where: { !$0.packages.isEmpty }) { outcome.packages = .only([]) }
    for rule in rules {
      let values = try Mapping.values(at: rule.path, of: payload)
      let counted = values.filter { value in
        rule.values.map { $0.contains { $0.hasBytes(of: value) } } ?? true
      }
      outcome.fits.append(!counted.isEmpty)
      guard !counted.isEmpty else { continue }
      for role in rule.roles where !outcome.roles.contains(where: { $0.hasBytes(of: role) }) {
        outcome.roles.append(role)
      }
      if let claim = rule.claim { outcome.add(counted, to: claim) }
      for (claim, values) in rule.claims.sorted(by: { $0.key < $1.key }) {
        outcome.add(values, to: claim)
      }
      if case .only(let names) = outcome.packages {
        let more = rule.packages.filter { !outcome.packages.include($0) }
        outcome.packages = .only(names + more)
      }
    }
    return outcome
  }

  private static func values(
    at path: [String], of payload: JSONNode
  ) throws(IssuerError) -> [String] {
    var node: JSONNode? = payload
    for name in path { node = node?[name] }
    // Entra ID puts a reference in the place of more than 200 groups.
    if node == nil, let first = path.first, payload["_claim_names"]?[first] != nil {
      throw IssuerError(
        .tooManyGroups, "the user has more \(first) than the issuer writes into a token",
        hint: "Let the issuer put application roles, or only the groups of this application, into "
          + "the token.")
    }
    return texts(node)
  }
}

extension Mapping.Outcome {
  fileprivate mutating func add(_ values: [String], to claim: String) {
    var known = claims[claim] ?? []
    for value in values where !known.contains(where: { $0.hasBytes(of: value) }) {
      known.append(value)
    }
    claims[claim] = known
  }
}
