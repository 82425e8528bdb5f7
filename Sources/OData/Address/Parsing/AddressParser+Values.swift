import FerryOData

/// The values of single options.
extension AddressParser {
  func wholeNumber() throws(AddressFault) -> Int {
    let start = position
    while Self.isDigit(byte) { position += 1 }
    guard position > start else { throw failure("\(found) where a whole number was expected") }
    guard let value = Int(slice(start..<position)) else {
      throw failure("the number is too large", at: start)
    }
    return value
  }

  func truth() throws(AddressFault) -> Bool {
    let word = peekWord()
    guard word.lowercased() == "true" || word.lowercased() == "false" else {
      throw failure("\(word.isEmpty ? found : word) where true or false was expected")
    }
    position += word.utf8.count
    return word.lowercased() == "true"
  }

  func inlineCount() throws(AddressFault) -> Bool {
    let word = peekWord()
    guard word == "allpages" || word == "none" else {
      throw failure("\(word.isEmpty ? found : word) where allpages or none was expected")
    }
    position += word.utf8.count
    return word == "allpages"
  }

  func levels() throws(AddressFault) -> ODataLevels {
    if peekWord().lowercased() == "max" {
      position += 3
      return .max
    }
    guard let byte, byte >= 0x31, byte <= 0x39 else {
      throw failure("\(found) where max or a number from 1 on was expected")
    }
    return .exactly(try wholeNumber())
  }

  /// All that is left, whatever it is.
  func token() throws(AddressFault) -> String {
    guard position < text.bytes.count else { throw failure("\(part) has no value") }
    defer { position = text.bytes.count }
    return slice(position..<text.bytes.count)
  }

  func format() throws(AddressFault) -> String {
    let start = position
    let value = try token()
    let short = ["atom", "json", "xml"].contains(value.lowercased())
    let type = value.split(separator: ";", omittingEmptySubsequences: false)[0]
    let parts = type.split(separator: "/", omittingEmptySubsequences: false)
    let isMedia =
      parts.count == 2 && parts.allSatisfy { !$0.isEmpty && !$0.contains { $0.isWhitespace } }
    guard short || isMedia || isOld && ODataNames.isName(value) else {
      position = start
      throw failure("\(value) is not a format", "json, xml, atom, or a media type with a /")
    }
    return value
  }

  func orderBy() throws(AddressFault) -> [ODataOrder] {
    var all: [ODataOrder] = []
    repeat {
      if !all.isEmpty { blanks() }
      var order = ODataOrder(try expression())
      let start = position
      if blanks() {
        let word = peekWord()
        switch isOld ? word : word.lowercased() {
        case "asc": position += 3
        case "desc":
          position += 4
          order.isDescending = true
        default: position = start
        }
      }
      all.append(order)
      let end = position
      if blanks(), byte != UInt8(ascii: ",") { position = end }
    } while take(",")
    return all
  }

  func computations() throws(AddressFault) -> [ODataComputation] {
    var all: [ODataComputation] = []
    repeat {
      if !all.isEmpty { blanks() }
      let value = try expression()
      guard blanks(), peekWord().lowercased() == "as" else {
        throw failure("\(found) where as was expected", "name the value: Price mul 2 as Double")
      }
      position += 2
      guard blanks() else { throw failure("\(found) where a blank and a name was expected") }
      all.append(ODataComputation(value, as: try name("a name")))
    } while take(",")
    return all
  }

  func selectItems() throws(AddressFault) -> [ODataSelectItem] {
    var all: [ODataSelectItem] = []
    repeat {
      if !all.isEmpty { blanks() }
      all.append(try selectItem())
    } while take(",")
    return all
  }

  private func selectItem() throws(AddressFault) -> ODataSelectItem {
    var item = ODataSelectItem([])
    repeat {
      try count()
      item.columns.values.append(mark(position))
      item.path.append(try itemStep(allowsOperations: item.path.isEmpty))
    } while item.path.last?.hasSuffix("*") == false && take("/")
    guard byte == UInt8(ascii: "("), !isOld else { return item }
    if let names = try parameterNames() {
      item.parameters = names
    } else {
      item.options = try nestedOptions(.select)
    }
    return item
  }

  /// `(A,B)` behind the name of a function; nil where options follow.
  private func parameterNames() throws(AddressFault) -> [String]? {
    let start = position
    position += 1
    var names: [String] = []
    repeat {
      guard let word = try word() else { break }
      names.append(word)
    } while take(",")
    if !names.isEmpty, take(")") { return names }
    position = start
    return nil
  }

  /// A name, a type, `*`, `NS.*` or `@Term`.
  private func itemStep(allowsOperations: Bool) throws(AddressFault) -> String {
    let start = position
    if take("*") { return "*" }
    if !isOld { _ = take("@") }
    guard try qualifiedWord() != nil else {
      throw failure("\(found) where a property was expected", "name a property, or write *")
    }
    if byte == UInt8(ascii: "."), byte(ahead: 1) == UInt8(ascii: "*"), allowsOperations, !isOld {
      position += 2
    } else if byte == UInt8(ascii: "#"), text.bytes[start] == UInt8(ascii: "@") {
      position += 1
      _ = try name("a qualifier")
    }
    return slice(start..<position)
  }

  func expandItems() throws(AddressFault) -> [ODataExpandItem] {
    var all: [ODataExpandItem] = []
    repeat {
      if !all.isEmpty { blanks() }
      all.append(try expandItem())
    } while take(",")
    return all
  }

  private func expandItem() throws(AddressFault) -> ODataExpandItem {
    var item = ODataExpandItem([])
    steps: repeat {
      try count()
      let start = position
      if take("$") {
        let word = peekWord()
        position += word.utf8.count
        switch (isOld ? "" : word, item.path.isEmpty) {
        case ("value", true): item.path = ["$value"]
        case ("ref", false): item.content = .references
        case ("count", false): item.content = .count
        default: throw failure("$\(word) is not allowed here", at: start)
        }
        break steps
      }
      item.columns.values.append(mark(start))
      item.path.append(try itemStep(allowsOperations: false))
    } while take("/")
    guard byte == UInt8(ascii: "("), !isOld else { return item }
    if item.path == ["$value"] { throw failure("$value has no options") }
    let isStar = item.path.last == "*"
    if isStar, item.content != .entities {
      throw failure("* has no options here", "name the properties to expand")
    }
    switch item.content {
    case .entities: item.options = try nestedOptions(isStar ? .star : .expand)
    case .references: item.options = try nestedOptions(.references)
    case .count: item.options = try nestedOptions(.count)
    }
    return item
  }
}
