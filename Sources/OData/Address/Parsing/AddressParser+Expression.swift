import FerryOData

/// Conditions and values, by precedence.
extension AddressParser {
  enum Joint {
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

  /// What stands to the left of an operator whose right side is not read yet.
  struct Waiting {
    var left: ODataExpression
    let height: Int
    /// The strength of the chain of `and` or `or` that the left side is; 0 for any other.
    let chain: Int
    let joint: Joint
  }

  /// Reads operands and the operators between them.
  ///
  /// Operators that wait for a stronger one stand in a list, not on the stack: the depth of the
  /// stack is that of the parentheses in the text.
  func expression() throws(AddressFault) -> ODataExpression {
    let floor = waiting.count
    var right = try unary()
    var chain = 0
    var start = position
    while let joint = try joint() {
      try join(&right, &chain, above: floor, least: joint.strength)
      waiting.append(Waiting(left: right, height: height, chain: chain, joint: joint))
      right = try unary()
      chain = 0
      start = position
    }
    position = start
    try join(&right, &chain, above: floor, least: 0)
    return right
  }

  /// Ends the operators that wait and bind at least as strongly as `least`.
  private func join(
    _ right: inout ODataExpression, _ chain: inout Int, above floor: Int, least: Int
  ) throws(AddressFault) {
    while waiting.count > floor, waiting[waiting.count - 1].joint.strength >= least {
      var last = waiting.removeLast()
      try count()
      let highest = max(last.height, height)
      switch last.joint {
      case .and, .or:
        let strength = last.joint.strength
        if last.chain == strength {
          // The chain is one node however long it is, so that its end comes without recursion.
          Self.append(right, to: &last.left)
          right = last.left
          try grow(max(last.height, height + 1) - 1)
        } else {
          right = strength == 2 ? .and([last.left, right]) : .or([last.left, right])
          try grow(highest)
        }
        chain = strength
      case .compare(let comparison):
        right = .compare(comparison, last.left, right)
        try grow(highest)
        chain = 0
      case .arithmetic(let arithmetic):
        right = .arithmetic(arithmetic, last.left, right)
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
    let left = try primary()
    return try isMemberWord ? memberships(of: left) : left
  }

  private var isMemberWord: Bool {
    guard isBlank(position) else { return false }
    let start = position
    defer { position = start }
    blanks()
    let word = peekWord()
    let key = isOld ? word : word.lowercased()
    return key == "in" || key == "has"
  }

  private func memberships(of first: ODataExpression) throws(AddressFault) -> ODataExpression {
    var left = first
    while isMemberWord {
      blanks()
      let word = peekWord()
      if isOld {
        throw failure(
          "\(word) is an operator of V4", "write a chain of eq and or instead", code: .notOffered)
      }
      let comparison: ODataComparison = word.lowercased() == "in" ? .isIn : .has
      position += word.utf8.count
      guard blanks() else { throw failure("\(word) has nothing to its right") }
      let leftHeight = height
      let right =
        comparison == .isIn && byte == UInt8(ascii: "(") ? .list(try elements()) : try primary()
      try count()
      try grow(max(leftHeight, height))
      left = .compare(comparison, left, right)
    }
    return left
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
  ///
  /// What nests has a frame of its own, apart from all that makes texts of refusals: those are large.
  private func primary() throws(AddressFault) -> ODataExpression {
    try count()
    if byte == UInt8(ascii: "(") { return try parenthesized() }
    if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { return try structured() }
    if let value = try plain() { return value }
    let start = position
    let word = try calledWord()
    if byte == UInt8(ascii: "("), let call = try call(word, at: start) { return call }
    return try path(after: (word, start))
  }

  private func parenthesized() throws(AddressFault) -> ODataExpression {
    try enter()
    position += 1
    blanks()
    let inner = try expression()
    blanks()
    try expect(")", "an operator or )")
    leave()
    return inner
  }

  private func structured() throws(AddressFault) -> ODataExpression {
    guard !isOld else { throw failure("JSON in an address is of V4", code: .notOffered) }
    return try json()
  }

  /// A literal, or a path that begins with a sign; nil where a word must stand.
  private func plain() throws(AddressFault) -> ODataExpression? {
    switch byte {
    case nil: throw failure("the end where a value was expected")
    case UInt8(ascii: "\""):
      throw failure("a string in double quotes", "write strings in single quotes")
    case UInt8(ascii: "$"), UInt8(ascii: "@"): return try path(after: nil)
    default: break
    }
    guard let value = try literal() else { return nil }
    try grow(0)
    return .literal(value)
  }

  private func calledWord() throws(AddressFault) -> String {
    guard let word = try qualifiedWord() else {
      throw failure("\(found) where a value was expected")
    }
    return word
  }
}
