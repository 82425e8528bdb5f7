/// Arithmetic that traps is not done with numbers from outside.
enum NumberRules {
  /// Modules that read what others wrote.
  static let readers = [
    "Sources/Circle/Model", "Sources/Circle/Wire", "Sources/Ground/JSON", "Sources/Ground/HTTP",
    "Sources/Server/HTTPServer", "Sources/Ground/HTTPClient", "Sources/OData/OData",
    "Sources/OData/Address", "Sources/OData/Batch", "Sources/OData/Cache", "Sources/OData/Client",
    "Sources/OData/Shell", "Sources/Server/Connector", "Sources/Server/Connectors",
    "Sources/Server/PostgreSQL", "Sources/Tools/PostgreSQLReading",
    "Sources/Server/MariaDB", "Sources/Tools/MariaDBReading", "Sources/Server/Issuers",
    "Sources/Circle/OpenID", "Sources/Kit/Certificates", "Sources/Kit/Trace",
    "Sources/Ground/World",
  ]

  private static let rule = "no arithmetic on numbers from outside can trap"

  static func traps(in file: SourceFile, exceptions: Set<String>) -> [Violation] {
    guard readers.contains(where: { file.isIn($0) }), !exceptions.contains(file.path) else {
      return []
    }
    return absolutes(file) + negations(file) + counts(file) + conversions(file)
  }

  /// `abs(Int.min)` traps, and so does `negate()`.
  private static func absolutes(_ file: SourceFile) -> [Violation] {
    let tokens = file.tokens
    return tokens.indices.filter {
      tokens[$0].text == "abs" && tokens.text($0 + 1) == "(" && tokens.text($0 - 1) != "."
        || tokens.match($0, ".", "negate", "(", ")")
    }.map {
      file.violation(
        tokens[$0].line, rule, "\(tokens[$0].text == "." ? "negate" : "abs")(",
        cure: "ask a range whether it contains the number, or compare its magnitude")
    }
  }

  /// `-number` of the smallest number traps.
  private static func negations(_ file: SourceFile) -> [Violation] {
    let tokens = file.tokens
    let openings: Set = [
      "(", "[", "{", ",", ":", "=", "?", "return", "in", "*", "/", "^", "+", "<",
    ]
    return tokens.indices.compactMap { index in
      guard tokens[index].text == "-", tokens.indices.contains(index + 1) else { return nil }
      let next = tokens[index + 1]
      let isDigit = next.text.utf8.first.map { (48...57).contains($0) } ?? false
      guard next.touchesPrevious, next.isWord && !isDigit || ["(", "$"].contains(next.text),
        openings.contains(tokens.text(index - 1))
      else { return nil }
      return file.violation(
        tokens[index].line, rule, "-\(next.text)",
        cure: "0.subtractingReportingOverflow(_:), or a file of the exceptions with its reason")
    }
  }

  /// A count below zero traps.
  private static func counts(_ file: SourceFile) -> [Violation] {
    let tokens = file.tokens
    let takers: Set = ["prefix", "suffix", "dropFirst", "dropLast"]
    return tokens.indices.compactMap { index in
      let isRepeated = tokens[index].text == "repeating"
      guard isRepeated || takers.contains(tokens[index].text) && tokens.text(index + 1) == "("
      else { return nil }
      let line = tokens[index].line
      let rest = tokens[(index + 1)...].prefix { $0.line == line }
      let argument = isRepeated ? Array(rest.drop { $0.text != "count" }) : Array(rest)
      let inside = argument.prefix { $0.text != ")" }
      guard inside.contains(where: { $0.text == "-" }),
        !inside.contains(where: { ["max", "min", "{"].contains($0.text) }),
        !inside.contains(where: { $0.text == "while" })
      else { return nil }
      return file.violation(
        line, rule, "a difference as a count in \(tokens[index].text)", cure: "max(0, …)")
    }
  }

  /// A fraction that the integer does not hold traps.
  private static func conversions(_ file: SourceFile) -> [Violation] {
    let tokens = file.tokens
    let names: Set = [
      "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    ]
    let labels: Set = ["exactly", "clamping", "truncatingIfNeeded"]
    return tokens.indices.compactMap { index in
      guard names.contains(tokens[index].text), tokens.text(index + 1) == "(",
        !labels.contains(tokens.text(index + 2))
      else { return nil }
      var depth = 1
      let inside = tokens[(index + 2)...].prefix { token in
        depth += token.text == "(" ? 1 : token.text == ")" ? -1 : 0
        return depth > 0
      }
      let isFraction =
        inside.contains { ["rounded", "Double", "timeIntervalSince1970"].contains($0.text) }
        || inside.indices.contains {
          tokens.match($0, "/", ".", "milliseconds") || tokens.match($0, "/", ".", "seconds")
        }
      guard isFraction else { return nil }
      return file.violation(
        tokens[index].line, rule, "\(tokens[index].text)( of a fraction",
        cure: "\(tokens[index].text)(exactly: number.rounded(.towardZero))")
    }
  }
}
