import FerryHTTP
import FerryHTTPClient
import FerryOData
import Synchronization

/// Why a download cannot go on where it stopped.
public enum ODataDownloadChange: String, Sendable, Hashable, CaseIterable {
  /// The first answer had no ETag that names exactly these bytes: another version would not show.
  case noETag = "the service gave no strong ETag"
  /// The service sent all of it, so that what is here may be of an older version.
  case notPartial = "the service sends it from the beginning"
  /// The part that came has another ETag.
  case otherETag = "the service has another version now"
  /// The part does not begin where the last one ended, or its whole has another length.
  case otherRange = "the service sends another part than was asked for"
}

/// From where a download goes on, for an app that is started again in between.
public struct ODataDownloadPoint: Sendable, Hashable {
  /// Bytes that are here already.
  public var offset: Int
  /// The strong ETag of what they belong to.
  public var etag: String
  /// The cookies of the answer, as `name=value`; nil if it set none.
  public var cookie: String?
  /// Bytes in all, if the service said so.
  public var totalBytes: Int?

  /// Take the values from an earlier download of the same address.
  public init(offset: Int, etag: String, cookie: String? = nil, totalBytes: Int? = nil) {
    self.offset = offset
    self.etag = etag
    self.cookie = cookie
    self.totalBytes = totalBytes
  }
}

/// An answer that is read piece by piece, and goes on after a break.
///
/// One reader at a time. Letting go of it ends the transfer.
public final class ODataDownload: Sendable {
  /// Bytes of a piece where none are given.
  public static let chunkBytes = TransportLimits.defaultPieceBytes
  /// The most bytes of a piece.
  public static let largestChunkBytes = TransportLimits.pieceBytes

  private struct State {
    var body: (any TransportBody)?
    var rest: [UInt8] = []
    var offset: Int
    var isComplete = false
  }

  private let session: ODataSession
  private let request: ODataRequest
  private let state: Mutex<State>
  /// Bytes of each piece but the last.
  public let chunkBytes: Int
  /// The head of the first answer.
  public let status: Int
  /// Those of the first answer, also after a break.
  public let headers: HTTPHeaders
  /// The address that answered, after redirects.
  public let address: String
  /// Bytes in all, if the service said so.
  public let totalBytes: Int?
  private let etag: String?

  fileprivate init(
    _ session: ODataSession, _ request: ODataRequest, _ response: TransportResponse,
    _ address: String, offset: Int, totalBytes: Int?, chunkBytes: Int
  ) {
    self.session = session
    self.request = request
    self.address = address
    self.totalBytes = totalBytes
    self.chunkBytes = chunkBytes
    status = response.status
    headers = response.headers
    etag = response.headers["ETag"].flatMap { $0.hasPrefix("W/") ? nil : $0 }
    state = Mutex(State(body: response.body, offset: offset))
  }

  /// Bytes that `next` has returned, counted from the beginning of the whole.
  public var currentOffset: Int { state.withLock { $0.offset } }

  /// Whether more may come.
  public var isDataAvailable: Bool { state.withLock { !$0.isComplete } }

  /// The cookies of the answer, as `name=value`; nil if it set none.
  public var cookie: String? {
    let pairs = headers.setCookies.map { String($0.prefix { $0 != ";" }) }
    return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
  }

  /// From where the download can go on later; nil where the service gave no strong ETag.
  public var point: ODataDownloadPoint? {
    etag.map {
      ODataDownloadPoint(
        offset: currentOffset, etag: $0, cookie: cookie, totalBytes: totalBytes)
    }
  }

  /// The next piece, of `chunkBytes` but for the last; nil at the end.
  ///
  /// Throws `transport` at a break. The next call goes on behind the last piece, by `Range` and
  /// `If-Range`; it throws `changedDownload` where that would mix two versions.
  public func next() async throws(ODataClientError) -> [UInt8]? {
    let name = "\(request.method) \(address)"
    while true {
      let (piece, body) = state.withLock { state -> ([UInt8]?, (any TransportBody)?) in
        if state.rest.count >= chunkBytes || state.isComplete && !state.rest.isEmpty {
          let piece = Array(state.rest.prefix(chunkBytes))
          state.rest.removeFirst(piece.count)
          state.offset += piece.count
          return (piece, nil)
        }
        return (nil, state.body)
      }
      if let piece { return piece }
      if state.withLock({ $0.isComplete }) { return nil }
      guard let body else {
        try await goOn()
        continue
      }
      do throws(TransportError) {
        let more = try await body.next()
        state.withLock { state in
          if let more { state.rest += more } else { state.isComplete = true }
        }
      } catch {
        // What is here of an unfinished piece is not asked for again, but was not given yet.
        state.withLock { $0.body = nil }
        throw ODataClientError(error, name)
      }
      let have = state.withLock { $0.offset + $0.rest.count }
      guard let totalBytes, state.withLock({ $0.isComplete }), have != totalBytes else { continue }
      state.withLock {
        $0.isComplete = false
        $0.body = nil
      }
      throw ODataClientError(
        TransportError(
          code: .cut, message: "the answer ended after \(have) of \(totalBytes) bytes",
          hint: "call next again", isTransient: true, requestWasSent: true), name)
    }
  }

