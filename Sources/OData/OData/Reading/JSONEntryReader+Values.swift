import FerryJSON

extension JSONEntryReader {
  /// A value of any kind.
  func value(
    _ node: Int, type: EdmTypeReference?
  ) throws(ODataError) -> EdmValue {
    switch record.kind(node) {
    case .null, .end: return .null
    case .boolean:
      if let primitive = primitive(type), primitive != .boolean {
        return try context.invalid(record.spelled(node), primitive, record.place(of: node))
      }
      return .boolean(record.spelled(node) == "true")
    case .number: return try number(node, type)
    case .string: return try text(node, type)
    case .array:
      var values: [EdmValue] = []
      let element = type.map { $0.element }
      for child in record.children(node) {
        values.append(try value(child, type: element))
      }
      return .collection(values)
    case .object: return try object(node, type)
    }
  }

  func primitive(_ type: EdmTypeReference?) -> EdmPrimitive? {
    guard let type, !type.isCollection else { return nil }
    return type.primitive ?? context.options.metadata?.primitive(type.name)
  }

  func number(
    _ node: Int, _ type: EdmTypeReference?
  ) throws(ODataError) -> EdmValue {
    let bytes = record.text(node)
    if let type, !type.isCollection, context.isEnum(type.name) {
      return .enumeration(record.spelled(node), type: type.name)
    }
    if let primitive = primitive(type) {
      if let value = EdmValue(bytes: bytes, type: primitive) { return value }
      // 1.0 and 1e3 are integers to a writer that knows only one kind of number.
      if let plain = EdmDecimal(record.spelled(node))?.plainText(limit: 40),
        let point = plain.firstIndex(of: "."),
        plain[point...].dropFirst().allSatisfy({ $0 == "0" }),
        let value = EdmValue(text: String(plain[..<point]), type: primitive)
      {
        return value
      }
      if let plain = EdmDecimal(record.spelled(node))?.plainText(limit: 40),
        let value = EdmValue(text: plain, type: primitive)
      {
        return value
      }
      return try context.invalid(record.spelled(node), primitive, record.place(of: node))
    }
    return JSONEntryReader.number(bytes)
  }

  /// A number without a type: the smallest that keeps its digits.
  static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> EdmValue {
    if case .int64(let value)? = EdmValue(bytes: bytes, type: .int64) {
      return Int32(exactly: value).map { .int32($0) } ?? .int64(value)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if let value = Double(text), value.isFinite,
      text.utf8.count <= 18, EdmDecimal(EdmValue.double(value).text) == EdmDecimal(text)
    {
      return .double(value)
    }
    return EdmDecimal(text).map { .decimal($0) } ?? .string(text)
  }

  func text(
    _ node: Int, _ type: EdmTypeReference?
  ) throws(ODataError) -> EdmValue {
    // A plain text of a plain type needs no string of its own.
    if let plain = type?.primitive, plain != .string, type?.isCollection == false,
      !record.node(node).hasEscapes, plain != .dateTime, plain != .dateTimeOffset,
      let value = EdmValue(bytes: record.text(node), type: plain)
    {
      return value
    }
    let string = try record.string(node)
    if let type, !type.isCollection, context.isEnum(type.name) {
      return .enumeration(string, type: type.name)
    }
    guard let primitive = primitive(type) else {
      if isVerbose, let date = EdmValue(verboseDate: string, type: nil) { return date }
      if let type, !type.isCollection, context.options.metadata == nil {
        return .enumeration(string, type: type.name)
      }
      return .string(string)
    }
    if primitive == .string || primitive == .stream { return .string(string) }
    if let value = EdmValue(verboseDate: string, type: primitive),
      primitive == .dateTime || primitive == .dateTimeOffset
    {
      return value
    }
    if let value = EdmValue(text: string, type: primitive) { return value }
    return try context.invalid(string, primitive, record.place(of: node))
  }

  func object(
    _ node: Int, _ type: EdmTypeReference?
  ) throws(ODataError) -> EdmValue {
    if isVerbose, let results = try record.member(node, "results"), record.kind(results) == .array {
      // `{"__metadata": {"type": "Collection(…)"}, "results": […]}`.
      var mark = type
      if let metadata = try record.member(node, "__metadata"),
        let text = try record.text(metadata, "type")
      {
        mark = context.marked(text)
      }
      return try value(results, type: mark)
    }
    let spatial = primitive(type)?.isSpatial
    if spatial == true || (type == nil && !isVerbose) {
      if let shape = try GeoJSON.read(
        record, node, isGeometry: primitive(type)?.isGeometry ?? false)
      {
        return .spatial(shape)
      }
      if spatial == true {
        try context.report("the shape cannot be read", record.place(of: node), "it is read as null")
        return .null
      }
    }
    let inner = try entry(node, type: type?.name)
    var complex = EdmComplex(type: inner.type, inner.properties)
    complex.links = inner.links
    return .complex(complex)
  }
}
