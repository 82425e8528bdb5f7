import Synchronization

/// True once.
final class Flag: Sendable {
  private let isSet = Atomic<Bool>(false)

  /// Whether it was not set before.
  func set() -> Bool { !isSet.exchange(true, ordering: .relaxed) }
}
