import Ferry

/// What a property shows: where its values come from, and what is shown before the first.
struct LiveRequest<Value: Sendable>: Sendable {
  /// Two requests with equal identities show the same: the one that runs goes on.
  let identity: any Hashable & Sendable
  let initial: Value
  /// Gives each value to `show`, until there is none left or `show` returns false.
  let run:
    @Sendable (FerryDatabase, _ show: @MainActor (Value) -> Bool) async throws(FerryError) -> Void

  init<Source: AsyncSequence & SendableMetatype>(
    _ identity: any Hashable & Sendable, initially initial: Value,
    _ source: @escaping @Sendable (FerryDatabase) -> Source
  )
  where
    Source.Element == Value, Source.Failure == FerryError, Source.AsyncIterator: SendableMetatype
  {
    self.identity = identity
    self.initial = initial
    run = { database, show throws(FerryError) in
      for try await value in source(database) {
        guard await show(value) else { return }
      }
    }
  }

  func isSame(as other: LiveRequest) -> Bool {
    AnyHashable(identity) == AnyHashable(other.identity)
  }
}

/// Tells two queries for objects apart.
struct LiveQueryIdentity: Hashable, Sendable {
  let query: RowQuery
  let paths: [[RelationshipStep]]
  /// Whether the objects are shown, or their number.
  let isCount: Bool
}
