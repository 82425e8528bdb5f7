import FerryJSON

/// The body of a request that sets a reference: an address, in the form of each version.
public enum ODataReference {
  /// Reads `{"@odata.id":"…"}`, `{"uri":"…"}`, `<uri>…</uri>` or `<m:ref id="…"/>`. Throws
  /// `unexpectedDocument` for anything else that is well-formed.
  public static func read(
    _ body: [UInt8], limits: ODataLimits = .standard
  ) throws(ODataError) -> String {
    let fault = ODataError(
      .unexpectedDocument, "the body is no reference",
      hint: #"send {"@odata.id":"Flights(1)"}, or {"uri":"Flights(1)"} with V2"#)
    if ODataSniff.isJSON(body) {
      let text = try EdmJSONReader.decoded(body)
      let root = try EdmJSONReader.parse(text, limits: limits)
      for name in ["@odata.id", "@id", "uri"] {
        if let address = root[name]?.string ?? root["d"]?[name]?.string { return address }
      }
      throw fault
    }
    let (tree, _) = try XMLTree.read(body, limits: limits)
    switch tree.root.local {
    case "uri": return tree.root.text.trimmed
    case "ref":
      guard let address = tree.root.attribute("id") else { throw fault }
      return address
    default: throw fault
    }
  }
}
