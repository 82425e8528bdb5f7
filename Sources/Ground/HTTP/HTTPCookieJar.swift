/// The cookies that servers gave, and which of them go with a request (RFC 6265).
///
/// A value: whoever sends requests keeps it, and copies are jars of their own. Times are seconds
/// since 1970. It is bounded: of each host and over all, the cookies used longest ago go first.
/// There is no list of public suffixes: a domain of one label, and an address of numbers, are
/// taken for the host alone.
public struct HTTPCookieJar: Sendable, Equatable {
  /// One cookie with what limits it.
  public struct Cookie: Sendable, Equatable {
    public let name: String
    public let value: String
    /// In lower case, without a leading dot.
    public let domain: String
    /// Whether it goes to `domain` alone and to no host below it.
    public let isHostOnly: Bool
    public let path: String
    /// Whether it goes over `https` only.
    public let isSecure: Bool
    /// Nil for one that ends with the jar.
    public let expires: Int?
    var created: Int
    var lastUse: Int
  }

  /// Bytes of name and value, beyond which a cookie is not taken (RFC 6265, 6.1).
  public static let cookieBytes = 4096
  /// Cookies of one domain (RFC 6265, 6.1).
  public static let cookiesPerDomain = 50
  /// Cookies in all (RFC 6265, 6.1).
  public static let cookiesInAll = 3000

  /// In the order in which they came.
  public private(set) var cookies: [Cookie] = []
  private var clock = 0

  public init() {}

  /// Takes the cookies of an answer from this address; what the address may not set is passed over.
  public mutating func take(_ headers: HTTPHeaders, from address: HTTPAddress, now: Int) {
    for line in headers.setCookies { take(line, from: address, now: now) }
  }

  /// The value of `Cookie` for a request to this address; nil if there is nothing to send.
  ///
  /// Longer paths come first, and of equal paths what came first.
  public mutating func header(for address: HTTPAddress, now: Int) -> String? {
    cookies.removeAll { $0.expires.map { $0 <= now } ?? false }
    var found: [Int] = []
    for (place, cookie) in cookies.enumerated() where cookie.goes(to: address) {
      found.append(place)
    }
    guard !found.isEmpty else { return nil }
    clock += 1
    for place in found { cookies[place].lastUse = clock }
    let sent = found.map { cookies[$0] }.sorted { left, right in
      left.path.utf8.count != right.path.utf8.count
        ? left.path.utf8.count > right.path.utf8.count : left.created < right.created
    }
    return sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  /// Forgets all cookies.
  public mutating func clear() { cookies = [] }

  private mutating func take(_ line: String, from address: HTTPAddress, now: Int) {
    clock += 1
    guard var cookie = Cookie(line, from: address, now: now, clock: clock) else { return }
    let old = cookies.firstIndex {
      $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
        && $0.isHostOnly == cookie.isHostOnly
    }
    if let old {
      // What came over https cannot be written over by who sits on the line.
      if cookies[old].isSecure && !address.isSecure { return }
      cookie.created = cookies[old].created
      cookies.remove(at: old)
    }
    if let expires = cookie.expires, expires <= now { return }
    cookies.append(cookie)
    let own = cookies.filter { $0.domain == cookie.domain }
    if own.count > Self.cookiesPerDomain { drop(own) }
    if cookies.count > Self.cookiesInAll { drop(cookies) }
  }

  private mutating func drop(_ candidates: [Cookie]) {
    guard let oldest = candidates.min(by: { $0.lastUse < $1.lastUse }) else { return }
    cookies.removeAll { $0 == oldest }
  }
}

extension HTTPCookieJar.Cookie {
  init?(_ line: String, from address: HTTPAddress, now: Int, clock: Int) {
    var parts = line.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
    let pair = parts.removeFirst()
    guard let equals = pair.firstIndex(of: "=") else { return nil }
    name = Self.trimmed(pair[..<equals])
    value = Self.trimmed(pair[pair.index(after: equals)...])
    guard !name.isEmpty,
      name.utf8.count + value.utf8.count <= HTTPCookieJar.cookieBytes,
      !line.unicodeScalars.contains(where: { $0.value < 0x20 && $0.value != 9 || $0.value == 0x7F })
    else { return nil }
    var wanted: [String: String] = [:]
    for part in parts {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = Self.trimmed(sides[0]).lowercased()
      wanted[key] = sides.count > 1 ? Self.trimmed(sides[1]) : ""
    }
    isSecure = wanted["secure"] != nil
    if isSecure && !address.isSecure { return nil }
    var own = (wanted["domain"] ?? "").lowercased()
    if own.hasPrefix(".") { own.removeFirst() }
    let isNumeric =
      address.host.hasPrefix("[") || address.host.allSatisfy { $0.isNumber || $0 == "." }
    if own.isEmpty || own == address.host {
      isHostOnly = own.isEmpty || isNumeric
      domain = address.host
    } else {
      guard !isNumeric, own.contains("."), address.host.hasSuffix("." + own) else { return nil }
      isHostOnly = false
      domain = own
    }
    let path = wanted["path"] ?? ""
    self.path = path.hasPrefix("/") ? path : Self.folder(address.path)
    if name.hasPrefix("__Host-") {
      guard isSecure, isHostOnly, self.path == "/" else { return nil }
    }
    if name.hasPrefix("__Secure-") && !isSecure { return nil }
    if let age = wanted["max-age"].flatMap({ Int($0) }) {
      let (end, isFar) = now.addingReportingOverflow(max(0, age))
      expires = isFar ? .max : end
    } else {
      expires = wanted["expires"].flatMap(HTTPDate.seconds)
    }
    created = clock
    lastUse = clock
  }

  func goes(to address: HTTPAddress) -> Bool {
    guard address.isSecure || !isSecure else { return false }
    guard address.host == domain || !isHostOnly && address.host.hasSuffix("." + domain) else {
      return false
    }
    let asked = address.path
    return asked == path
      || asked.hasPrefix(path) && (path.hasSuffix("/") || asked.dropFirst(path.count).first == "/")
  }

  /// RFC 6265, 5.1.4: up to the last slash, without it.
  private static func folder(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    var rest = Substring(text)
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return String(rest)
  }
}

extension HTTPHeaders {
  /// The lines of `Set-Cookie`, one cookie each.
  ///
  /// Some systems join them with commas. A comma begins another cookie only where a name and `=`
  /// follow it, so that the comma of a date does not.
  public var setCookies: [String] {
    values("Set-Cookie").flatMap { line -> [String] in
      var found: [String] = []
      var start = line.startIndex
      var place = line.startIndex
      while let comma = line[place...].firstIndex(of: ",") {
        place = line.index(after: comma)
        let name = line[place...].drop { $0 == " " }.prefix { $0 != "=" }
        guard name.endIndex < line.endIndex, !name.isEmpty,
          !name.contains(where: { ";, \"".contains($0) })
        else { continue }
        found.append(String(line[start..<comma]))
        start = line[place...].firstIndex { $0 != " " } ?? place
      }
      return found + [String(line[start...])]
    }
  }
}
