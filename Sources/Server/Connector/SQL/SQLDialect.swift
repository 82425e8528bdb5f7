import FerryModel

/// Why an operation did not go through, as a connector of an SQL database distinguishes it.
public protocol SQLInterruption: Error {
  /// The business said no.
  static func refused(_ refusal: Refusal) -> Self
  /// The database could not do it now.
  static func failed(_ error: ConnectorError) -> Self
}

/// What differs from one SQL database to another while one operation is performed: how a row is locked
/// and read, and the statements that change it. `SQLOperationWork` has all that does not differ.
///
/// Everything happens in the transaction of the operation's group.
public protocol SQLDialect {
  associatedtype Interruption: SQLInterruption
  /// A row as the database gave it.
  associatedtype Row

  /// The row of the key, locked until the transaction ends as the change needs it; nil where there is
  /// none. A create needs no lock: it only asks whether there is one.
  func row(of key: ObjectKey, for kind: OperationKind) throws(Interruption) -> Row?

  /// The value of an attribute; nil where it does not fit the attribute's type.
  func value(at position: Int, of row: Row) -> AttributeValue?

  /// The same for messages to people, whether it fits or not.
  func shown(at position: Int, of row: Row) -> String

  /// The row of `entity` whose attributes at `positions` have these values, for a judge.
  func fitting(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue], isLocked: Bool
  ) throws(ConnectorError) -> [AttributeValue]?

  /// Inserts a row and gives its key; nil where a rule of the database ignored it.
  func insert(_ values: [Int: AttributeValue]) throws(Interruption) -> ObjectKey?

  /// Writes these attributes of the row; false where a rule of the database ignored it.
  func update(_ key: ObjectKey, _ changed: [Int: AttributeValue]) throws(Interruption) -> Bool

  func delete(_ key: ObjectKey) throws(Interruption) -> Bool
}

/// What a claim in the table of operations came to.
public enum OperationClaim: Sendable, Equatable {
  /// The operation is new and claimed by this transaction.
  case new
  /// It was performed before and the object has this key.
  case performed(ObjectKey)
  /// The id stands for a change with other content.
  case otherContent
}

extension PerformResult {
  /// One operation of a group was refused, and nothing of the group was done.
  public static func refused(
    _ refusal: Refusal, at index: Int, of count: Int
  ) -> PerformResult {
    var outcomes = [OperationOutcome](repeating: .notTried, count: count)
    outcomes[index] = .refused(refusal)
    return .done(outcomes, touched: [])
  }
}
