import FerryOData

/// Query options, at the end of an address and inside of `$expand` and `$select`.
extension AddressParser {
  /// Where options stand; it decides which are allowed.
  enum Place {
    case address
    case expand, references, count, select
    /// Behind `*`, which stands for all navigation properties.
    case star

    func allows(_ name: String) -> Bool {
      switch self {
      case .address: name != "levels"
      case .expand:
        [
          "filter", "search", "orderby", "skip", "top", "count", "select", "expand", "compute",
          "levels",
        ].contains(name)
      case .references: ["filter", "search", "orderby", "skip", "top", "count"].contains(name)
      case .count: ["filter", "search"].contains(name)
      case .star: name == "levels"
      case .select:
        ["filter", "search", "orderby", "skip", "top", "count", "select", "compute"].contains(name)
      }
    }
  }

  static let systemNames: Set<String> = [
    "filter", "orderby", "select", "expand", "search", "compute", "top", "skip", "count",
    "format", "skiptoken", "deltatoken", "id", "index", "schemaversion", "levels",
  ]
  static let oldNames: Set<String> = [
    "filter", "orderby", "select", "expand", "top", "skip", "inlinecount", "format", "skiptoken",
  ]

  /// All that stands behind the question mark, from raw bytes.
  func query(_ range: Range<Int>) throws(AddressFault) -> ODataQueryOptions {
    var options = ODataQueryOptions()
    var seen: Set<String> = []
    var start = range.lowerBound
    while start < range.upperBound {
      let end =
        address[start..<range.upperBound].firstIndex(of: UInt8(ascii: "&"))
        ?? range.upperBound
      try option(start..<end, &options, &seen)
      start = end + 1
      if start == range.upperBound, end < range.upperBound {
        throw failure("nothing behind &", inAddressAt: end, "remove the &")
      }
    }
    return options
  }

  private func option(
    _ range: Range<Int>, _ options: inout ODataQueryOptions, _ seen: inout Set<String>
  ) throws(AddressFault) {
    let equals = address[range].firstIndex(of: UInt8(ascii: "="))
    try open(range.lowerBound..<(equals ?? range.upperBound), isQuery: true, part: "query")
    let spelled = slice(0..<text.bytes.count)
    guard !spelled.isEmpty else {
      throw failure("an option without a name", "remove the &")
    }
    guard let name = try systemName(spelled) else {
      if spelled.utf8.first == UInt8(ascii: "@"), !isOld {
        try alias(spelled, equals, range, &options)
        return
      }
      try count()
      let custom = spelled
      guard let equals else {
        options.custom.append(ODataCustomOption(custom, nil))
        return
      }
      try open((equals + 1)..<range.upperBound, isQuery: true, part: custom)
      let value = slice(0..<text.bytes.count)
      if isOld, custom == "!deltatoken" {
        options.deltaToken = try deltaToken()
      } else {
        options.custom.append(ODataCustomOption(custom, value))
      }
      return
    }
    guard let equals else {
      throw failure("\(spelled) has no value", inAddressAt: range.upperBound, "write = and a value")
    }
    if let root = optionless, name != "format", name != "schemaversion" {
      throw failure(
        "$\(name) has no effect on \(root)", inAddressAt: range.lowerBound, "remove the option")
    }
    try open((equals + 1)..<range.upperBound, isQuery: true, part: "$" + name)
    guard Place.address.allows(name) else {
      throw failure("$\(name) is allowed only inside of $expand")
    }
    guard seen.insert(name).inserted else {
      throw failure("$\(name) is given twice", inAddressAt: range.lowerBound, "keep one of them")
    }
    try value(of: name, into: &options, at: .address)
    try end()
  }

