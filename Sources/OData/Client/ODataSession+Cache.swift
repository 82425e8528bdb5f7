import FerryCrypto
import FerryHTTP
import FerryHTTPClient
import FerryOData

extension ODataSession {
  /// Answers a GET from the cache or from the service, as its policy says.
  func send(
    _ request: ODataRequest, _ cache: ODataDownloadCache
  ) async throws(ODataClientError) -> ODataResponse {
    let policy = request.cachePolicy ?? options.cachePolicy
    let sent = headers(of: request)
    let key = cacheKey(of: request, sent)
    let found = await cache.find(key, sent)
    let now = Int(world.clock.now.milliseconds / 1000)
    switch policy {
    case .dontLoad:
      if let found { return Self.response(found.entry, found.body) }
      throw ODataClientError(
        .notCached, Self.name(request), "load it once, or choose another policy", wasSent: false)
    case .onlyLoadIfNotCached:
      if let found { return Self.response(found.entry, found.body) }
    case .askServerIfModifiedWhenStale:
      if let found, found.entry.freshUntil > now { return Self.response(found.entry, found.body) }
    default: break
    }
    var asking = request
    // Whoever asks by an ETag of its own wants to see the 304.
    let isOwn = ["If-None-Match", "If-Modified-Since", "If-Match"].contains {
      request.headers[$0] != nil
    }
    if let found, !isOwn, policy != .doNotReadFromCache {
      if let etag = found.entry.headers["ETag"] {
        asking.headers["If-None-Match"] = etag
      } else if let date = found.entry.headers["Last-Modified"] {
        asking.headers["If-Modified-Since"] = date
      }
    }
    do throws(ODataClientError) {
      let (head, address) = try await begin(asking)
      let response = try await whole(head, address, Self.name(request))
      if response.status == 304, !isOwn, let found {
        let fresh = await cache.refresh(key, found.entry, response.headers, now: now)
        return Self.response(fresh, found.body)
      }
      // The user may be another one since a challenge.
      let own = cacheKey(of: request, sent)
      if policy != .doNotWriteToCache, !isOwn { await cache.keep(own, sent, response, now: now) }
      return response
    } catch {
      guard policy == .fallbackToCacheIfLoadFails, case .transport(let reason) = error.cause,
        reason.code != .cancelled, let found
      else { throw error }
      return Self.response(found.entry, found.body)
    }
  }

  /// What is kept of an address that was changed is no longer good.
  func forget(_ request: ODataRequest, _ cache: ODataDownloadCache) async {
    await cache.forget(cacheKey(of: request, headers(of: request)))
  }

  private static func response(
    _ entry: ODataDownloadCache.Entry, _ body: [UInt8]
  ) -> ODataResponse {
    ODataResponse(
      status: entry.status, headers: entry.headers, body: body, address: entry.address,
      isCompressed: false, isFromCache: true)
  }

  /// Who asks for what: entries of one user are never another's.
  private func cacheKey(of request: ODataRequest, _ sent: HTTPHeaders) -> String {
    var who = sent["Authorization"] ?? ""
    if who.isEmpty, let origin = HTTPAddress(request.address)?.origin {
      let credentials =
        accepted[origin]?.credentials ?? request.ownCredentials ?? options.credentials
      switch credentials {
      case .basic(let user, _): who = "user \(user)"
      case .bearer(let token): who = token
      case .cookie(let name, let value): who = "\(name)=\(value)"
      case .other(let scheme, let value): who = "\(scheme) \(value)"
      case nil: break
      }
    }
    who += "\n" + (sent["Cookie"] ?? "")
    // A digest, so that an index holds no secret.
    let digest = SHA256Digest.hash(Array(who.utf8)).prefix(16).reduce(into: "") {
      $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16)
    }
    return "\(digest) \(request.address)"
  }
}
