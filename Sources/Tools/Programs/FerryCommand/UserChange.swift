import FerryArguments
import FerryServer

/// `ferry user change`: what is named replaces what a user has; all else stays.
struct UserChange {
  private let hash: String?
  /// Nil: as they are.
  private let roles: [String]?
  private let packages: [String]?
  private let changesPackages: Bool
  private let claims: [UserList.Claim]
  private let withoutClaims: Set<String>

  static func run(_ arguments: Arguments, in file: String) throws {
    let name = try arguments.required("name", "nancy")
    let check = try UserCommand.check(arguments)
    // Nobody types a password in vain.
    let known = try UserList.existing(file)
    let before = known.users[try known.place(of: name, in: file)]
    let change = try UserChange(arguments, before)
    let user = try UserList.change(name, in: file) { change.apply(to: &$0) }
    if change.hash != nil { UserCommand.note(.passwordChanged, name, file) }
    if change.changesRights { UserCommand.note(.userChanged, name, file) }
    UserReport(
      "change", user, changed: change.names, endsSessions: change.hash != nil,
      warnings: check?.faults(of: user.record) ?? []
    ).show(change.text(name), asJSON: arguments.flag("json"))
  }

  /// Asks for a password where a new one is wanted.
  private init(_ arguments: Arguments, _ user: UserList.User) throws {
    let named = arguments.values("role")
    claims = try UserCommand.claims(arguments.values("claim"))
    withoutClaims = Set(arguments.values("no-claim"))
    guard named.isEmpty || !arguments.flag("no-roles") else {
      throw UsageError("--role and --no-roles exclude each other", hint: "Leave out one of them.")
    }
    packages = try UserCommand.packages(arguments)
    let allowsAll = arguments.flag("all-packages")
    changesPackages = packages != nil || allowsAll
    guard packages == nil || !allowsAll else {
      throw UsageError(
        "--package and --all-packages exclude each other", hint: "Leave out one of them.")
    }
    roles = named.isEmpty && !arguments.flag("no-roles") ? nil : named
    if let both = claims.first(where: { [withoutClaims] in withoutClaims.contains($0.name) }) {
      throw UsageError(
        "--claim and --no-claim both name \(both.name)", hint: "Leave out one of them.")
    }
    for name in withoutClaims.sorted() where !user.claims.contains(where: { $0.name == name }) {
      let names = user.claims.map(\.name).joined(separator: ", ")
      throw CommandError(
        "\(user.name) has no claim \"\(name)\"",
        hint: names.isEmpty ? "Leave out --no-claim: the user has none." : "Claims: \(names).")
    }
    let asks = arguments.flag("password") || arguments.flag("password-stdin")
    guard
      asks || roles != nil || !claims.isEmpty || !withoutClaims.isEmpty || changesPackages
    else {
      throw UsageError(
        "nothing is named that is to change",
        hint:
          "Write --role, --no-roles, --claim, --no-claim, --package, --all-packages, --password or "
          + "--password-stdin.")
    }
    hash = asks ? try UserCommand.hash(arguments) : nil
  }

  private var changesRights: Bool {
    roles != nil || !claims.isEmpty || !withoutClaims.isEmpty || changesPackages
  }

  private func apply(to user: inout UserList.User) {
    if let hash { user.passwordHash = hash }
    if let roles { user.roles = roles }
    if changesPackages { user.packages = packages }
    user.claims.removeAll { withoutClaims.contains($0.name) }
    for claim in claims {
      // A file that was written by hand may name a claim twice.
      let place = user.claims.firstIndex { $0.name == claim.name } ?? user.claims.endIndex
      user.claims.removeAll { $0.name == claim.name }
      user.claims.insert(claim, at: place)
    }
  }

  /// What was named.
  private var names: [String] {
    let claims = (claims.map(\.name) + withoutClaims.sorted()).map { "claim \($0)" }
    return (hash == nil ? [] : ["password"]) + (roles == nil ? [] : ["roles"])
      + (changesPackages ? ["packages"] : []) + claims
  }

  private func text(_ name: String) -> String {
    let sessions =
      hash == nil
      ? "Sessions go on; devices get and lose rows with their next exchange."
      : "\(name) has to log in again on every device."
    return "\(name) was changed: \(names.joined(separator: ", ")). \(sessions)"
  }
}
