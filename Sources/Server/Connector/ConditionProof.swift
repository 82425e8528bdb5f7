import FerryModel

/// What a business system made of a condition that did not hold, on a row that an operator has named.
public enum ConditionProof: Sendable, Equatable {
  /// It wrote nothing: conditions are heeded.
  case heeded
  /// It wrote all the same. The value was the one that is there: nothing was changed.
  case ignored
  /// Nothing can be concluded; one sentence for the operator.
  case unclear(String)
}

/// A connector whose business system may or may not heed the condition of a write.
///
/// The question sends a value that is there already under a condition that no row meets, so that
/// nothing is changed whatever the answer is.
public protocol ConditionProver {
  /// Throws where the business system cannot be asked at present.
  func proveConditions(of entity: Entity, key: ObjectKey) throws(ConnectorError) -> ConditionProof

  /// Whether conditions of writes to this entity are heeded, as somebody has found out before; nil
  /// where nobody has.
  func areConditionsHeeded(by entity: Entity) -> Bool?
}
