import FerryModel

/// What the rules of a server's packages ask of the roles and claims of a user.
///
/// Who lacks one logs in well and gets no rows, so it is told wherever an operator looks.
package struct ClaimCheck: Sendable {
  private struct Need: Sendable {
    let package: String
    let claim: String
    let entity: String
    let attribute: String
    let type: AttributeType
  }

  private let packages: [String]
  private let needs: [Need]
  private let roles: [String]

  package init(_ package: Package) { self.init([package]) }

  package init(_ packages: [Package]) {
    var roles: [String] = []
    for role in packages.flatMap(\.roles) where !roles.contains(where: { $0.hasBytes(of: role) }) {
      roles.append(role)
    }
    self.roles = roles
    self.packages = packages.map(\.name)
    needs = packages.flatMap { package in
      package.entities.map { (package.name, $0) }
    }.flatMap { (package: String, entity: Entity) -> [Need] in
      guard case .columns(let columns) = entity.partition else { return [] }
      return columns.compactMap { column in
        guard let claim = ClaimCheck.claim(of: column.source), claim != "user",
          let position = entity.position(of: column.attribute)
        else { return nil }
        return Need(
          package: package, claim: claim, entity: entity.name, attribute: column.attribute,
          type: entity.attributes[position].type)
      }
    }
  }

  private static func claim(of source: PartitionSource) -> String? {
    switch source {
    case .claim(let name): name
    case .parameter(_, let name): name
    case .open, .constant: nil
    }
  }

  /// The claims that the partition rules ask for, each once.
  package var claimNames: [String] { Set(needs.map(\.claim)).sorted() }
  package var roleNames: [String] { roles }

  /// One or two sentences for each fault; none where every rule finds what it asks for.
  package func faults(of user: UserRecord) -> [String] {
    // Claims say nothing of what the user does not get.
    if let no = fault(of: user.packages) { return [no] }
    let needs = needs.filter { user.packages.include($0.package) }
    let asked = Set(needs.map(\.claim))
    let unasked = user.claims.keys.filter { !asked.contains($0) }.sorted()
    let missing = asked.subtracting(user.claims.keys).sorted()
    var seen: Set<String> = []
    let unfit = needs.flatMap { need in
      (user.claims[need.claim] ?? []).filter { need.type.value(plainText: $0) == nil }.map {
        "The claim \(need.claim)=\($0) is not of type \(need.type.rawValue), as "
          + "\(need.entity).\(need.attribute) requires. It gives no rows."
      }
    }
    let strange = user.roles.filter { role in
      !roles.isEmpty && !roles.contains { $0.hasBytes(of: role) }
    }
    return missing.map { fault(missing: $0, unasked, needs) }
      + unfit.filter { seen.insert($0).inserted }
      + unasked.map { name in
        "No partition rule asks for the claim \(name)."
          + (asked.isEmpty ? "" : " \(NearestWord.cure(name, among: asked.sorted()))")
      }
      + strange.map { "No entity names the role \($0). \(NearestWord.cure($0, among: roles))" }
  }

  /// Nil where the user may use one of the packages at least.
  private func fault(of allowed: AllowedPackages) -> String? {
    guard case .only(let named) = allowed, !packages.contains(where: { allowed.include($0) }) else {
      return nil
    }
    let names = packages.joined(separator: ", ")
    return
      "The user may use \(named.isEmpty ? "no package" : named.joined(separator: ", ")), and so "
      + "gets no rows of \(names)."
  }

  private func fault(
    missing claim: String, _ unasked: [String], _ needs: [Need]
  ) -> String {
    var entities: [String] = []
    for need in needs where need.claim == claim && !entities.contains(need.entity) {
      entities.append(need.entity)
    }
    let cure =
      NearestWord.find(claim, among: unasked).map { "The user has \($0): is that right?" }
      ?? "Add it to the user: --claim \(claim)=<value>."
    let names = entities.joined(separator: ", ")
    return "The claim \(claim) is missing: the user gets no rows of \(names), "
      + "nor of entities that follow them. \(cure)"
  }
}