  /// Ends the transfer; `point` says where it can go on.
  public func cancel() {
    let body = state.withLock { state in
      defer { state.body = nil }
      return state.body
    }
    body?.cancel()
  }

  private func goOn() async throws(ODataClientError) {
    let have = state.withLock { $0.offset + $0.rest.count }
    guard let etag else {
      throw ODataClientError(
        .changedDownload(.noETag), "\(request.method) \(address)", "load it from the beginning",
        wasSent: false)
    }
    let (response, _) = try await session.part(
      request, from: ODataDownloadPoint(offset: have, etag: etag, totalBytes: totalBytes))
    state.withLock { state in
      if let response { state.body = response.body } else { state.isComplete = true }
    }
  }
}

extension ODataSession {
  /// Begins a download that is read piece by piece, or goes on at a point.
  ///
  /// The answer comes unpacked, so that offsets count. `chunkBytes` is 100 KB by default and 200 KB
  /// at most. Throws as `open`, and `changedDownload` where the point belongs to another version.
  public func download(
    _ request: ODataRequest, from point: ODataDownloadPoint? = nil,
    chunkBytes: Int = ODataDownload.chunkBytes
  ) async throws(ODataClientError) -> ODataDownload {
    let chunk = min(max(chunkBytes, 1), ODataDownload.largestChunkBytes)
    var request = request
    request.acceptsCompressed = false
    guard let point, point.offset > 0 else {
      let (response, address) = try await open(request)
      let length = response.headers["Content-Length"].flatMap { Int($0) }
      return ODataDownload(
        self, request, response, address, offset: 0, totalBytes: length, chunkBytes: chunk)
    }
    if let cookie = point.cookie, request.headers["Cookie"] == nil {
      request.headers["Cookie"] = cookie
    }
    let (response, address) = try await part(request, from: point)
    guard let response else {
      let over = TransportResponse(status: 206, headers: ["ETag": point.etag], body: NoBody())
      return ODataDownload(
        self, request, over, address, offset: point.offset, totalBytes: point.totalBytes,
        chunkBytes: chunk)
    }
    let total = ContentRange(response.headers["Content-Range"])?.total ?? point.totalBytes
    return ODataDownload(
      self, request, response, address, offset: point.offset, totalBytes: total, chunkBytes: chunk)
  }

  /// The rest of a download; no response where there is nothing behind the point.
  fileprivate func part(
    _ request: ODataRequest, from point: ODataDownloadPoint
  ) async throws(ODataClientError) -> (TransportResponse?, String) {
    if let total = point.totalBytes, point.offset == total { return (nil, request.address) }
    var asking = request
    asking.headers["Range"] = "bytes=\(point.offset)-"
    asking.setETag(point.etag, match: .ifRange)
    let (response, address) = try await open(asking)
    let change: ODataDownloadChange?
    if response.status != 206 {
      change = .notPartial
    } else if response.headers["ETag"] != point.etag {
      change = response.headers["ETag"] == nil ? .noETag : .otherETag
    } else if let range = ContentRange(response.headers["Content-Range"]),
      range.first == point.offset,
      range.total == nil || point.totalBytes == nil || range.total == point.totalBytes
    {
      change = nil
    } else {
      change = .otherRange
    }
    guard let change else { return (response, address) }
    response.body.cancel()
    throw ODataClientError(
      .changedDownload(change), Self.name(request), "load it from the beginning", wasSent: true)
  }
}

/// `Content-Range: bytes 100-199/500` (RFC 9110, 14.4).
struct ContentRange {
  let first: Int
  let total: Int?

  init?(_ text: String?) {
    guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
    let sides = text.dropFirst(6).split(separator: "/")
    guard sides.count == 2, let start = sides[0].split(separator: "-").first.flatMap({ Int($0) })
    else { return nil }
    first = start
    total = Int(sides[1])
  }
}

private final class NoBody: TransportBody {
  func next() async throws(TransportError) -> [UInt8]? { nil }
  func cancel() {}
}
