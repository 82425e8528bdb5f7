import FerryOData

/// Paths inside expressions, with keys, functions, lambdas and counts.
extension AddressParser {
  /// Reads on behind a first name that was taken, or from a `$` or `@`.
  func path(
    after first: (name: String, start: Int)?
  ) throws(AddressFault) -> ODataExpression {
    var path = ODataPath(.entry, [])
    var highest = 0
    if let first {
      guard !ODataNames.literals.contains(first.name.lowercased()) else {
        throw failure(
          "the name \(first.name) reads as a literal", at: first.start,
          isOld ? "rename the property" : "begin the path with $it/")
      }
      path.steps = [.name(first.name)]
      path.columns.values = [mark(first.start)]
    } else {
      try start(&path)
    }
    while true {
      switch byte {
      case UInt8(ascii: "("):
        guard takesPredicate(path.steps) else {
          throw failure("( where an operator was expected")
        }
        let place = position
        add(.predicate(try predicate(literalsOnly: false)), place, &path)
        highest = max(highest, height)
      case UInt8(ascii: "/"):
        if case .count? = path.steps.last {
          throw failure("a step behind $count", "end the path before it")
        }
        position += 1
        try count()
        if let lambda = try lambda(over: path) {
          try grow(max(highest, height))
          return lambda
        }
        try step(&path)
        highest = max(highest, height)
      default:
        if path.start == .root, path.steps.isEmpty {
          throw failure("$root alone", "write a set behind it: $root/Orders(1)")
        }
        try grow(highest)
        return .path(path)
      }
    }
  }

  /// Whether parentheses may follow: once behind a step, and as a key behind those of a function.
  private func takesPredicate(_ steps: [ODataPath.Step]) -> Bool {
    guard case .predicate? = steps.last else { return !steps.isEmpty }
    guard !isOld, case .name(let function)? = steps.dropLast().last else { return false }
    return function.contains(".")
  }

  private func add(_ step: ODataPath.Step, _ place: Int, _ path: inout ODataPath) {
    path.steps.append(step)
    path.columns.values.append(mark(place))
  }

  private func start(_ path: inout ODataPath) throws(AddressFault) {
    height = 0
    if isOld, version < .v3 || byte == UInt8(ascii: "@") {
      throw failure("\(found) begins nothing in V\(version.rawValue)", code: .notOffered)
    }
    let place = position
    if take("$") {
      switch peekWord() {
      case "it": path.start = .it
      case "this": path.start = .this
      case "root": path.start = .root
      default:
        throw failure(
          "$\(peekWord()) is not a variable", at: place, "$it, $this and $root are")
      }
      position += peekWord().utf8.count
      return
    }
    position += 1
    guard let name = try qualifiedWord() else {
      throw failure("\(found) where the name of an alias was expected")
    }
    if name.contains(".") || byte == UInt8(ascii: "#") {
      add(.annotation(name + (try qualifier())), place, &path)
    } else {
      path.start = .alias(name)
    }
  }

  private func qualifier() throws(AddressFault) -> String {
    guard take("#") else { return "" }
    return "#" + (try name("a qualifier"))
  }

  /// One step behind a slash. What nests has a frame of its own, apart from the large ones.
  private func step(_ path: inout ODataPath) throws(AddressFault) {
    height = 0
    let place = position
    if !isOld, takeWord("$filter") {
      add(.filter(try filterStep()), place, &path)
    } else if !isOld, takeWord("$count") {
      let hasOptions = byte == UInt8(ascii: "(")
      add(.count(hasOptions ? try nestedOptions(.count) : ODataQueryOptions()), place, &path)
    } else {
      try plainStep(&path)
    }
  }

  private func filterStep() throws(AddressFault) -> ODataExpression {
    try enter(2)
    try expect("(", "a (")
    blanks()
    let condition = try expression()
    blanks()
    try expect(")", "a )")
    leave(2)
    return condition
  }

  /// Takes a dollar and a word, whole.
  private func takeWord(_ word: String) -> Bool {
    let end = position + word.utf8.count
    guard text.bytes[position...].starts(with: word.utf8), letter(end, isFirst: false) == nil else {
      return false
    }
    position = end
    return true
  }

