/// Keeps a client that follows next links from going in circles or to a stranger.
public struct ODataNextLinks: Sendable {
  /// The address that was asked first.
  public let start: String
  private var seen: Set<String>
  /// Pages that may be followed at most.
  public let limit: Int

  /// Follows a million pages at most unless a limit is given.
  public init(start: String, limit: Int = 1_000_000) {
    self.start = start
    self.limit = limit
    seen = [start]
  }

  /// The absolute address of the next page. Throws `link` where it was followed before, leads to
  /// another host or scheme, or where the limit is reached.
  public mutating func follow(_ next: String, base: String? = nil) throws(ODataError) -> String {
    let url = ODataURL.resolved(next, base: base ?? start)
    if let origin = ODataURL.origin(url), let own = ODataURL.origin(start), origin != own {
      throw ODataError(.link, "the next link leads to \(origin), not \(own)")
    }
    guard seen.count <= limit else { throw ODataError(.link, "more than \(limit) pages") }
    guard seen.insert(url).inserted else {
      throw ODataError(.link, "the next link \(url) was followed before")
    }
    return url
  }
}
