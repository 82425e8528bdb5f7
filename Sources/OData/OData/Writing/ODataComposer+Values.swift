import FerryJSON

/// Single values, as a service answers them.
extension ODataComposer {
  /// A property as a JSON document of its own: from V4 on its value beside the context, before it an
  /// object in `d`. In XML an element of its name; throws `unwritable` for what the version has not.
  public func body(_ property: ODataProperty, context: String?) throws(ODataError) -> [UInt8] {
    guard format == .json else {
      return try AtomComposer(self, .archive).document(property, context: context)
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

  /// The addresses of entities as V2 and V3 answer `$links`: one, or a list of them.
  public func links(_ uris: [String], isCollection: Bool) throws(ODataError) -> [UInt8] {
    guard format == .json else {
      if !isCollection, let only = uris.first { return try AtomComposer.link(only, version) }
      return AtomComposer.links(uris)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("d")
    func write(_ writer: inout JSONWriter, _ uri: String) {
      writer.beginObject()
      writer.field("uri", uri)
      writer.endObject()
    }
    if !isCollection, let only = uris.first {
      write(&writer, only)
    } else {
      writer.beginObject()
      writer.key("results")
      writer.array(uris) { write(&$0, $1) }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }
}
