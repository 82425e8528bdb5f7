import FerryOData

extension ODataSession {
  /// The request with the preferred port, and with a name and password of its address taken out.
  func prepared(_ request: ODataRequest) -> ODataRequest {
    let address = request.address
    guard let scheme = address.firstRange(of: "://") else { return request }
    let start = scheme.upperBound
    let end = address[start...].firstIndex { "/?#\\".contains($0) } ?? address.endIndex
    var authority = address[start..<end]
    var request = request
    if let at = authority.lastIndex(of: "@") {
      let parts = authority[..<at].split(
        separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      request.ownCredentials = .basic(
        user: Self.text(parts[0]), password: parts.count > 1 ? Self.text(parts[1]) : "")
      authority = authority[authority.index(after: at)...]
    }
    // The colons of an IPv6 address stand in brackets.
    let hasPort = authority.last != "]" && authority.contains(":")
    var port = ""
    if !hasPort, !authority.isEmpty, address[..<start].lowercased() == "https://",
      let preferred = options.currentDefaults?().httpsPort, preferred != 443
    {
      port = ":\(preferred)"
    }
    request.address = address[..<start] + authority + port + address[end...]
    return request
  }

  /// A percent-encoded part; a plus sign is itself there.
  private static func text(_ part: Substring) -> String {
    ODataURL.decoded(part.replacing("+", with: "%2B"))
  }
}
