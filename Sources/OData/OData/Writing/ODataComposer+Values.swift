import FerryJSON

/// Single values, as a service answers them.
extension ODataComposer {
  /// A property as a JSON document of its own: from V4 on its value beside the context, before it an
  /// object in `d`. Throws `unwritable` in Atom.
  public func body(_ property: ODataProperty, context: String?) throws(ODataError) -> [UInt8] {
    guard format == .json else {
      throw ODataError(.unwritable, "a property is written as JSON only", hint: "use JSON")
    }
    let json = JSONComposer(self, .archive)
    var writer = JSONWriter(reserving: 256)
    writer.beginObject()
    guard version >= .v4 else {
      writer.key("d")
      writer.beginObject()
      try json.write(property, isDeclared: true, to: &writer)
      writer.endObject()
      writer.endObject()
      return writer.bytes
    }
    if let context { writer.field("@odata.context", context) }
    if let complex = property.value.complex {
      for part in complex.properties { try json.write(part, isDeclared: true, to: &writer) }
    } else {
      writer.key("value")
      try json.write(property.value, declared: property.type, to: &writer)
    }
    writer.endObject()
    return writer.bytes
  }
}
