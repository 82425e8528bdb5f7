/// A bug that a simulation switches on by name, to show that its checkers find it.
public enum PlantedBug: String, Sendable, Hashable, CaseIterable {
  /// The last downloaded image is not kept when an object becomes pending.
  case forgottenOriginal
  /// A row that leaves a partition is deleted without asking in which partition it is now.
  case leaveIgnoresPartition
  /// What waits behind an accepted operation stays based on what that one had changed.
  case baseNotMoved
  /// A load overwrites rows that were changed after it had begun.
  case noMark
}
