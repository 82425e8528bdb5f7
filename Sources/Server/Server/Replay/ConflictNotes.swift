import FerryConnector
import FerryModel
import Synchronization

/// What the rules of a package have decided for users, until the operations are answered. It is noted on
/// the thread that performs them.
final class ConflictNotes: Sendable {
  private let notes = Mutex<[OperationID: [ConflictDecision]]>([:])

  func note(_ decisions: [ConflictDecision], of operation: OperationID) {
    notes.withLock { $0[operation] = decisions.isEmpty ? nil : decisions }
  }

  func decisions(of operation: OperationID) -> [ConflictDecision] {
    notes.withLock { $0[operation] ?? [] }
  }

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
