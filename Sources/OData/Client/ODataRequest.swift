import FerryHTTP
import FerryHTTPClient

/// A request to a service.
public struct ODataRequest: Sendable {
  /// Absolute, or relative to the service's root where a service sends it; percent-encoded.
  ///
  /// A name and a password in it, as in `https://anna:secret@host/`, answer a challenge in place of
  /// `ODataSessionOptions.credentials`. They are not sent as a part of the address.
  public var address: String
  /// `GET` unless set otherwise.
  public var method: HTTPMethod
  /// In addition to those of the session, and in place of equal names.
  public var headers: HTTPHeaders
  /// In memory as a whole; empty for none.
  public var body: [UInt8]
  /// A body that is not in memory, in place of `body`.
  public var upload: TransportUpload?
  /// Called as bytes leave and come, on a thread of the transport. Where the body is sent again
  /// after a challenge, `sentBytes` begins at 0 again.
  public var progress: (@Sendable (TransportProgress) -> Void)?
  /// Whether the answer may come packed; nil leaves it to the session.
  public var acceptsCompressed: Bool?
  /// Nil leaves them to the session.
  public var deadlines: TransportDeadlines?
  /// The channel; nil leaves it to the session.
  public var channel: ODataChannel?
  /// How a GET uses the cache; nil leaves it to the session.
  public var cachePolicy: ODataCachePolicy?
  /// The cache of this request, in place of the session's.
  public var cache: ODataDownloadCache?
  /// Those of the address, once a session has taken them out.
  var ownCredentials: ODataCredentials?

  /// A `GET` without a body unless set otherwise.
  public init(
    _ address: String, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: [UInt8] = []
  ) {
    self.address = address
    self.method = method
    self.headers = headers
    self.body = body
  }

  /// Sets the header that makes the request depend on an ETag, in place of an earlier one.
  public mutating func setETag(_ etag: String, match: ODataETagMatch) {
    headers[match.rawValue] = etag
  }

  /// A HEAD with the same address and headers, which asks how large the answer would be.
  public var head: ODataRequest {
    var head = self
    head.method = .head
    head.body = []
    head.upload = nil
    return head
  }
}

/// How requests travel.
public enum ODataChannel: Sendable, Hashable {
  /// Straight to the service over HTTP; the default.
  case http
  /// Through the messaging channel of a gateway, which the app gives the session.
  case messaging
}

/// Carries requests through a gateway's messages in place of HTTP connections.
///
/// It has the form of a transport, so that requests are the same over both.
public protocol MessagingChannel: Transport {}

/// How a request depends on an ETag; the raw value is the name of the header.
public enum ODataETagMatch: String, Sendable, Hashable, CaseIterable {
  /// Do it only if the object is still as it was; otherwise 412.
  case ifMatch = "If-Match"
  /// Do it only if the object is not as it was: a GET answers 304.
  case ifNoneMatch = "If-None-Match"
  /// The rest of what is there in part, or all of it if it has changed.
  case ifRange = "If-Range"
}

/// An answer with its whole body.
public struct ODataResponse: Sendable {
  /// The HTTP code, such as 200; any is possible here.
  public let status: Int
  /// As they came, without regard to case of names.
  public let headers: HTTPHeaders
  /// The whole of it, unpacked; empty where the status allows none, such as 204.
  public let body: [UInt8]
  /// The address that answered, after redirects.
  public let address: String
  /// Whether the body was packed with gzip on its way.
  public let isCompressed: Bool
  /// Whether the body comes from the download cache.
  public var isFromCache: Bool = false

  /// Whether the status is 200 to 299.
  public var isSuccess: Bool { (200..<300).contains(status) }
  /// The `ETag` header with its quotes; nil where absent.
  public var etag: String? { headers["ETag"] }
  /// The body as text.
  public var text: String { String(decoding: body, as: UTF8.self) }
  /// The cookies that the answer sets, as `name=value`, separated by `; `; empty if none.
  public var cookies: String {
    headers.setCookies.map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
  }
  /// By which the service's log finds this call.
  public var correlationID: String? { headers["X-CorrelationID"] }
}

extension HTTPMethod {
  /// OData V2's change of the properties that are sent.
  public static let merge = HTTPMethod(rawValue: "MERGE")

  var isChange: Bool { ![.get, .head, .options].contains(self) }
}

/// What a session keeps within bounds.
public enum ODataClientLimits {
  /// Redirects that are followed for one request: as browsers do; more is a loop.
  public static let redirects = 20
  /// Times that one request is sent again with other credentials.
  public static let credentialTries = 3
  /// Pages without an entry that are followed in a row: a service may look through much for a
  /// rare match, but one that goes on for ever must end.
  public static let emptyPages = 1_000
  /// Bytes of an answer that is read as a whole: metadata of large services has some megabytes.
  public static let responseBytes = 64 << 20
  /// Bytes of an answer that is no success: enough for an error with its details.
  public static let errorBytes = 1 << 20
  /// Requests that wait in one queue: beyond it an app adds faster than it asks.
  public static let queuedRequests = 10_000
}
