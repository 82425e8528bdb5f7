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

public func == (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .equal, right)
}
public func != (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .notEqual, right)
}
public func < (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .less, right)
}
public func <= (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .lessOrEqual, right)
}
public func > (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .greater, right)
}
public func >= (left: ODataTerm, right: some ODataOperand) -> ODataExpression {
  compare(left, .greaterOrEqual, right)
}

public func + (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .add, right)
}
public func - (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .subtract, right)
}
public func * (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .multiply, right)
}
public func / (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .divide, right)
}
public func % (left: ODataTerm, right: some ODataOperand) -> ODataTerm {
  compute(left, .modulo, right)
}
public prefix func - (value: ODataTerm) -> ODataTerm { ODataTerm(.negate(value.expression)) }

public func && (left: some ODataCondition, right: some ODataCondition) -> ODataExpression {
  left.expression.joined(with: right.expression, isAnd: true)
}
public func || (left: some ODataCondition, right: some ODataCondition) -> ODataExpression {
  left.expression.joined(with: right.expression, isAnd: false)
}
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
