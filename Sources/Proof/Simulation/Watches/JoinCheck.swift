import Ferry
import FerryModel

/// What changes of one object may have become, of which the first was submitted and waited: they are
/// one since the app submitted those behind it, or got all of them back. Judged by what each of them
/// says, without asking how the device joins them.
struct JoinCheck {
  /// In their order. All but the first are by themselves no more.
  let changes: [PendingOperation]

  /// The changes of the object of one of them, as they were before; nil where it is not among those
  /// that are one now.
  init?(
    of old: PendingOperation, before: some Collection<PendingOperation>,
    now: [Int64: PendingOperation]
  ) {
    let all = before.filter { $0.name == old.name && !$0.isInFlight }
      .sorted { $0.sequence < $1.sequence }
    guard let first = all.first, first.wanted != .no else { return nil }
    let gone = all.dropFirst().prefix { now[$0.sequence] == nil }
    changes = [first] + gone
    guard !gone.isEmpty, changes.contains(where: { $0.sequence == old.sequence }) else {
      return nil
    }
  }

  /// What changes are together.
  private struct Sum {
    var kind: OperationKind
    var values: [Int: AttributeValue]
    /// It was deleted and made again: what is as it was before is not set, and what it was not given
    /// is null.
    var isMadeAgain = false
  }

  private enum Outcome {
    case sum(Sum)
    case nothing
    /// A change after nothing is one of its own.
    case apart
  }

  var first: PendingOperation { changes[0] }
  var last: PendingOperation { changes[changes.count - 1] }

  /// Whether the app may find this in their place: every value of each of them, the later one where two
  /// set the same.
  func allows(_ new: PendingOperation?) -> Bool {
    guard let new else { return mayLeaveNothing { isBefore($0, $1) } }
    guard new.id == first.id, new.key == first.key else { return false }
    return outcomes.contains { outcome in
      guard case .sum(let sum) = outcome, sum.kind == new.kind else { return false }
      if sum.kind == .delete { return true }
      guard sum.isMadeAgain else { return new.changed == sum.values }
      return new.changed.allSatisfy { $1 == sum.values[$0] ?? .null }
        && sum.values.allSatisfy { new.changed[$0] != nil || isBefore($0, $1) }
    }
  }

  /// Whether an answer may leave this in their place, which gives keys and ids too: every attribute that
  /// the later ones set.
  func allowsAnswered(_ new: PendingOperation?) -> Bool {
    guard let new else { return mayLeaveNothing { _, _ in true } }
    // Where all were submitted, what they have become waits or is sent.
    guard new.isOpen || last.wanted != .no else { return false }
    let isCut = changes.dropLast().contains { $0.kind == .delete }
    let set = changes.dropFirst().flatMap(\.changed.keys)
    return new.kind == .delete || isCut || Set(set).isSubset(of: new.changed.keys)
  }

  private func mayLeaveNothing(_ isBefore: (Int, AttributeValue) -> Bool) -> Bool {
    outcomes.contains { outcome in
      switch outcome {
      case .nothing: true
      case .apart: false
      case .sum(let sum): sum.isMadeAgain && sum.values.allSatisfy { isBefore($0, $1) }
      }
    }
  }

  /// Whether the attribute had this value for one of them.
  private func isBefore(_ position: Int, _ value: AttributeValue) -> Bool {
    changes.contains { $0.base[position] == value }
  }

  /// With and without an object that is there without all of them.
  private var outcomes: [Outcome] { [true, false].map(outcome) }

  private func outcome(isThere: Bool) -> Outcome {
    var sum = Sum(kind: first.kind, values: first.changed)
    for (place, next) in changes.enumerated().dropFirst() {
      switch (sum.kind, next.kind) {
      case (.create, .delete) where !isThere:
        return place == changes.count - 1 ? .nothing : .apart
      case (_, .delete): sum = Sum(kind: .delete, values: [:])
      case (.delete, .create) where !isThere, (.update, .create) where !isThere:
        sum = Sum(kind: .create, values: next.changed)
      case (.delete, _), (.update, .create):
        sum = Sum(kind: .update, values: next.changed, isMadeAgain: true)
      case (.create, _), (.update, .update): sum.values.merge(next.changed) { _, new in new }
      }
    }
    return .sum(sum)
  }
}
