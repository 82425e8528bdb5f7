import FerryModel

/// What a service made of one request, before anybody decides by it.
package enum ServiceReply: Sendable, Equatable {
  /// It was done. The row as it is now where the answer has it, and the key where it names no more.
  case done(RowImage?, key: ObjectKey?)
  /// The object is not there; the service itself says so.
  case absent
  /// The condition did not hold.
  case changed
  case refused(Refusal)
  /// Nothing was done, for certain.
  case notDone(String)
  /// It may have been done.
  case lost(String)
  /// The service does not know the request by its number any more, or as another one; it may have been
  /// done.
  case forgotten(String)
  case needsCredential
}

/// One object as it was read.
package enum ServiceReading<Entry> {
  /// `etag`: what a condition names; nil where the service gives nothing of the kind.
  case there(Entry, RowImage, etag: String?)
  case absent
  case failed(ServiceReply)
}

/// Sends the requests of one chain of operations to a service. `AttemptWork` decides what is sent.
package protocol AttemptDesk {
  /// An object as the service gave it; a write may need parts of it that are no attributes.
  associatedtype Entry

  var memory: AttemptMemory { get }

  /// Whose credential the requests carry; nil for the technical user.
  var user: String? { get }

  /// The same as the technical user, who is shown everything.
  var technical: Self { get }

  /// Why the service does not have the entity as the model says; nil where it does.
  func misfit(of entity: Entity) -> String?

  /// What can be done for the operation. `attempt`: what is remembered of it.
  func means(
    of operation: ConnectorOperation, _ attempt: AttemptMemory.Attempt?
  ) -> AttemptMachine.Means

  func read(_ entity: Entity, _ key: ObjectKey) -> ServiceReading<Entry>

  func write(
    _ operation: ConnectorOperation, _ condition: AttemptMachine.Condition, onto entry: Entry?
  ) -> ServiceReply

  /// Rows that may be what a create made; `isExact`: by something that no other row has.
  func find(
    _ operation: ConnectorOperation
  ) throws(ConnectorError) -> (rows: [RowImage], isExact: Bool)

  /// What a judge looks up.
  func lookUp(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue]
  ) throws(ConnectorError) -> [AttributeValue]?

  /// What no object has where a condition names it; nil where conditions of the entity cannot be
  /// proved.
  func impossibleETag(of entity: Entity) -> String?
}

extension AttemptDesk {
  package var user: String? { nil }
  package var technical: Self { self }
}
