import FerryHTTP

/// What a download cache knows of its entries, as bytes: lines of fields, percent-encoded.
enum CacheIndex {
  private static let version = "ferry-downloads 1"

  static func write(_ entries: [(String, ODataDownloadCache.Entry)]) -> [UInt8] {
    var text = version + "\n"
    for (key, entry) in entries {
      var words = [
        key, entry.name, "\(entry.status)", entry.address, "\(entry.size)", "\(entry.freshUntil)",
        "\(entry.variant.count)",
      ]
      for field in entry.variant + entry.headers.fields { words += [field.name, field.value] }
      text += words.map { PercentEncoding.encode($0) }.joined(separator: " ") + "\n"
    }
    return Array(text.utf8)
  }

  /// Lines that cannot be read are passed over: what they name is loaded again.
  static func read(_ bytes: [UInt8]) -> [(String, ODataDownloadCache.Entry)] {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard lines.first == version[...] else { return [] }
    return lines.dropFirst().compactMap { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false).map {
        PercentEncoding.decode($0.utf8) ?? ""
      }
      guard words.count >= 7, let status = Int(words[2]), let size = Int(words[4]), size >= 0,
        let fresh = Int(words[5]), let variants = Int(words[6]),
        words.count.isMultiple(of: 2) == false,
        variants >= 0, variants <= (words.count - 7) / 2
      else { return nil }
      var fields: [HTTPHeaders.Field] = []
      for place in stride(from: 7, to: words.count, by: 2) {
        fields.append(HTTPHeaders.Field(name: words[place], value: words[place + 1]))
      }
      let entry = ODataDownloadCache.Entry(
        name: words[1], status: status, headers: HTTPHeaders(Array(fields[variants...])),
        variant: Array(fields[..<variants]), address: words[3], size: size, freshUntil: fresh)
      return (words[0], entry)
    }
  }
}

/// What `Cache-Control` and `Expires` say (RFC 9111).
struct CacheControl {
  private var words: [String: String] = [:]
  private let expires: Int?
  private let date: Int?

  init(_ headers: HTTPHeaders) {
    for word in headers.values("Cache-Control").joined(separator: ",").split(separator: ",") {
      let sides = word.split(separator: "=", maxSplits: 1)
      guard let name = sides.first?.filter({ $0 != " " }).lowercased() else { continue }
      words[name] = sides.count > 1 ? sides[1].filter { $0 != " " && $0 != "\"" } : ""
    }
    expires = headers["Expires"].flatMap(HTTPDate.seconds)
    date = headers["Date"].flatMap(HTTPDate.seconds)
  }

  var isNoStore: Bool { words["no-store"] != nil }

  /// Until when an answer that came now is fresh; now where nothing is said.
  func freshUntil(_ now: Int) -> Int {
    guard words["no-cache"] == nil else { return now }
    if let age = words["max-age"].flatMap({ Int($0) }) {
      let (sum, isOver) = now.addingReportingOverflow(max(0, age))
      return isOver ? Int.max : sum
    }
    guard let expires else { return now }
    return now + max(0, expires - (date ?? now))
  }
}
