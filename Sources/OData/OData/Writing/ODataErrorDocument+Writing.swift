import FerryJSON

/// Errors as a service writes them.
extension ODataErrorDocument {
  /// In JSON, in the shape of the version: from V4 on `details` is beside the message, before it
  /// in `innererror` under SAP's name.
  public func json(_ version: ODataVersion) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("error")
    writer.beginObject()
    writer.field("code", code)
    writer.key("message")
    if version >= .v4 {
      writer.string(message)
    } else {
      writer.beginObject()
      writer.field("lang", language ?? "en")
      writer.field("value", message)
      writer.endObject()
    }
    if let target { writer.field("target", target) }
    if version >= .v4, !details.isEmpty {
      writer.key("details")
      writer.array(details) { Self.write($1, targetName: "target", to: &$0) }
    }
    let hasDetails = version < .v4 && !details.isEmpty
    if !innerError.isEmpty || hasDetails {
      writer.key("innererror")
      writer.beginObject()
      if hasDetails {
        writer.key("errordetails")
        writer.array(details) { Self.write($1, targetName: "propertyref", to: &$0) }
      }
      for (name, text) in plainInner { writer.field(name, text) }
      writer.endObject()
    }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// In XML, as Atom services answer; the same for all versions but the namespace.
  public func xml(_ version: ODataVersion) throws(ODataError) -> [UInt8] {
    var writer = XMLWriter(declaration: true)
    writer.open("m:error")
    writer.attribute(
      "xmlns:m",
      version >= .v4
        ? "http://docs.oasis-open.org/odata/ns/metadata" : EdmXMLWriter.metadataSpace)
    writer.element("m:code", code)
    writer.open("m:message")
    if version < .v4 { writer.attribute("xml:lang", language ?? "en") }
    writer.text(message)
    writer.close("m:message")
    if let target { writer.element("m:target", target) }
    if version >= .v4, !details.isEmpty {
      writer.open("m:details")
      for detail in details { Self.write(detail, "m:detail", "m:", "target", to: &writer) }
      writer.close("m:details")
    }
    let hasDetails = version < .v4 && !details.isEmpty
    if !innerError.isEmpty || hasDetails {
      writer.open("m:innererror")
      if hasDetails {
        writer.open("errordetails")
        for detail in details { Self.write(detail, "errordetail", "", "propertyref", to: &writer) }
        writer.close("errordetails")
      }
      for (name, text) in plainInner { writer.element(name, text) }
      writer.close("m:innererror")
    }
    writer.close("m:error")
    if let character = writer.unwritable {
      throw ODataError(.unwritable, "XML cannot hold \(character)")
    }
    return writer.bytes
  }

  /// What an inner error holds as plain names; what was nested there is written from `details`.
  private var plainInner: [(String, String)] {
    innerError.sorted { $0.key < $1.key }.filter { name, _ in
      !name.isEmpty
        && name.utf8.allSatisfy { byte in
          byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_")
        } && name.utf8.first.map { $0 > 0x39 } ?? false
    }
  }

  private static func write(_ detail: Detail, targetName: String, to writer: inout JSONWriter) {
    writer.beginObject()
    if let code = detail.code { writer.field("code", code) }
    writer.field("message", detail.message)
    if let target = detail.target { writer.field(targetName, target) }
    if let severity = detail.severity { writer.field("severity", severity) }
    writer.endObject()
  }

  private static func write(
    _ detail: Detail, _ element: String, _ prefix: String, _ targetName: String,
    to writer: inout XMLWriter
  ) {
    writer.open(element)
    if let code = detail.code { writer.element("\(prefix)code", code) }
    writer.element("\(prefix)message", detail.message)
    if let target = detail.target { writer.element("\(prefix)\(targetName)", target) }
    if let severity = detail.severity { writer.element("\(prefix)severity", severity) }
    writer.close(element)
  }
}
