import FerryOData
import FerryODataAddress
import Testing

/// A renderer of SQL, small enough for a test: values become parameters, lambdas EXISTS.
private struct SQLRenderer: ODataExpressionVisitor {
  var parameters: [EdmValue] = []
  var tables: [String: String] = [:]

  private func refused(_ what: String) -> ODataError {
    ODataError(.notOffered, "\(what) has no SQL here", hint: "evaluate it in memory")
  }

  mutating func literal(_ value: EdmValue) -> String {
    if value.isNull { return "NULL" }
    parameters.append(value)
    return "?\(parameters.count)"
  }
  mutating func path(_ path: ODataPath) throws(ODataError) -> String {
    guard var names = path.names else { throw refused("a path that is more than names") }
    if let table = tables[names[0]] { names[0] = table }
    return names.map { "\"\($0)\"" }.joined(separator: ".")
  }
  mutating func not(_ inner: String) -> String { "NOT (\(inner))" }
  mutating func negate(_ inner: String) -> String { "-(\(inner))" }
  mutating func and(_ parts: [String]) -> String {
    parts.map { "(\($0))" }.joined(separator: " AND ")
  }
  mutating func or(_ parts: [String]) -> String {
    parts.map { "(\($0))" }.joined(separator: " OR ")
  }
  mutating func compare(
    _ comparison: ODataComparison, _ left: String, _ right: String
  ) throws(ODataError) -> String {
    switch comparison {
    case .equal: return right == "NULL" ? "\(left) IS NULL" : "\(left) = \(right)"
    case .notEqual: return right == "NULL" ? "\(left) IS NOT NULL" : "\(left) <> \(right)"
    case .less: return "\(left) < \(right)"
    case .lessOrEqual: return "\(left) <= \(right)"
    case .greater: return "\(left) > \(right)"
    case .greaterOrEqual: return "\(left) >= \(right)"
    case .isIn: return "\(left) IN \(right)"
    case .has: throw refused("has")
    }
  }
  mutating func arithmetic(_ operation: ODataArithmetic, _ left: String, _ right: String) -> String
  {
    let sign = [ODataArithmetic.add: "+", .subtract: "-", .multiply: "*", .modulo: "%"]
    return "(\(left) \(sign[operation] ?? "/") \(right))"
  }
  mutating func call(_ function: ODataFunction, _ arguments: [String]) throws(ODataError) -> String
  {
    switch function {
    case .contains: return "instr(\(arguments[0]), \(arguments[1])) > 0"
    case .toLower: return "lower(\(arguments[0]))"
    case .length: return "length(\(arguments[0]))"
    default: throw refused(function.rawValue)
    }
  }
  mutating func list(_ items: [String]) -> String { "(\(items.joined(separator: ", ")))" }
  mutating func array(_ items: [String]) throws(ODataError) -> String { throw refused("an array") }
  mutating func object(_ members: [(name: String, value: String)]) throws(ODataError) -> String {
    throw refused("an object")
  }
  mutating func cast(_ value: String?, _ type: EdmTypeReference) throws(ODataError) -> String {
    guard let value else { throw refused("a cast of the entity") }
    return "CAST(\(value) AS \(type.primitive == .string ? "TEXT" : "INTEGER"))"
  }
  mutating func isOf(_ value: String?, _ type: EdmTypeReference) throws(ODataError) -> String {
    throw refused("isof")
  }
  mutating func choice(_ choices: [(condition: String, value: String)]) -> String {
    "CASE " + choices.map { "WHEN \($0.condition) THEN \($0.value)" }.joined(separator: " ")
      + " END"
  }
  mutating func enter(_ lambda: ODataLambda) {
    if let variable = lambda.variable { tables[variable] = "t\(tables.count)" }
  }
  mutating func lambda(_ lambda: ODataLambda, _ predicate: String?) throws(ODataError) -> String {
    guard let name = lambda.collection.names?.last else { throw refused("this collection") }
    let table = lambda.variable.flatMap { tables.removeValue(forKey: $0) } ?? "t"
    let inner = "SELECT 1 FROM \"\(name)\" \(table)"
    guard let predicate else { return "EXISTS (\(inner))" }
    return lambda.quantifier == .any
      ? "EXISTS (\(inner) WHERE \(predicate))" : "NOT EXISTS (\(inner) WHERE NOT (\(predicate)))"
  }
}

@Suite("Visitors") struct VisitorTests {
  static let cases: [(String, String, [EdmValue])] = [
    (
      "A eq 1 or B/C ne null and not D",
      "(\"A\" = ?1) OR ((\"B\".\"C\" IS NOT NULL) AND (NOT (\"D\")))", [.int32(1)]
    ),
    (
      "contains(tolower(A),'x') and length(A) le 3",
      "(instr(lower(\"A\"), ?1) > 0) AND (length(\"A\") <= ?2)", [.string("x"), .int32(3)]
    ),
    ("A in ('a','b')", "\"A\" IN (?1, ?2)", [.string("a"), .string("b")]),
    (
      "(A add 1) mul -B gt 2.5", "((\"A\" + ?1) * -(\"B\")) > ?2",
      [.int32(1), .decimal(EdmDecimal("2.5")!)]
    ),
    (
      "Lines/any(x:x/P gt 5)", "EXISTS (SELECT 1 FROM \"Lines\" t0 WHERE \"t0\".\"P\" > ?1)",
      [.int32(5)]
    ),
    (
      "Lines/all(x:x/P eq 1 and x/Q/any())",
      "NOT EXISTS (SELECT 1 FROM \"Lines\" t0 WHERE NOT ((\"t0\".\"P\" = ?1) AND "
        + "(EXISTS (SELECT 1 FROM \"Q\" t))))",
      [.int32(1)]
    ),
    (
      "case(A:1,true:2) eq cast('3',Edm.Int32)",
      "CASE WHEN \"A\" THEN ?1 WHEN ?2 THEN ?3 END = CAST(?4 AS INTEGER)",
      [.int32(1), .boolean(true), .int32(2), .string("3")]
    ),
    ("A eq ''';drop'", "\"A\" = ?1", [.string("';drop")]),
  ]

  @Test("A visitor renders SQL with parameters", arguments: cases)
  func sql(_ text: String, _ sql: String, _ parameters: [EdmValue]) throws {
    var renderer = SQLRenderer()
    #expect(try condition(text).accept(&renderer) == sql)
    #expect(renderer.parameters == parameters)
  }

  @Test("A visitor refuses by name what it cannot say")
  func refusals() throws {
    for text in [
      "year(A) eq 1", "A has NS.C'x'", "$it/A eq 1", "isof(NS.T)", "[1] eq A", "{} eq A",
    ] {
      var renderer = SQLRenderer()
      let found = try condition(text)
      #expect(throws: ODataError.self) { try found.accept(&renderer) }
    }
  }
}
