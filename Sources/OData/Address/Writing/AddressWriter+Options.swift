import FerryOData

/// Query options in a fixed order.
extension AddressWriter {
  /// All options of an address.
  func query(_ options: ODataQueryOptions) throws(AddressFault) {
    let options = isOld ? try flattened(options) : options
    var separator = "?"
    try system(options, &separator, between: "&")
    try aliases(options, &separator, between: "&")
    for option in options.custom {
      try check(option)
      raw(separator)
      data(option.name, encodingAlso: "=;")
      if let value = option.value {
        raw("=")
        data(value, encodingAlso: ";")
      }
      separator = "&"
    }
  }

  private func check(_ option: ODataCustomOption) throws(AddressFault) {
    let name = option.name
    let first = name.utf8.first
    guard let first, first != UInt8(ascii: "$"), isOld || first != UInt8(ascii: "@") else {
      throw unwritable(
        "\"\(name)\" is not a name of a custom option",
        "use a name that begins with neither $ nor @")
    }
    let isTaken =
      AddressParser.systemNames.contains(name.lowercased()) || name.lowercased() == "apply"
    if isOld ? name == "!deltatoken" : isTaken {
      throw unwritable("\(name) is an option of OData", "use the property of ODataQueryOptions")
    }
  }

  /// Options in parentheses; nothing where there are none.
  func nested(_ options: ODataQueryOptions) throws(AddressFault) {
    guard !options.isEmpty else { return }
    try needs(.v4, "options inside of options")
    guard options.custom.isEmpty else {
      throw unwritable("a custom option inside of another option", "add it to the address itself")
    }
    var separator = "("
    try system(options, &separator, between: ";")
    try aliases(options, &separator, between: ";")
    raw(")")
  }

  private func aliases(
    _ options: ODataQueryOptions, _ separator: inout String, between: String
  ) throws(AddressFault) {
    for alias in options.aliases {
      try needs(.v4, "aliases")
      raw(separator + "@")
      try name(alias.name)
      raw("=")
      try expression(alias.value)
      separator = between
    }
  }

  private func system(
    _ options: ODataQueryOptions, _ separator: inout String, between: String
  ) throws(AddressFault) {
    func begin(_ name: String) {
      raw("\(separator)\(name)=")
      separator = between
    }
    if let filter = options.filter {
      begin("$filter")
      try expression(filter)
    }
    if let search = options.search {
      begin("$search")
      try self.search(search)
    }
    if !options.compute.isEmpty {
      try needs(.v4, "$compute")
      begin("$compute")
      try computations(options.compute)
    }
    if !options.orderBy.isEmpty {
      begin("$orderby")
      for (index, order) in options.orderBy.enumerated() {
        if index > 0 { raw(",") }
        try expression(order.expression)
        if order.isDescending { encoded(" desc") }
      }
    }
    if !options.select.isEmpty {
      begin("$select")
      try selected(options.select)
    }
    if !options.expand.isEmpty {
      begin("$expand")
      try expanded(options.expand)
    }
    for (name, number) in [("$skip", options.skip), ("$top", options.top)] {
      guard let number else { continue }
      guard number >= 0 else { throw unwritable("\(name)=\(number)", "it counts from 0") }
      begin(name)
      raw(String(number))
    }
    if let count = options.count {
      begin(isOld ? "$inlinecount" : "$count")
      raw(isOld ? (count ? "allpages" : "none") : (count ? "true" : "false"))
    }
    if let levels = options.levels {
      begin("$levels")
      if case .exactly(let number) = levels { raw(String(number)) } else { raw("max") }
    }
    try rest(options, &separator, between)
  }

  private func rest(
    _ options: ODataQueryOptions, _ separator: inout String, _ between: String
  ) throws(AddressFault) {
    if let index = options.index {
      try needs(.v4, "$index")
      raw("\(separator)$index=\(index)")
      separator = between
    }
    let delta = options.deltaToken.map { token in
      isOld ? "'\(token.doubling("'"))'" : token
    }
    let texts: [(String, String?, ODataVersion)] = [
      ("$format", options.format, .v1), ("$skiptoken", options.skipToken, .v1),
      (isOld ? "!deltatoken" : "$deltatoken", delta, .v1), ("$id", options.id, .v4),
      ("$schemaversion", options.schemaVersion, .v4),
    ]
    for (name, value, least) in texts {
      guard let value else { continue }
      try needs(least, name)
      guard !value.isEmpty else { throw unwritable("\(name) is empty", "leave it out") }
      raw("\(separator)\(name)=")
      data(value, encodingAlso: ";")
      separator = between
    }
  }

  private func computations(_ all: [ODataComputation]) throws(AddressFault) {
    for (index, item) in all.enumerated() {
      if index > 0 { raw(",") }
      try expression(item.expression)
      encoded(" as ")
      try name(item.name)
    }
  }

  private func selected(_ items: [ODataSelectItem]) throws(AddressFault) {
    for (index, item) in items.enumerated() {
      if index > 0 { raw(",") }
      try itemPath(item.path)
      if let parameters = item.parameters {
        try needs(.v4, "parameters in $select")
        raw("(")
        for (index, parameter) in parameters.enumerated() {
          if index > 0 { raw(",") }
          try name(parameter)
        }
        raw(")")
      }
      try nested(item.options)
    }
  }

  private func expanded(_ items: [ODataExpandItem]) throws(AddressFault) {
    for (index, item) in items.enumerated() {
      if index > 0 { raw(",") }
      if item.path == ["$value"] {
        try needs(.v4, "$value in $expand")
        raw("$value")
      } else {
        try itemPath(item.path)
      }
      if item.content != .entities {
        try needs(.v4, "$ref and $count in $expand")
        raw(item.content == .count ? "/$count" : "/$ref")
      }
      var beyondLevels = item.options
      beyondLevels.levels = nil
      if item.path.last == "*",
        !beyondLevels.isEmpty || item.content != .entities && !item.options.isEmpty
      {
        throw unwritable(
          "options of *", "* allows only $levels; name the properties that have other options")
      }
      try nested(item.options)
    }
  }

  private func itemPath(_ path: [String]) throws(AddressFault) {
    guard !path.isEmpty else { throw unwritable("an item without a path", "name a property") }
    for (index, step) in path.enumerated() {
      if index > 0 { raw("/") }
      if step == "*" {
        raw("*")
      } else if step.hasSuffix(".*") {
        try qualifiedName(String(step.dropLast(2)))
        raw(".*")
      } else if step.hasPrefix("@") {
        raw("@")
        let parts = step.dropFirst().split(separator: "#", omittingEmptySubsequences: false)
        try qualifiedName(parts.first.map(String.init) ?? "")
        if parts.count > 1 {
          encoded("#")
          try name(String(parts[1]))
        }
      } else {
        try qualifiedName(step)
      }
    }
  }
}
