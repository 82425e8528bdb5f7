import FerryJSON
import FerryModel
import FerryServer

/// Why the devices of one user have an object, or do not: the user's roles and claims beside the
/// partition of the object.
enum WhyUser {
  /// Nil where the object is in no partition: then no user gets it, which the verdict says.
  static func sentence(_ user: UserList.User, _ why: Explanation) -> String? {
    guard let rule = why.rule, !why.isDeleted, !why.isWithdrawn else { return nil }
    return refusal(user, package: why.package)
      ?? sentence(user, rule: rule, values: why.place ?? "")
  }

  /// Nil where the user may use the package, `Travel:1.0`.
  static func refusal(_ user: UserList.User, package: String) -> String? {
    user.record.packages.include(package.prefix { $0 != ":" })
      ? nil : "\(user.name) may not use the package \(package)."
  }

  /// `rule` and `values` are as the server's store has them.
  static func sentence(_ user: UserList.User, rule: String, values: String) -> String {
    let (roles, sources) = parts(of: rule)
    if !roles.isEmpty, roles.allSatisfy({ !user.roles.contains($0) }) {
      return
        "\(user.name) has none of the roles that may read it: \(roles.joined(separator: ", "))."
    }
    let needed = texts(of: values)
    var asked: [String] = []
    for (source, value) in zip(sources, needed) {
      if let parameter = source.parameter { asked.append("\(parameter) = \(value)") }
      guard let claim = source.claim else { continue }
      let owned = claim == "user" ? [user.name] : claims(claim, of: user)
      guard !owned.contains(value) else { continue }
      let shown = owned.isEmpty ? "no \(claim)" : "\(claim) = \(owned.joined(separator: ", "))"
      return "\(user.name) has \(shown), and the object is for \(claim) = \(value)."
    }
    guard asked.isEmpty else {
      return "Devices of \(user.name) have it if they ask for \(asked.joined(separator: " and "))."
    }
    return "Devices of \(user.name) have it."
  }

  private static func claims(_ name: String, of user: UserList.User) -> [String] {
    user.claims.filter { $0.name == name }.flatMap(\.values)
  }

  /// `roles:["sales","office"] claim:employee,open:region`.
  private static func parts(
    of rule: String
  ) -> (roles: [String], sources: [(claim: String?, parameter: String?)]) {
    var roles: [String] = []
    var rest = Substring(rule)
    if rule.hasPrefix("roles:["), let end = rule.ranges(of: "] ").last {
      let list = rule[rule.index(rule.startIndex, offsetBy: 6)..<end.lowerBound] + "]"
      roles = (try? JSONNode.parse(Array(list.utf8)).array)?.compactMap(\.string) ?? []
      rest = rule[end.upperBound...]
    }
    return (roles, rest.split(separator: ",").map(source))
  }

  private static func source(_ text: Substring) -> (claim: String?, parameter: String?) {
    switch PartitionSource(String(text)) {
    case .claim(let name): (name, nil)
    case .parameter(let name, let claim): (claim, name)
    case .open, .constant, nil: (nil, nil)
    }
  }

  /// The values of a partition as claims spell them.
  private static func texts(of values: String) -> [String] {
    let nodes = (try? JSONNode.parse(Array("[\(values)]".utf8)))?.array ?? []
    return nodes.map { node in
      switch node.content {
      case .string(let text), .number(let text): text
      case .boolean(let flag): flag ? "true" : "false"
      default: ""
      }
    }
  }
}
