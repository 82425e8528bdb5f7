import Testing

/// Where a rule of the house is broken, and what to do about it.
struct Violation: Equatable, CustomStringConvertible {
  let file: String
  let line: Int
  let rule: String
  let found: String
  let cure: String

  var description: String { "\(file):\(line): \(found)\n  rule: \(rule)\n  cure: \(cure)" }
}

/// Records each violation as an issue of its own.
func expectNone(
  _ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation
) {
  for violation in violations {
    Issue.record("\(violation)", sourceLocation: sourceLocation)
  }
}