  private func plainStep(_ path: inout ODataPath) throws(AddressFault) {
    let place = position
    if take("@") {
      guard let name = try qualifiedWord() else {
        throw failure("\(found) where a term was expected")
      }
      return add(.annotation(name + (try qualifier())), place, &path)
    }
    if takeWord("$value") { return add(.value, place, &path) }
    if take("$") {
      throw failure("$\(peekWord()) is not allowed in an expression", at: place)
    }
    guard let name = try qualifiedWord() else {
      throw failure("\(found) where a name was expected")
    }
    add(.name(name), place, &path)
  }

  /// Stands behind a slash; nil where no `any` or `all` with a parenthesis follows.
  private func lambda(over path: ODataPath) throws(AddressFault) -> ODataExpression? {
    let word = peekWord()
    guard let quantifier = ODataLambda.Quantifier(rawValue: isOld ? word : word.lowercased())
    else { return nil }
    let after = position + word.utf8.count
    guard after < text.bytes.count, text.bytes[after] == UInt8(ascii: "(") else { return nil }
    if version < .v3 {
      throw failure(
        "V2 has no \(word)", "expand the collection, and filter the entries in the app",
        code: .notOffered)
    }
    position = after
    try enter(2)
    position += 1
    blanks()
    if quantifier == .any, take(")") {
      leave(2)
      return .lambda(ODataLambda(.any, of: path))
    }
    let place = position
    let variable = try name("the name of a variable")
    guard !variables.contains(variable) else {
      throw failure(
        "the variable name \(variable) is already used", at: place,
        "give the inner variable another name")
    }
    blanks()
    try expect(":", "a colon")
    blanks()
    variables.append(variable)
    let predicate = try expression()
    variables.removeLast()
    blanks()
    try expect(")", "an operator or )")
    leave(2)
    return .lambda(
      ODataLambda(quantifier, of: path, variable: variable, predicate: predicate))
  }

  /// What stands in parentheses behind a name. In a resource path only literals and aliases may.
  func predicate(literalsOnly: Bool) throws(AddressFault) -> ODataPredicate {
    try enter(2)
    position += 1
    blanks()
    var values: [ODataNamedValue] = []
    var highest = 0
    if take(")") {
      leave(2)
      height = 0
      return .named([])
    }
    repeat {
      blanks()
      let start = position
      guard let name = try word(), take("=") else {
        guard values.isEmpty else { throw failure("\(found) where a name and = was expected") }
        position = start
        let value = try predicateValue(literalsOnly)
        blanks()
        guard take(")") else {
          let isList = byte == UInt8(ascii: ",")
          throw failure(
            "\(found) where a ) was expected", isList ? "name the parts: (A=1,B=2)" : nil)
        }
        leave(2)
        return .value(value)
      }
      guard !values.contains(where: { $0.name == name }) else {
        throw failure("\(name) is given twice", at: start)
      }
      try count()
      values.append(ODataNamedValue(name, try predicateValue(literalsOnly)))
      highest = max(highest, height)
      blanks()
    } while take(",")
    try expect(")", "a comma or )")
    leave(2)
    height = highest
    return .named(values)
  }

  private func predicateValue(_ literalsOnly: Bool) throws(AddressFault) -> ODataExpression {
    guard literalsOnly else { return try expression() }
    let start = position
    if byte == UInt8(ascii: "@"), !isOld {
      let alias = try path(after: nil)
      guard case .path(let path) = alias, path.steps.isEmpty else {
        throw failure("an alias has no path here", at: start)
      }
      return alias
    }
    try count()
    guard let value = try literal() else {
      let isJSON = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
      let json = byte == UInt8(ascii: "{") ? "{…}" : "[…]"
      throw failure(
        "\(found) where a literal was expected",
        isJSON && !isOld
          ? "pass it by an alias: (p=@p)?@p=\(json)" : "write strings in single quotes")
    }
    height = 1
    return .literal(value)
  }
}
