import FerryConnector
import FerryModel
import Synchronization

/// What is to be said of operations beside their outcomes, until they are answered: what rules have
/// decided for the user, and what the business system said. It is noted on the thread that performs
/// them, and is not kept beyond the process.
final class AnswerNotes: Sendable {
  struct Notes {
    var decisions: [ConflictDecision] = []
    var results: [ResultNote] = []
  }

  private let notes = Mutex<[OperationID: Notes]>([:])

  /// The operation with the rules for what happens where it meets a change of somebody else, and with a
  /// place for what the business system says of it.
  func attached(
    to operation: ConnectorOperation, policy: OperationPolicy, rules: [Int: ConflictRule]?
  ) -> ConnectorOperation {
    var attached = operation
    let id = operation.id
    attached.policy = policy
    attached.resultNotes = ResultNotes { [weak self] in self?.change(id, \.results, to: $0) }
    if let rules, operation.kind != .create {
      attached.conflictRules = ConflictRules(rules) { [weak self] in
        self?.change(id, \.decisions, to: $0)
      }
    }
    return attached
  }

  private func change<Value>(
    _ operation: OperationID, _ part: WritableKeyPath<Notes, [Value]>, to new: [Value]
  ) {
    notes.withLock { notes in
      guard !new.isEmpty || notes[operation] != nil else { return }
      notes[operation, default: Notes()][keyPath: part] = new
    }
  }

  var isEmpty: Bool { notes.withLock { $0.isEmpty } }

  func of(_ operation: OperationID) -> Notes { notes.withLock { $0[operation] ?? Notes() } }

  func forget(_ operations: some Sequence<OperationID>) {
    notes.withLock { notes in for operation in operations { notes[operation] = nil } }
  }
}

extension ConflictDecision {
  /// For the user of the app.
  var sentence: String {
    switch rule {
    case .deviceWins: "\(conflict.sentence) This change was written over it."
    default: "\(conflict.sentence) The business system's value was kept."
    }
  }
}
