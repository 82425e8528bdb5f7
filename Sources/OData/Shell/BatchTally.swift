import FerryOData
import FerryODataBatch

/// Counts the parts of a batch while it streams.
struct BatchTally {
  private var parts = 0
  private var requests = 0
  private var responses = 0
  private var failed = 0
  private var groups: Set<String> = []

  /// Reads what the reader has ready.
  mutating func drain(_ reader: ODataBatchReader) throws(ODataError) {
    while let item = try reader.next() {
      guard case .part(let part) = item else { continue }
      if part.isRequest { requests += 1 } else { responses += 1 }
      if let status = part.status, status >= 400 { failed += 1 }
      let isNew = part.group.map { groups.insert($0).inserted } ?? true
      if isNew || reader.isJSON { parts += 1 }
    }
  }

  var counts: [String: Int] {
    [
      "parts": parts, "requests": requests, "responses": responses, "changesets": groups.count,
      "failedResponses": failed,
    ]
  }

  /// Whether the first bytes are those of a multipart batch: a line of a boundary, after heads or
  /// a preamble.
  static func isMultipart(_ bytes: [UInt8]) -> Bool {
    let start = bytes.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    if start == UInt8(ascii: "<") || bytes.contains(0) || ODataSniff.isJSON(bytes) { return false }
    switch ODataBatchReader.firstBoundary(bytes, isLast: true) {
    case .found: return true
    case .bad(let text): return text.utf8.count > BatchText.boundaryLimit && !text.contains(" ")
    case .none, .more: return false
    }
  }

  /// Whether the first bytes are those of a JSON object whose first member holds requests or
  /// responses.
  static func isJSON(_ bytes: [UInt8]) -> Bool {
    let text = bytes.prefix(64).filter { $0 > 0x20 }
    return ["requests", "responses"].contains { text.starts(with: "{\"\($0)\":[".utf8) }
  }
}
