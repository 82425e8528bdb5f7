import FerryHTTP

/// A request to a service with its whole body.
public struct ODataRequest: Sendable {
  /// Absolute, or relative to what the one who sends it stands beside; percent-encoded.
  public var address: String
  public var method: HTTPMethod
  public var headers: HTTPHeaders
  public var body: [UInt8]

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
}

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
  public let status: Int
  public let headers: HTTPHeaders
  public let body: [UInt8]
  /// The address that answered, after redirects.
  public let address: String
  /// Whether the body was packed with gzip on its way.
  public let isCompressed: Bool

  /// Whether the status is 200 to 299.
  public var isSuccess: Bool { (200..<300).contains(status) }
  public var etag: String? { headers["ETag"] }
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
}
