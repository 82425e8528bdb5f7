/// The same without blocking the caller. What was prefetched is returned at once, on the caller's actor;
/// the rest is read on a thread of Ferry's own.
extension ObjectRecord {
  /// The object that a many-to-one relationship refers to; nil if there is none, or if it is not on
  /// the device. `cancelled` if the task is cancelled before the reading begins.
  public nonisolated(nonsending) func related<Object: BusinessObject>(
    _ name: String
  ) async throws(FerryError) -> Object? {
    if let there: Object? = known(name) { return there }
    return try await store.work.read { () throws(FerryError) -> Object? in
      try self.related(name)
    }
  }

  /// The objects that refer to this one by their relationship `name`, in the order of their keys; those
  /// whose key the business system has not given yet come last. `cancelled` if the task is cancelled
  /// before the reading begins.
  public nonisolated(nonsending) func referring<Object: BusinessObject>(
    by name: String
  ) async throws(FerryError) -> [Object] {
    if let there: [Object] = knownReferring(by: name) { return there }
    return try await store.work.read { () throws(FerryError) -> [Object] in
      try self.referring(by: name)
    }
  }
}
