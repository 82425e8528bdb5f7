import FerryModel
import FerryServer

/// The providers of one security configuration, in their order. Pure, but for what they ask.
package struct SecurityStack: Sendable {
  /// A provider, and what its outcome means.
  package struct Entry: Sendable {
    package let flag: ControlFlag
    package let module: any LoginModule

    package init(_ flag: ControlFlag, _ module: any LoginModule) {
      self.flag = flag
      self.module = module
    }
  }

  /// One provider that was asked.
  package struct Step: Sendable, Equatable {
    package let kind: String
    package let flag: ControlFlag
    package let outcome: LoginOutcome
  }

  /// What all outcomes come to.
  package enum Verdict: Sendable, Equatable {
    case accepted(UserRecord)
    case refused
    /// With an answer of who was away it might be another one.
    case away
  }

  package let entries: [Entry]

  /// At least one.
  package init(_ entries: [Entry]) { self.entries = entries }

  /// `ask`: how a provider is asked; `place` is its number.
  package func judge(
    _ ask: (_ place: Int, any LoginModule) -> LoginOutcome
  ) -> (verdict: Verdict, steps: [Step]) {
    var steps: [Step] = []
    var accepted: [UserRecord] = []
    var (mustRefused, isAway) = (false, false)
    loop: for (place, entry) in entries.enumerated() {
      let outcome = ask(place, entry.module)
      steps.append(Step(kind: entry.module.kind, flag: entry.flag, outcome: outcome))
      switch (outcome, entry.flag) {
      case (.accepted(let record), .sufficient):
        accepted.append(record)
        if !mustRefused { break loop }
      case (.accepted(let record), _): accepted.append(record)
      case (.away, .requisite):
        (mustRefused, isAway) = (true, true)
        break loop
      case (.refused, .requisite):
        mustRefused = true
        isAway = false
        break loop
      case (.away, .required):
        (mustRefused, isAway) = (true, true)
      case (.refused, .required): mustRefused = true
      case (.away, .sufficient): isAway = true
      case (.away, .optional), (.refused, .sufficient), (.refused, .optional): continue
      }
    }
    // One that must accept and refused decides, whoever was away.
    let isRefused = steps.contains { step in
      if case .refused = step.outcome { return [.required, .requisite].contains(step.flag) }
      return false
    }
    if isRefused { return (.refused, steps) }
    guard !mustRefused, let record = SecurityStack.merged(accepted) else {
      return (isAway ? .away : .refused, steps)
    }
    return (.accepted(record), steps)
  }

  /// The user as the providers know it now, without a password; nil where only a login says.
  package func record(of user: String) -> UserRecord? {
    if let first = entries.first, first.flag == .sufficient, first.module.looksUpUsers,
      let record = first.module.record(of: user)
    {
      return record
    }
    guard entries.allSatisfy(\.module.looksUpUsers) else { return nil }
    let (verdict, _) = judge { _, module in
      module.record(of: user).map { .accepted($0) } ?? .refused("")
    }
    guard case .accepted(let record) = verdict else { return nil }
    return record
  }

  /// Roles and claims of all who accepted; packages that all of them allow.
  private static func merged(_ records: [UserRecord]) -> UserRecord? {
    guard var merged = records.first else { return nil }
    for record in records.dropFirst() {
      let roles = record.roles.filter { role in !merged.roles.contains { $0.hasBytes(of: role) } }
      merged = UserRecord(
        name: merged.name, roles: merged.roles + roles,
        claims: merged.claims.merging(record.claims) { one, other in
          one + other.filter { value in !one.contains { $0.hasBytes(of: value) } }
        }, stamp: merged.stamp + record.stamp, packages: merged.packages.and(record.packages))
    }
    return merged
  }
}
