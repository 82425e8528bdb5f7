import FerryOData
import FerryText

/// The address as a whole, and its resource path.
extension AddressParser {
  func wholeAddress() throws(AddressFault) -> ODataAddress {
    part = "address"
    try checkLength()
    let hash = address.firstIndex(of: UInt8(ascii: "#")) ?? address.count
    let question = address[..<hash].firstIndex(of: UInt8(ascii: "?")) ?? hash
    let root = try serviceEnd(question)
    if let bad = address[..<root].firstIndex(where: { $0 <= 0x20 || $0 >= 0x7F }) {
      throw failure(
        "a blank or a character that is not ASCII before the path", inAddressAt: bad,
        "percent-encode it; the name of a host is written as xn--…")
    }
    var found = ODataAddress(String(decoding: address[..<root], as: UTF8.self))
    try resourcePath(root..<question, &found)
    if found.path == [.metadata] { optionless = "$metadata" }
    if found.path == [.batch] { optionless = "$batch" }
    if question < hash {
      found.options = try query((question + 1)..<hash)
    }
    if hash < address.count {
      guard found.path == [.metadata] else {
        throw failure(
          "a # ends the address", inAddressAt: hash, "write # inside a value as %23")
      }
      try open((hash + 1)..<address.count, isQuery: false, part: "fragment")
      found.fragment = slice(0..<text.bytes.count)
    }
    if found.path.first == .entity, found.options.id == nil {
      part = "query"
      throw failure(
        "$entity without $id", inAddressAt: hash, "say which: $entity?$id=Orders(1)")
    }
    return found
  }

  private func resourcePath(
    _ range: Range<Int>, _ found: inout ODataAddress
  ) throws(AddressFault) {
    var start = range.lowerBound
    var columns: [Int32] = []
    while start < range.upperBound {
      let end = segmentEnd(start..<range.upperBound)
      try open(start..<end, isQuery: false, part: "path")
      guard end > start else {
        throw failure("an empty segment", inAddressAt: start, "write one / between segments")
      }
      try check(after: found.path)
      predicateColumns = []
      try segment(into: &found.path)
      columns += [mark(0)] + predicateColumns
      start = end + 1
      if start == range.upperBound, end < range.upperBound {
        throw failure("nothing behind the last /", inAddressAt: end, "remove the /")
      }
    }
    if found.path.last == .links {
      throw failure("$links leads nowhere", "name the navigation property: $links/Lines")
    }
    found.columns = ODataColumns(columns)
  }

  /// The slash that ends a segment. The condition of `$filter(…)` may hold slashes of its own.
  private func segmentEnd(_ range: Range<Int>) -> Int {
    var place = range.lowerBound
    if address[range].starts(with: "$filter(".utf8)
      || address[range].starts(with: "$filter%28".utf8)
    {
      place = conditionEnd(range)
    }
    return address[place..<range.upperBound].firstIndex(of: UInt8(ascii: "/")) ?? range.upperBound
  }

  /// The place behind the parenthesis that closes the first one, or the start where none does.
  private func conditionEnd(_ range: Range<Int>) -> Int {
    var open = 0
    var quote: UInt8?
    var place = range.lowerBound
    while place < range.upperBound {
      var byte = address[place]
      var length = 1
      if byte == UInt8(ascii: "%"), place + 2 < range.upperBound,
        let high = Hexadecimal.value(address[place + 1]),
        let low = Hexadecimal.value(address[place + 2])
      {
        byte = high << 4 | low
        length = 3
      }
      place += length
      switch (quote, byte) {
      case (nil, UInt8(ascii: "'")), (nil, UInt8(ascii: "\"")): quote = byte
      case (UInt8(ascii: "\"")?, UInt8(ascii: "\\")): place += 1
      case (byte?, _): quote = nil
      case (nil, UInt8(ascii: "(")): open += 1
      case (nil, UInt8(ascii: ")")):
        open -= 1
        if open == 0 { return place }
      default: break
      }
    }
    return range.lowerBound
  }

