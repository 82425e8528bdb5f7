/// Tells an HTML page, such as a login form, from OData.
package enum HTMLPage {
  static func error(_ root: XMLElement) -> ODataError? {
    guard root.local.lowercased() == "html" else { return nil }
    return ODataError(
      .htmlPage, "an HTML page came instead of OData", at: ODataPlace(line: 1, column: 1))
  }

  /// Pages are seldom well-formed XML, so their first bytes must tell.
  package static func isHTML(_ bytes: some Collection<UInt8>) -> Bool {
    let head = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased()
    let text = head.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }

  package static let refusal = ODataError(
    .htmlPage, "an HTML page came instead of OData", at: ODataPlace(line: 1, column: 1))
}
