import FerryOData

extension ODataTerm {
  /// Any function that every service has, on this value.
  public func call(_ function: ODataFunction, _ arguments: ODataOperand...) -> ODataTerm {
    ODataTerm(.call(function, [expression] + arguments.map { $0.expression }))
  }

  /// Whether the text holds another; `substringof` in V2.
  public func contains(_ text: some ODataOperand) -> ODataExpression {
    call(.contains, text).expression
  }

  /// Whether the text begins with another.
  public func hasPrefix(_ text: some ODataOperand) -> ODataExpression {
    call(.startsWith, text).expression
  }

  /// Whether the text ends with another.
  public func hasSuffix(_ text: some ODataOperand) -> ODataExpression {
    call(.endsWith, text).expression
  }

  /// Whether the text matches a regular expression; from V4.01 on.
  public func matches(_ pattern: String) -> ODataExpression {
    call(.matchesPattern, pattern).expression
  }

  /// `length(…)`: how many characters a text has.
  public var length: ODataTerm { call(.length) }
  /// `tolower(…)`, for comparisons that ignore case.
  public var lowercased: ODataTerm { call(.toLower) }
  /// `toupper(…)`, for comparisons that ignore case.
  public var uppercased: ODataTerm { call(.toUpper) }
  /// `trim(…)`: without blanks at both ends.
  public var trimmed: ODataTerm { call(.trim) }
  /// `year(…)` of a date, such as 2024.
  public var year: ODataTerm { call(.year) }
  /// `month(…)` of a date, 1 to 12.
  public var month: ODataTerm { call(.month) }
  /// `day(…)` of a date, 1 to 31.
  public var day: ODataTerm { call(.day) }
  /// `hour(…)` of a time, 0 to 23.
  public var hour: ODataTerm { call(.hour) }
  /// `minute(…)` of a time, 0 to 59.
  public var minute: ODataTerm { call(.minute) }
  /// `second(…)` of a time, 0 to 59, without the fraction.
  public var second: ODataTerm { call(.second) }
  /// `date(…)`: the day of a date and time; V4.
  public var date: ODataTerm { call(.date) }
  /// `time(…)`: the time of day of a date and time; V4.
  public var time: ODataTerm { call(.time) }
  /// `round(…)`: the nearest whole number.
  public var rounded: ODataTerm { call(.round) }
  /// `floor(…)`: the next whole number below, or the number itself.
  public var floor: ODataTerm { call(.floor) }
  /// `ceiling(…)`: the next whole number above, or the number itself.
  public var ceiling: ODataTerm { call(.ceiling) }

  /// Where another text begins in this one, counted from 0; -1 where it does not.
  public func index(of text: some ODataOperand) -> ODataTerm { call(.indexOf, text) }

  /// The text with another behind it.
  public func concatenated(with text: some ODataOperand) -> ODataTerm { call(.concat, text) }

  /// The part of the text from a place on, counted from 0.
  public func substring(from start: Int, length: Int? = nil) -> ODataTerm {
    length.map { call(.substring, start, $0) } ?? call(.substring, start)
  }

  /// The division that makes decimals of whole numbers; from V4.01 on.
  public func divided(by other: some ODataOperand) -> ODataTerm {
    ODataTerm(.arithmetic(.divideBy, expression, other.expression))
  }

  /// Whether the value is one of these; from V4.01 on.
  public func isIn(_ values: [some ODataOperand]) -> ODataExpression {
    .compare(.isIn, expression, .list(values.map { $0.expression }))
  }

  /// Whether an enumeration has all these flags; from V4 on.
  public func has(_ members: String, of type: String) -> ODataExpression {
    .compare(.has, expression, .literal(.enumeration(members, type: type)))
  }

  /// The value as another type.
  public func cast(to type: String) -> ODataTerm {
    ODataTerm(.cast(expression, EdmTypeReference(text: type)))
  }

  /// Whether the value is of a type.
  public func isOf(_ type: String) -> ODataExpression {
    .isOf(expression, EdmTypeReference(text: type))
  }

  /// Whether there is any member.
  public var isNotEmpty: ODataExpression { .lambda(ODataLambda(.any, of: path)) }

  /// Whether a condition holds for one member at least. Inner lambdas need another variable.
  public func any(
    _ variable: String = "x", where condition: (ODataTerm) -> some ODataCondition
  ) -> ODataExpression {
    lambda(.any, variable, condition)
  }

  /// Whether a condition holds for all members. Inner lambdas need another variable.
  public func all(
    _ variable: String = "x", where condition: (ODataTerm) -> some ODataCondition
  ) -> ODataExpression {
    lambda(.all, variable, condition)
  }

  private func lambda(
    _ quantifier: ODataLambda.Quantifier, _ variable: String,
    _ condition: (ODataTerm) -> some ODataCondition
  ) -> ODataExpression {
    .lambda(
      ODataLambda(
        quantifier, of: path, variable: variable,
        predicate: condition(ODataTerm(variable)).expression))
  }
}
