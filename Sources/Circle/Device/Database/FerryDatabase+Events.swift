extension FerryDatabase {
  /// What happens to a database.
  public typealias Event = DatabaseEvent

  /// Everything that happens from now on. Each loop has a sequence of its own; it ends when the
  /// database is closed.
  ///
  /// ```swift
  /// for await event in database.events {
  ///   switch event {
  ///   case .refused(let reference, let refusal):
  ///     if let booking = try await reference.as(Booking.self, in: database) { show(booking, refusal) }
  ///   case .signInNeeded: showSignIn()
  ///   default: break
  ///   }
  /// }
  /// ```
  /// An event comes after the database shows what it reports. Imports and answers that came while
  /// nobody followed and no callback handler was registered come first, also after a restart. If a loop
  /// is busy, 1,000 events wait for it; of more the oldest are dropped. `Booking.live` shows what a
  /// list needs, whatever was dropped.
  public var events: AsyncStream<Event> {
    let events = observers.events.follow()
    act { session throws(FerryError) in try session.tellOwed() }
    return events
  }
}

extension ObjectReference {
  /// The object as it is now; nil if it is of another type, or no longer on the device.
  public func `as`<Object: BusinessObject>(
    _ type: Object.Type, in database: FerryDatabase
  ) async throws(FerryError) -> Object? {
    guard entity == Object.entity.name else { return nil }
    return try await Object.find(key: key, in: database)
  }
}