  /// Whether anything may follow what stands last.
  private func check(after path: [ODataSegment]) throws(AddressFault) {
    guard let last = path.last else { return }
    switch last {
    case .count, .value, .ref, .query, .metadata, .batch:
      throw failure("a segment behind the last one", "end the path before this segment")
    default: break
    }
  }

  private func segment(into path: inout [ODataSegment]) throws(AddressFault) {
    try count()
    if take("$") {
      path.append(try systemSegment(after: path))
      if case .filter? = path.last { try predicates(into: &path) }
      try endOfSegment()
      return
    }
    let start = position
    guard let word = try qualifiedWord() else {
      return try keySegment(into: &path, start)
    }
    if let byte, byte != UInt8(ascii: "("), !path.isEmpty, path != [.all], !isOld,
      !text.bytes.contains(UInt8(ascii: "("))
    {
      return try keySegment(into: &path, start)
    }
    if path == [.entity] || path == [.all] {
      path.append(.name(word))
      return try endOfSegment()
    }
    if path.isEmpty, word.contains("."), settings.metadata == nil, isOld {
      path.append(.name(word))
      return try predicates(into: &path)
    }
    path.append(.name(word))
    try predicates(into: &path)
    try endOfSegment()
  }

  private func predicates(into path: inout [ODataSegment]) throws(AddressFault) {
    var number = 0
    while byte == UInt8(ascii: "(") {
      number += 1
      guard number <= 2 else {
        throw failure("a third pair of parentheses", "parameters of a function, then a key")
      }
      try count()
      predicateColumns.append(mark(position))
      path.append(.predicate(try predicate(literalsOnly: true)))
    }
  }

  private func endOfSegment() throws(AddressFault) {
    guard position == text.bytes.count else {
      throw failure(
        "\(found) where the segment was to end", "percent-encode it, or put a / before it")
    }
  }

  private func keySegment(
    into path: inout [ODataSegment], _ start: Int
  ) throws(AddressFault) {
    position = start
    guard !isOld, !path.isEmpty, byte != UInt8(ascii: "("), byte != UInt8(ascii: "'") else {
      throw failure("\(found) where a name was expected")
    }
    let key = slice(0..<text.bytes.count)
    guard key != ".", key != ".." else {
      throw failure("\(key) as a segment", at: 0, "write a key in parentheses: ('\(key)')")
    }
    path.append(.keySegment(key))
    position = text.bytes.count
  }

  private func systemSegment(
    after path: [ODataSegment]
  ) throws(AddressFault) -> ODataSegment {
    let word = peekWord()
    position += word.utf8.count
    let isFirst = path.isEmpty
    switch word {
    case "metadata" where isFirst: return .metadata
    case "batch" where isFirst: return .batch
    case "entity" where isFirst && !isOld: return .entity
    case "all" where isFirst && !isOld: return .all
    case "crossjoin" where isFirst && !isOld: return .crossjoin(try crossjoin())
    case "count" where !isFirst: return .count
    case "value" where !isFirst: return .value
    case "ref" where !isFirst && !isOld: return .ref
    case "each" where !isFirst && !isOld: return .each
    case "query" where !isFirst && !isOld: return .query
    case "filter" where !isFirst && !isOld:
      try expect("(", "a (")
      blanks()
      let condition = try expression()
      blanks()
      try expect(")", "an operator or )")
      return .filter(condition)
    case "links" where !isFirst && isOld: return .links
    default:
      let cure: String
      switch word {
      case "links": cure = "V4 writes $ref behind the navigation property"
      case "ref": cure = "V2 writes $links before the navigation property"
      default: cure = isFirst ? "an address begins with a set" : "end the path before this segment"
      }
      throw failure("$\(word) is not allowed here", at: 0, cure)
    }
  }

  private func crossjoin() throws(AddressFault) -> [String] {
    try expect("(", "a (")
    var names: [String] = []
    repeat {
      blanks()
      names.append(try name("a set"))
      blanks()
    } while take(",")
    try expect(")", "a comma or )")
    return names
  }
}
