/// Which texts have links, by their media type.
enum LinkText {
  /// `paths`: of a text on its way to the service, what a path at the door becomes.
  static func rewriter(
    of type: String, _ links: LinkAddress, paths: (door: String, service: String)? = nil
  ) -> (any TextRewriter)? {
    if let boundary = BatchRewriter.boundary(of: type) {
      return BatchRewriter(links, boundary: boundary, paths: paths)
    }
    let name = type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    return format(name).map { LinkRewriter(links, $0) }
  }

  static func format(_ name: String) -> LinkPlaces.Format? {
    if name == "application/json" || name.hasSuffix("+json") { return .json }
    if name == "application/xml" || name == "text/xml" || name.hasSuffix("+xml") { return .xml }
    return nil
  }
}

/// Texts that can stand in a field of a head.
enum HTTPFieldText {
  static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}
