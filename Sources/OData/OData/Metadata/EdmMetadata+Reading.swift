extension EdmMetadata {
  /// Reads `$metadata` in XML (V1 to V4) or CSDL JSON.
  ///
  /// Lenient reading keeps what it can and lists the rest in `diagnostics`; strict reading throws
  /// the first of them as `strict`. Throws `malformed`, `truncated`, `doctype`, `encoding`,
  /// `limit`, `unexpectedDocument` or `htmlPage` either way.
  public static func read(
    _ bytes: [UInt8], strict: Bool = false, limits: ODataLimits = .standard
  ) throws(ODataError) -> EdmMetadata {
    if HTMLPage.isHTML(bytes) { throw HTMLPage.refusal }
    let metadata: EdmMetadata
    if ODataSniff.isJSON(bytes) {
      metadata = try EdmJSONReader.read(bytes, limits: limits)
    } else {
      metadata = try EdmXMLReader.read(bytes, limits: limits)
    }
    if strict, let first = metadata.diagnostics.first { throw ODataError(strict: first) }
    return metadata
  }

  /// Reads a document and all it references, each once, whoever references whom.
  ///
  /// `load` is given the address as the Reference writes it; nil leaves that reference open, which
  /// is reported. At most `limit` documents are read.
  public static func read(
    _ bytes: [UInt8], strict: Bool = false, limits: ODataLimits = .standard, limit: Int = 100,
    load: (String) throws(ODataError) -> [UInt8]?
  ) throws(ODataError) -> EdmMetadata {
    let first = try read(bytes, limits: limits)
    var schemas = first.schemas
    var seen: Set<String> = []
    var waiting = first.references
    var notes = EdmDiagnostics(limit: limits.diagnostics)
    while let reference = waiting.popLast() {
      guard seen.insert(reference.uri).inserted else { continue }
      guard seen.count <= limit else {
        throw ODataError(.limit, "more than \(limit) documents are referenced")
      }
      guard let more = try load(reference.uri) else {
        notes.add(
          "the reference \(reference.uri) was not found", ODataPlace(path: reference.uri),
          "its types are unknown")
        continue
      }
      let other = try read(more, limits: limits)
      let known = Set(schemas.map(\.namespace))
      schemas += other.schemas.filter { !known.contains($0.namespace) }
      waiting += other.references
    }
    var whole = EdmMetadata(
      version: first.version, edmxVersion: first.edmxVersion, schemas: schemas, references: [])
    var check = EdmCheck(whole, notes) { ODataPlace(path: $0.joined(separator: "/")) }
    check.run()
    whole.diagnostics = check.diagnostics.list
    if strict, let problem = whole.diagnostics.first { throw ODataError(strict: problem) }
    return whole
  }
}

/// Tells the two shapes of documents apart by their first bytes.
package enum ODataSniff {
  package static func isJSON(_ bytes: some Collection<UInt8>) -> Bool {
    for byte in bytes.prefix(64) {
      switch byte {
      case 0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0, 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): return true
      default: return byte >= 0x30 && byte <= 0x39
      }
    }
    return false
  }
}
