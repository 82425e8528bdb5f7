import FerryOData

/// What can stand on either side of an operator: terms, conditions, and values of Swift and of the
/// Entity Data Model.
public protocol ODataOperand {
  /// The same as a part of an expression.
  var expression: ODataExpression { get }
}

/// What can be a condition: a boolean property, or a comparison.
public protocol ODataCondition: ODataOperand {}

/// A property, or a value that is computed of properties.
///
/// `Property("Price") * 2 > 10 && Property("Address/City").contains("x")`. Nothing is checked
/// before the address is written; `uri(_:)` then refuses what is no name or what a version has
/// not.
public struct ODataTerm: ODataCondition, Sendable {
  public let expression: ODataExpression

  /// A path of names separated by `/`; `$it/…` for the entry that the path of the address names.
  public init(_ path: String) {
    if path == "$it" || path.hasPrefix("$it/") {
      expression = .path(ODataPath(.it, ODataPath(String(path.dropFirst(3))).steps))
    } else if path == "$this" || path.hasPrefix("$this/") {
      expression = .path(ODataPath(.this, ODataPath(String(path.dropFirst(5))).steps))
    } else {
      expression = .path(ODataPath(path))
    }
  }

  /// Any expression, as a side of comparisons and calculations.
  public init(_ expression: ODataExpression) { self.expression = expression }

  /// A parameter alias, `@name`; its value is given by `ODataAddress.alias(_:_:)`.
  public static func alias(_ name: String) -> ODataTerm {
    ODataTerm(.path(ODataPath(.alias(name), [])))
  }

  /// The moment at which the service answers.
  public static var now: ODataTerm { ODataTerm(.call(.now, [])) }

  var path: ODataPath {
    guard case .path(let path) = expression else {
      preconditionFailure("only a property has parts and members, not \(expression)")
    }
    return path
  }

  private func adding(_ step: ODataPath.Step) -> ODataTerm {
    var path = self.path
    path.steps.append(step)
    return ODataTerm(.path(path))
  }

  /// A part of this property. Only of a path; anything else is a programmer's error.
  public subscript(_ name: String) -> ODataTerm {
    name.split(separator: "/").reduce(self) { $0.adding(.name(String($1))) }
  }

  /// The number of members. Only of a path; anything else is a programmer's error.
  public var count: ODataTerm { adding(.count(ODataQueryOptions())) }

  /// Calls a function of the service on this value.
  public func call(
    _ function: String, _ parameters: KeyValuePairs<String, ODataExpression> = [:]
  ) -> ODataTerm {
    adding(.name(function)).adding(
      .predicate(.named(parameters.map { ODataNamedValue($0.key, $0.value) })))
  }
}

/// The word that reads best where a condition begins.
public typealias Property = ODataTerm

extension ODataExpression: ODataCondition {
  public var expression: ODataExpression { self }
}

extension EdmValue: ODataOperand {
  public var expression: ODataExpression { .literal(self) }
}

extension String: ODataOperand {
  public var expression: ODataExpression { .literal(.string(self)) }
}

extension Bool: ODataOperand {
  public var expression: ODataExpression { .literal(.boolean(self)) }
}

extension Int: ODataOperand {
  public var expression: ODataExpression { .literal(EdmValue(number: Int64(self))) }
}

extension Int64: ODataOperand {
  public var expression: ODataExpression { .literal(.int64(self)) }
}

extension Int32: ODataOperand {
  public var expression: ODataExpression { .literal(.int32(self)) }
}

extension Double: ODataOperand {
  public var expression: ODataExpression { .literal(.double(self)) }
}

extension EdmDecimal: ODataOperand {
  public var expression: ODataExpression { .literal(.decimal(self)) }
}

extension EdmGuid: ODataOperand {
  public var expression: ODataExpression { .literal(.guid(self)) }
}

extension EdmDate: ODataOperand {
  public var expression: ODataExpression { .literal(.date(self)) }
}

extension EdmTimeOfDay: ODataOperand {
  public var expression: ODataExpression { .literal(.timeOfDay(self)) }
}

extension EdmDateTime: ODataOperand {
  public var expression: ODataExpression { .literal(.dateTime(self)) }
}

extension EdmDateTimeOffset: ODataOperand {
  public var expression: ODataExpression { .literal(.dateTimeOffset(self)) }
}

extension EdmDuration: ODataOperand {
  public var expression: ODataExpression { .literal(.duration(self)) }
}

extension Optional: ODataOperand where Wrapped: ODataOperand {
  /// Nil is null.
  public var expression: ODataExpression { self?.expression ?? .literal(.null) }
}
