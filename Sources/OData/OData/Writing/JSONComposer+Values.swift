import FerryJSON
import FerryText

extension JSONComposer {
  func write(
    _ property: ODataProperty, isDeclared: Bool, to writer: inout JSONWriter
  ) throws(ODataError) {
    if property.type?.primitive == .stream { return }
    if isV4, !isDeclared, let mark = mark(property) {
      writer.field(property.name + "@odata.type", mark)
    }
    if isV4 {
      for (term, value) in property.annotations.sorted(by: { $0.key < $1.key }) {
        writer.key(property.name + "@" + term)
        try write(value, declared: nil, to: &writer)
      }
    }
    writer.key(property.name)
    try write(property.value, declared: property.type, to: &writer)
  }

  /// The type of an undeclared property, where JSON alone would not tell it.
  func mark(_ property: ODataProperty) -> String? {
    switch property.value {
    case .null, .boolean, .string, .complex, .invalid: return nil
    case .enumeration(_, let type): return "#" + type
    case .collection(let values):
      guard let name = AtomComposer.elementType(values, property.type) else { return nil }
      return "#Collection(\(name.hasPrefix("Edm.") ? String(name.dropFirst(4)) : name))"
    default: return property.value.primitive.map { "#" + $0.rawValue.dropFirst(4) }
    }
  }

  func write(
    _ value: EdmValue, declared: EdmTypeReference?, to writer: inout JSONWriter
  ) throws(ODataError) {
    switch value {
    case .null: writer.null()
    case .boolean(let value): writer.boolean(value)
    case .byte, .sbyte, .int16, .int32: writer.raw(value.text.utf8)
    case .int64(let value):
      if isV4, !composer.isIEEE754Compatible {
        writer.integer(value)
      } else {
        writer.string(String(value))
      }
    case .decimal(let value):
      if isV4, !composer.isIEEE754Compatible, let number = Self.number(value) {
        writer.raw(number.utf8)
      } else {
        writer.string(value.text)
      }
    case .single(let value): real(value.isFinite, .single(value), to: &writer)
    case .double(let value): real(value.isFinite, .double(value), to: &writer)
    case .string(let text): writer.string(text)
    case .binary(let bytes): writer.string(Base64.encode(bytes, isV4 ? .url : .standard))
    case .dateTime(let value):
      if isV4 { throw ODataError(.unwritable, "V4 has no Edm.DateTime") }
      let time = value.milliseconds
      // What the milliseconds would lose is written as V3 writes it.
      writer.string(time.exact ? "/Date(\(time.value))/" : value.description)
    case .dateTimeOffset(let value):
      let local = value.local.milliseconds
      if isV4 || !local.exact {
        writer.string(value.description)
      } else {
        // The milliseconds of the clock there, not of UTC: so all readers of V2 take them.
        let size = String(value.offsetMinutes.magnitude)
        let padded = String(repeating: "0", count: max(0, 4 - size.utf8.count)) + size
        writer.string("/Date(\(local.value)\(value.offsetMinutes < 0 ? "-" : "+")\(padded))/")
      }
    case .spatial(let shape): GeoJSON.write(shape, to: &writer)
    case .enumeration(let text, _): writer.string(text)
    case .complex(let complex): try write(complex, to: &writer)
    case .collection(let values): try collection(values, declared, to: &writer)
    case .invalid(let text, _): writer.string(text)
    case .time:
      if isV4 { throw ODataError(.unwritable, "V4 has no Edm.Time") }
      writer.string(value.text)
    case .guid: writer.string(value.text)
    case .date, .timeOfDay, .duration:
      if !isV4, let primitive = value.primitive {
        throw ODataError(
          .unwritable, "V\(composer.version.rawValue) has no \(primitive.rawValue)")
      }
      writer.string(value.text)
    }
  }

  func real(_ isFinite: Bool, _ value: EdmValue, to writer: inout JSONWriter) {
    if isFinite { writer.raw(value.text.utf8) } else { writer.string(value.text) }
  }

  /// A decimal as JSON can write it; nil for INF and NaN.
  static func number(_ value: EdmDecimal) -> String? {
    guard var text = value.plainText() else { return nil }
    let sign = text.hasPrefix("-") ? "-" : ""
    if !sign.isEmpty { text.removeFirst() }
    var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    while parts[0].utf8.count > 1, parts[0].hasPrefix("0") { parts[0].removeFirst() }
    if parts[0].isEmpty { parts[0] = "0" }
    if parts.count > 1, parts[1].isEmpty { parts.removeLast() }
    return sign + parts.joined(separator: ".")
  }

  func write(_ complex: EdmComplex, to writer: inout JSONWriter) throws(ODataError) {
    writer.beginObject()
    if let type = complex.type, !composer.unmarkedTypes.contains(type) {
      if isV4 {
        writer.field("@odata.type", "#" + type)
      } else {
        writer.key("__metadata")
        writer.beginObject()
        writer.field("type", type)
        writer.endObject()
      }
    }
    let known = complex.type.flatMap { composer.metadata?.structuredType($0) }
    for property in complex.properties {
      let isDeclared = known.flatMap { composer.metadata?.property(property.name, of: $0) } != nil
      try write(property, isDeclared: isDeclared, to: &writer)
    }
    for link in complex.links { try write(link, to: &writer) }
    writer.endObject()
  }

  func collection(
    _ values: [EdmValue], _ declared: EdmTypeReference?, to writer: inout JSONWriter
  ) throws(ODataError) {
    guard composer.version >= .v3 else {
      throw ODataError(
        .unwritable, "V\(composer.version.rawValue) has no collections of values")
    }
    if !isV4 {
      writer.beginObject()
      if let name = AtomComposer.elementType(values, declared) {
        writer.key("__metadata")
        writer.beginObject()
        writer.field("type", "Collection(\(name))")
        writer.endObject()
      }
      writer.key("results")
    }
    writer.beginArray()
    for value in values { try write(value, declared: declared?.element, to: &writer) }
    writer.endArray()
    if !isV4 { writer.endObject() }
  }
}
