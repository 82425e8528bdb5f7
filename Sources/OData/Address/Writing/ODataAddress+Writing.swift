import FerryOData

extension ODataAddress {
  /// The address as text for a version, percent-encoded, ready for a request.
  ///
  /// A blank becomes `%20` and a plus `%2B`, which every server reads alike. Throws `unwritable`
  /// for what the version has no words for, and for what is no name.
  public func uri(_ version: ODataVersion) throws(ODataError) -> String {
    do { return try written(version) } catch { throw error.error }
  }

  private func written(_ version: ODataVersion) throws(AddressFault) -> String {
    let writer = AddressWriter(version)
    guard service.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") }),
      !service.contains("#")
    else {
      throw writer.unwritable(
        "\"\(service)\" is not a root of a service", "percent-encode it, without ? and #")
    }
    writer.raw(service)
    writer.isPath = true
    try writer.path(path)
    writer.isPath = false
    try writer.query(options)
    if let fragment {
      writer.raw("#")
      writer.data(fragment)
    }
    return writer.text
  }
}

extension ODataExpression {
  /// The expression as `$filter` holds it, not percent-encoded.
  ///
  /// Throws `unwritable` for what the version has no words for.
  public func text(_ version: ODataVersion) throws(ODataError) -> String {
    let writer = AddressWriter(version)
    writer.isPlain = true
    do { try writer.expression(self) } catch { throw error.error }
    return writer.text
  }
}

extension ODataPredicate {
  /// The key as it stands behind a set, percent-encoded, for names and types that metadata declares.
  ///
  /// Throws `unwritable` for a value that the version has no literal for.
  package func declaredKey(_ version: ODataVersion) throws(ODataError) -> String {
    let writer = AddressWriter(version)
    writer.isPath = true
    writer.isDeclared = true
    do { try writer.predicate(self) } catch { throw error.error }
    return writer.text
  }
}

extension AddressWriter {
  func path(_ segments: [ODataSegment]) throws(AddressFault) {
    for (index, segment) in segments.enumerated() {
      if case .predicate(let predicate) = segment {
        guard index > 0 else {
          throw unwritable("a key without a set", "name the set before it")
        }
        try self.predicate(predicate)
        continue
      }
      if index > 0 { raw("/") }
      try self.segment(segment)
    }
  }

  private func segment(_ segment: ODataSegment) throws(AddressFault) {
    switch segment {
    case .name(let name): try qualifiedName(name)
    case .predicate: break
    case .keySegment(let text):
      try needs(.v4, "keys as segments")
      guard !text.isEmpty, text != ".", text != ".." else {
        throw unwritable("\"\(text)\" as a segment", "write it as a key in parentheses")
      }
      data(text)
    case .count: raw("$count")
    case .value: raw("$value")
    case .ref:
      try needs(.v4, "$ref (it has $links)")
      raw("$ref")
    case .links:
      guard isOld else { throw unwritable("V4 has no $links", "write $ref behind the property") }
      raw("$links")
    case .filter(let condition):
      try needs(.v4, "$filter in paths")
      raw("$filter(")
      try expression(condition)
      raw(")")
    case .each:
      try needs(.v4, "$each")
      raw("$each")
    case .query:
      try needs(.v4, "$query")
      raw("$query")
    case .metadata: raw("$metadata")
    case .batch: raw("$batch")
    case .entity:
      try needs(.v4, "$entity")
      raw("$entity")
    case .all:
      try needs(.v4, "$all")
      raw("$all")
    case .crossjoin(let sets):
      try needs(.v4, "$crossjoin")
      raw("$crossjoin(")
      for (index, set) in sets.enumerated() {
        if index > 0 { raw(",") }
        try name(set)
      }
      raw(")")
    }
  }
}
