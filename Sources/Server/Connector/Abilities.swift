/// What a connector can promise for one entity. The server decides by it what it does after a lost
/// answer and after a load, `ferry check` prints it, and `ConnectorSuite` tests each ability and its
/// absence.
public struct ConnectorAbilities: Sendable, Equatable {
  /// By what the business system tells whether an operation was performed.
  public enum Memory: Sendable, Equatable {
    /// It records operations by their ids, in the transaction that performs them.
    case operations
    /// It answers a repeated request as it answered the first one, for so long.
    case requests(window: Duration)
    /// Only the rows show it: what is there is compared with what was sent.
    case probe
    /// Nothing shows it; a person decides.
    case none
  }

  /// How the changes of others are found.
  public enum Changes: Sendable, Equatable {
    /// A place in the business system's changes that can be kept.
    case cursor
    /// The business system is asked whether anything was changed, and everything is compared then.
    case poll
    /// It is never asked; only a comparison finds changes.
    case none
  }

  /// Whether a group is performed as a whole: a refusal of one member undoes all others.
  public let atomicGroups: Bool
  public let memory: Memory
  /// Whether nobody can change a row between its judgement (`RowJudge`) and the write of `perform`:
  /// both are in one transaction that locks the row, or the write has the condition that the row is as
  /// it was judged. The server warns at its start where this is false.
  public let conditionalWrites: Bool
  public let changes: Changes
  /// Whether the answer to the question for changes names deleted objects. Where it does not, the next
  /// comparison finds them.
  public let reportsDeletes: Bool
  /// Whether a load reads everything as it was at one moment.
  public let snapshots: Bool

  public init(
    atomicGroups: Bool, memory: Memory, conditionalWrites: Bool, changes: Changes,
    reportsDeletes: Bool, snapshots: Bool
  ) {
    self.atomicGroups = atomicGroups
    self.memory = memory
    self.conditionalWrites = conditionalWrites
    self.changes = changes
    self.reportsDeletes = reportsDeletes
    self.snapshots = snapshots
  }
}
