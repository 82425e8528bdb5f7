import FerryHTTP
import FerryModel
import FerryWorld

/// Which roles of a user, as a directory or a user file names them, are a role of a model.
///
/// Without a rule a role of the model is the role of the same name.
package struct RoleMapping: Sendable, Equatable {
  /// What makes somebody have one logical role.
  package enum Rule: Sendable, Equatable {
    /// The role of the same name.
    case auto
    /// Nobody has it.
    case none
    /// Each of these roles.
    case roles(Set<String>)
  }

  /// By domain, package and logical role. The package `*` is each package without rules of its own.
  package var rules: [String: [String: [String: Rule]]]
  /// The domain that a user belongs to.
  private let domain: @Sendable (_ user: String) -> String

  package static let defaultDomain: String = "default"

  package init(
    _ rules: [String: [String: [String: Rule]]] = [:],
    domain: @escaping @Sendable (_ user: String) -> String = { _ in defaultDomain }
  ) {
    self.rules = rules
    self.domain = domain
  }

  package static func == (left: RoleMapping, right: RoleMapping) -> Bool {
    left.rules == right.rules
  }

  /// The logical roles of a user with these physical roles.
  package func roles(_ physical: [String], of user: String, in package: String) -> [String] {
    let packages = rules[domain(user)] ?? [:]
    guard let mapped = packages[package] ?? packages["*"] else { return physical }
    let has = Set(physical.map { ExactText($0) })
    // A logical role with a rule is had by its rule only.
    var roles = physical.filter { role in !mapped.keys.contains { $0.hasBytes(of: role) } }
    for (role, rule) in mapped.sorted(by: { $0.key < $1.key }) {
      switch rule {
      case .auto: if has.contains(ExactText(role)) { roles.append(role) }
      case .none: continue
      case .roles(let names):
        if names.contains(where: { has.contains(ExactText($0)) }) { roles.append(role) }
      }
    }
    return roles
  }

  func mapping(
    _ provider: any AuthenticationProvider, for package: String
  ) -> any AuthenticationProvider {
    rules.isEmpty ? provider : MappedRoles(provider: provider, mapping: self, package: package)
  }
}

/// The users of a provider as a package sees them.
private struct MappedRoles: AuthenticationProvider {
  let provider: any AuthenticationProvider
  let mapping: RoleMapping
  let package: String

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    mapped(try provider.authenticate(user: user, password: password))
  }

  func record(of user: String) -> UserRecord? { provider.record(of: user).map(mapped) }

  func areRightsKnown(of user: String, now: Timestamp) -> Bool {
    provider.areRightsKnown(of: user, now: now)
  }

  func remembered(user: String, password: String) -> UserRecord? {
    provider.remembered(user: user, password: password).map(mapped)
  }

  func name(of user: String, _ headers: HTTPHeaders) throws(ServerError) -> String {
    try provider.name(of: user, headers)
  }

  private func mapped(_ record: UserRecord) -> UserRecord {
    UserRecord(
      name: record.name, roles: mapping.roles(record.roles, of: record.name, in: package),
      claims: record.claims, stamp: record.stamp, packages: record.packages)
  }
}