  /// The name without `$`; nil for custom options and aliases. Unknown ones with `$` are refused.
  private func systemName(_ spelled: String) throws(AddressFault) -> String? {
    let hasDollar = spelled.utf8.first == UInt8(ascii: "$")
    let bare = hasDollar ? String(decoding: spelled.utf8.dropFirst(), as: UTF8.self) : spelled
    let name = isOld ? bare : bare.lowercased()
    let known = isOld ? Self.oldNames : Self.systemNames
    if name == "apply", hasDollar || !isOld {
      throw failure(
        "$apply (data aggregation) is not offered", at: 0,
        "read the entities and aggregate them in the app, or use $compute and $count",
        code: .notOffered)
    }
    if hasDollar {
      guard known.contains(name) else {
        let isElsewhere = Self.systemNames.contains(name) || Self.oldNames.contains(name)
        let wanted = name == "inlinecount" ? "write $count=true" : "write $inlinecount=allpages"
        throw failure(
          isElsewhere
            ? "\(spelled) is not an option of V\(version.rawValue)"
            : "there is no option \(spelled)", at: 0,
          name == "inlinecount" || name == "count"
            ? wanted : "custom options begin with neither $ nor @",
          code: isElsewhere ? .notOffered : .address)
      }
      return name
    }
    // 4.01 lets the dollar be left out; that of tokens must stay.
    let needsDollar = isOld || name == "skiptoken" || name == "deltatoken"
    return !needsDollar && known.contains(name) ? name : nil
  }

  private func alias(
    _ spelled: String, _ equals: Int?, _ range: Range<Int>, _ options: inout ODataQueryOptions
  ) throws(AddressFault) {
    let name = String(decoding: spelled.utf8.dropFirst(), as: UTF8.self)
    guard ODataNames.isName(name), let equals else {
      throw failure("\(spelled) is not an alias with a value", at: 0, "write @name=value")
    }
    guard options.alias(name) == nil else {
      throw failure("\(spelled) is given twice", at: 0, "keep one of them")
    }
    try count()
    try open((equals + 1)..<range.upperBound, isQuery: true, part: spelled)
    blanks()
    options.aliases.append(ODataNamedValue(name, try expression()))
    blanks()
    try end()
  }

  /// In quotes or not; stands before it.
  private func deltaToken() throws(AddressFault) -> String {
    guard byte == UInt8(ascii: "'") else { return slice(0..<text.bytes.count) }
    let token = try quoted()
    guard position == text.bytes.count else {
      throw failure("the quote is closed before the end", "write ' inside as ''")
    }
    return token
  }

  /// Reads the value of a system option from where the parser stands.
  func value(
    of name: String, into options: inout ODataQueryOptions, at place: Place
  ) throws(AddressFault) {
    switch name {
    case "filter":
      options.filter = try expression()
    case "orderby": options.orderBy = try orderBy()
    case "select": options.select = try selectItems()
    case "expand": options.expand = try expandItems()
    case "search": options.search = try search(isNested: place != .address)
    case "compute": options.compute = try computations()
    case "top": options.top = try wholeNumber()
    case "skip": options.skip = try wholeNumber()
    case "count": options.count = try truth()
    case "inlinecount": options.count = try inlineCount()
    case "format": options.format = try format()
    case "skiptoken": options.skipToken = try token()
    case "deltatoken": options.deltaToken = try token()
    case "id": options.id = try token()
    case "index":
      let isNegative = take("-")
      options.index = (isNegative ? -1 : 1) * (try wholeNumber())
    case "schemaversion": options.schemaVersion = try token()
    default: options.levels = try levels()
    }
  }

  /// Options in parentheses, separated by semicolons.
  func nestedOptions(_ place: Place) throws(AddressFault) -> ODataQueryOptions {
    try enter(3)
    let outer = part
    position += 1
    var options = ODataQueryOptions()
    var seen: Set<String> = []
    repeat {
      let start = position
      if take("@") {
        let name = try name("the name of an alias")
        try expect("=", "a =")
        blanks()
        options.aliases.append(ODataNamedValue(name, try expression()))
        blanks()
        continue
      }
      let hasDollar = take("$")
      let name = peekWord().lowercased()
      position += name.utf8.count
      if name == "apply" {
        throw failure("$apply (data aggregation) is not offered", at: start, code: .notOffered)
      }
      guard place.allows(name) else {
        throw failure(
          name.isEmpty ? "\(found) where an option was expected" : "$\(name) is not allowed here",
          at: start, hasDollar ? nil : "options are such as $filter=… and separated by ;")
      }
      guard seen.insert(name).inserted else { throw failure("$\(name) is given twice", at: start) }
      try expect("=", "a =")
      try value(of: name, into: &options, at: place)
    } while take(";")
    part = outer
    try expect(")", "a ; or )")
    leave(3)
    return options
  }
}
