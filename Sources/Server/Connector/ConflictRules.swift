import FerryModel

/// What happens where a change and one of somebody else are of the same attribute. What others changed
/// in other attributes stays in any case.
public enum ConflictRule: String, Sendable, CaseIterable {
  /// The whole change is refused, and the user gets both values.
  case refuse
  /// The value of the business system stays; the other attributes of the change are written.
  case serverWins
  /// The value of the change is written over the other one.
  case deviceWins
}

/// What a rule has decided for the user.
public struct ConflictDecision: Sendable, Equatable {
  public let conflict: Refusal.Conflict
  public let rule: ConflictRule
}

/// The rules for the conflicts of an operation.
///
/// A connector asks for them where it compares the base of the operation with the row, in the
/// transaction that writes, or on the condition that the row stays as it is.
public struct ConflictRules: Sendable, Equatable {
  /// By position in the entity's attributes; where there is none the change is refused.
  private let rules: [Int: ConflictRule]
  private let note: @Sendable ([ConflictDecision]) -> Void

  /// `note` gets what was decided, each time that the operation is compared with a row.
  public init(
    _ rules: [Int: ConflictRule], note: @escaping @Sendable ([ConflictDecision]) -> Void = { _ in }
  ) {
    self.rules = rules
    self.note = note
  }

  fileprivate func rule(of position: Int) -> ConflictRule { rules[position] ?? .refuse }

  fileprivate func tell(_ decisions: [ConflictDecision]) { note(decisions) }

  /// By their rules.
  public static func == (one: ConflictRules, other: ConflictRules) -> Bool {
    one.rules == other.rules
  }
}

extension ConnectorOperation {
  /// What becomes of the operation where the row has other values than it is based on.
  ///
  /// Gives what is to be changed, or the refusal with every conflict. `canOmit`: whether a part of the
  /// change can be left out; where it cannot, `serverWins` refuses the change.
  public func settled(
    _ conflicts: [(position: Int, conflict: Refusal.Conflict)], canOmit: Bool = true
  ) -> Result<[Int: AttributeValue], SettledRefusal> {
    var changed = self.changed
    var decisions: [ConflictDecision] = []
    var isRefused = false
    for (position, conflict) in conflicts {
      let rule = conflictRules?.rule(of: position) ?? .refuse
      switch rule {
      case .deviceWins: break
      case .serverWins where canOmit && kind == .update: changed[position] = nil
      case .serverWins, .refuse:
        isRefused = true
        continue
      }
      decisions.append(ConflictDecision(conflict: conflict, rule: rule))
    }
    guard isRefused, let refusal = Refusal(conflicts: conflicts.map(\.conflict)) else {
      conflictRules?.tell(decisions)
      return .success(changed)
    }
    conflictRules?.tell([])
    return .failure(SettledRefusal(refusal: refusal))
  }
}

/// Why an operation is refused after its rules were asked.
public struct SettledRefusal: Error, Equatable {
  public let refusal: Refusal
}
