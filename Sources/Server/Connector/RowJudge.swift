import FerryModel

/// Says, inside the business transaction, whether a row is one that the user of an operation may have.
///
/// The server makes one for each operation. A connector asks it twice: about the row as it is, before
/// any value of it is compared, and about the row as the statement and its triggers left it. A refusal
/// undoes the whole group. Where the row's partition comes from other rows, the judge reads them by
/// `Lookup`; a connector that can locks these and the row itself until the end of the transaction.
///
/// A connector without transactions must write on the condition that the row is still as it was
/// judged; one that cannot do this must not be used for entities with a partition rule.
public struct RowJudge: Sendable, Equatable {
  /// The row of `entity` whose attributes at `positions` have these values, in their order; nil where
  /// there is none. Reads in the transaction of the operation.
  public typealias Lookup = (
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue]
  ) throws(ConnectorError) -> [AttributeValue]?

  /// The first relationship by which `changed` names an object that the user may not have.
  public typealias References =
    @Sendable (
      _ changed: [Int: AttributeValue], _ before: [AttributeValue]?, Lookup
    ) throws(ConnectorError) -> Relationship?

  private let isAllowed: @Sendable (_ row: [AttributeValue], Lookup) throws(ConnectorError) -> Bool
  private let foreignReference: References

  public init(
    foreignReference: @escaping References = { _, _, _ in nil },
    _ isAllowed: @escaping @Sendable ([AttributeValue], Lookup) throws(ConnectorError) -> Bool
  ) {
    self.foreignReference = foreignReference
    self.isAllowed = isAllowed
  }

  /// Nil where each object that the operation refers to anew is one that the user may have.
  ///
  /// A connector asks it before the statement, in its transaction: a foreign key that is broken would
  /// tell which objects exist. `changed`: what the operation sets, the values of its key among them
  /// where it creates a row, keys that the group was given put in. `before`: the row as it is; nil
  /// where it is new. The lookup needs no lock: what is referred to may move at any later time.
  public func refusal(
    ofReferences changed: [Int: AttributeValue], before: [AttributeValue]?, in entity: Entity,
    lookup: Lookup
  ) throws(ConnectorError) -> Refusal? {
    try foreignReference(changed, before, lookup).map { .notTheUsers($0, of: entity) }
  }

  /// Nil where the user may have the row. `row` is in the order of the entity's attributes; a value
  /// that does not fit the model is given as null.
  public func refusal(
    of row: [AttributeValue], in entity: Entity, lookup: Lookup
  ) throws(ConnectorError) -> Refusal? {
    try isAllowed(row, lookup) ? nil : .notTheUsers(entity)
  }

  /// A judge takes no part in comparing operations.
  public static func == (one: RowJudge, other: RowJudge) -> Bool { true }
}

extension Refusal {
  /// The same for a row of somebody else and for one that is not there: it does not tell which.
  public static func notTheUsers(_ entity: Entity) -> Refusal {
    Refusal(code: 403, message: "This \(entity.name) is not among the user's objects.")
  }

  /// The same for an object of somebody else and for one that is not there. A row whose partition is
  /// that of the object is refused as the row itself is.
  public static func notTheUsers(_ relationship: Relationship, of entity: Entity) -> Refusal {
    guard entity.partition != .through(relationship: relationship.name) else {
      return .notTheUsers(entity)
    }
    return Refusal(
      code: 403,
      message: "The \(relationship.name) of this \(entity.name) is not among the user's objects.",
      attribute: relationship.attributes.first)
  }
}
