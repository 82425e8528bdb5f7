import FerryOData

/// Conditions and values, by precedence.
extension AddressParser {
  private enum Joint {
    case or, and
    case compare(ODataComparison)
    case arithmetic(ODataArithmetic)

    var strength: Int {
      switch self {
      case .or: 1
      case .and: 2
      case .compare(.equal), .compare(.notEqual): 3
      case .compare: 4
      case .arithmetic(.add), .arithmetic(.subtract): 5
      case .arithmetic: 6
      }
    }
  }

  /// Reads operators that bind at least as strongly as `least`.
  ///
  /// One frame for each strength that nests, so that the depth of the stack is that of the text.
  func expression(_ least: Int = 1) throws(AddressFault) -> ODataExpression {
    var left = try unary()
    var chain = 0
    while true {
      let start = position
      guard let joint = try joint(), joint.strength >= least else {
        position = start
        return left
      }
      let leftHeight = height
      let right = try expression(joint.strength + 1)
      try count()
      let highest = max(leftHeight, height)
      switch joint {
      case .and, .or:
        if chain == joint.strength {
          // The chain is one node however long it is, so that its end comes without recursion.
          Self.append(right, to: &left)
          height = max(leftHeight, height + 1)
        } else {
          left = joint.strength == 2 ? .and([left, right]) : .or([left, right])
          try grow(highest)
        }
        try grow(height - 1)
        chain = joint.strength
      case .compare(let comparison):
        left = .compare(comparison, left, right)
        try grow(highest)
        chain = 0
      case .arithmetic(let arithmetic):
        left = .arithmetic(arithmetic, left, right)
        try grow(highest)
        chain = 0
      }
    }
  }

  private static func append(_ part: ODataExpression, to chain: inout ODataExpression) {
    switch chain {
    case .and(var parts):
      chain = .literal(.null)
      parts.append(part)
      chain = .and(parts)
    case .or(var parts):
      chain = .literal(.null)
      parts.append(part)
      chain = .or(parts)
    default: break
    }
  }

  /// Takes an operator with the blanks around it; nil where none stands.
  private func joint() throws(AddressFault) -> Joint? {
    let hadBlank = blanks()
    let start = position
    let word = peekWord()
    guard let joint = joint(named: word) else { return nil }
    if !hadBlank {
      // `Price)eq(5` reads well, and is not what the grammar says.
      throw failure("no blank before \(word)", at: start, "put a blank before the operator")
    }
    position += word.utf8.count
    guard blanks() else {
      throw failure(
        "\(word) has nothing to its right", "write a blank and a value behind the operator")
    }
    return joint
  }

  private func joint(named word: String) -> Joint? {
    let word = isOld ? word : word.lowercased()
    switch word {
    case "or": return .or
    case "and": return .and
    default:
      if let comparison = ODataComparison(rawValue: word), comparison != .has, comparison != .isIn {
        return .compare(comparison)
      }
      guard let arithmetic = ODataArithmetic(rawValue: word) else { return nil }
      return isOld && arithmetic == .divideBy ? nil : .arithmetic(arithmetic)
    }
  }

  private func unary() throws(AddressFault) -> ODataExpression {
    if takeKeyword("not") {
      blanks()
      return .not(try operand())
    }
    if byte == UInt8(ascii: "-"), !Self.isDigit(byte(ahead: 1)), !isNegativeInfinity {
      position += 1
      blanks()
      return .negate(try operand())
    }
    return try member()
  }

  private func operand() throws(AddressFault) -> ODataExpression {
    try count()
    try enter()
    let inner = try unary()
    leave()
    try grow(height)
    return inner
  }

  private var isNegativeInfinity: Bool {
    text.bytes[position...].starts(with: "-INF".utf8)
      && letter(position + 4, isFirst: false) == nil
  }

  /// Takes a word that a blank or parenthesis follows.
  private func takeKeyword(_ keyword: String) -> Bool {
    let word = peekWord()
    guard (isOld ? word : word.lowercased()) == keyword else { return false }
    let after = position + word.utf8.count
    guard after < text.bytes.count, isBlank(after) || text.bytes[after] == UInt8(ascii: "(") else {
      return false
    }
    position = after
    return true
  }

  /// A primary with `in` and `has` behind it, which bind more strongly than all else.
  private func member() throws(AddressFault) -> ODataExpression {
    var left = try primary()
    while true {
      let start = position
      guard blanks() else { return left }
      let word = peekWord()
      let key = isOld ? word : word.lowercased()
      guard key == "in" || key == "has", let comparison = ODataComparison(rawValue: key) else {
        position = start
        return left
      }
      if isOld {
        throw failure(
          "\(word) is an operator of V4", "write a chain of eq and or instead", code: .notOffered)
      }
      position += word.utf8.count
      guard blanks() else { throw failure("\(word) has nothing to its right") }
      let leftHeight = height
      let right =
        comparison == .isIn && byte == UInt8(ascii: "(") ? .list(try elements()) : try primary()
      try count()
      try grow(max(leftHeight, height))
      left = .compare(comparison, left, right)
    }
  }

  /// `(1,2,3)`: what stands behind `in`, and what a function is given.
  func elements() throws(AddressFault) -> [ODataExpression] {
    try enter()
    position += 1
    blanks()
    var items: [ODataExpression] = []
    var highest = 0
    if !take(")") {
      repeat {
        blanks()
        items.append(try expression())
        highest = max(highest, height)
        blanks()
      } while take(",")
      try expect(")", "a comma or )")
    }
    leave()
    try grow(highest)
    return items
  }

  /// A value in parentheses, a literal, a call, a path.
  private func primary() throws(AddressFault) -> ODataExpression {
    try count()
    switch byte {
    case nil: throw failure("the end where a value was expected")
    case UInt8(ascii: "("):
      try enter()
      position += 1
      blanks()
      let inner = try expression()
      blanks()
      try expect(")", "an operator or )")
      leave()
      return inner
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      if isOld { throw failure("JSON in an address is of V4", code: .notOffered) }
      return try json()
    case UInt8(ascii: "\""):
      throw failure("a string in double quotes", "write strings in single quotes")
    case UInt8(ascii: "$"), UInt8(ascii: "@"): return try path(after: nil)
    default: break
    }
    if let value = try literal() {
      try grow(0)
      return .literal(value)
    }
    let start = position
    guard let word = try qualifiedWord() else {
      throw failure("\(found) where a value was expected")
    }
    if byte == UInt8(ascii: "(") {
      if let call = try call(word, at: start) { return call }
    }
    return try path(after: (word, start))
  }
}
