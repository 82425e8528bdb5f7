import FerryOData

// The left side is always a term, so that arithmetic of Swift's own numbers stays what it is.

private func compare(
  _ left: ODataTerm, _ comparison: ODataComparison, _ right: some ODataOperand
) -> ODataExpression {
  .compare(comparison, left.expression, right.expression)
}

private func compute(
  _ left: ODataTerm, _ arithmetic: ODataArithmetic, _ right: some ODataOperand
) -> ODataTerm {
  ODataTerm(.arithmetic(arithmetic, left.expression, right.expression))
}

/// `eq`; true for two nulls.
public func == (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .equal, right)
}
/// `ne`; false for two nulls.
public func != (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .notEqual, right)
}
/// `lt`; false where a side is null.
public func < (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .less, right)
}
/// `le`; see `<` for nulls.
public func <= (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .lessOrEqual, right)
}
/// `gt`; false where a side is null.
public func > (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .greater, right)
}
/// `ge`; see `>` for nulls.
public func >= (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .greaterOrEqual, right)
}

/// `add`; null where a side is null.
public func + (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .add, right)
}
/// `sub`; null where a side is null.
public func - (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .subtract, right)
}
/// `mul`; null where a side is null.
public func * (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .multiply, right)
}
/// `div`; of whole numbers the result is whole.
public func / (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .divide, right)
}
/// `mod`: what remains after `div`.
public func % (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .modulo, right)
}
/// The number with the other sign, written `-x`.
public prefix func - (value: ODataTerm) -> ODataTerm { ODataTerm(.negate(value.expression)) }

/// `and`; false where one side is false, even if the other is null.
public func && (left: some ODataCondition, right: some ODataCondition) -> ODataExpression {
  left.expression.joined(with: right.expression, isAnd: true)
}
/// `or`; true where one side is true, even if the other is null.
public func || (left: some ODataCondition, right: some ODataCondition) -> ODataExpression {
  left.expression.joined(with: right.expression, isAnd: false)
}
/// `not`; null stays null.
public prefix func ! (condition: some ODataCondition) -> ODataExpression {
  .not(condition.expression)
}

extension ODataExpression {
  /// A chain that goes on to the right stays one node.
  fileprivate func joined(with right: ODataExpression, isAnd: Bool) -> ODataExpression {
    switch self {
    case .and(let parts) where isAnd: .and(parts + [right])
    case .or(let parts) where !isAnd: .or(parts + [right])
    default: isAnd ? .and([self, right]) : .or([self, right])
    }
  }

  /// All of these at once; nil for none.
  public static func all(of conditions: [ODataExpression]) -> ODataExpression? {
    conditions.count > 1 ? .and(conditions) : conditions.first
  }

  /// At least one of these; nil for none.
  public static func any(of conditions: [ODataExpression]) -> ODataExpression? {
    conditions.count > 1 ? .or(conditions) : conditions.first
  }
}
