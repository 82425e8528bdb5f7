import FerryHTTPClient

/// Why a request is not passed on, or its answer is none.
enum Refusal: Error {
  case badRequest, badTarget, upgrade, method
  case unknownService, closedPath, otherAddress
  case unknownCaller, forbidden
  /// A certificate is missing, or nobody trusts it.
  case certificate
  /// In so many seconds somebody may know who the caller is.
  case nobodyToAsk(Int64)
  case later(Int64)
  /// The caller has its share of the service's connections.
  case share
  /// The service was away a moment ago; in so many seconds it is asked again.
  case away(Int64)
  case failed(TransportError, hasAborted: Bool)
  case refusedByService, strangeAnswer

  var status: Int {
    switch self {
    case .badRequest, .badTarget: 400
    case .upgrade, .method: 501
    case .unknownService: 404
    case .closedPath, .otherAddress, .forbidden, .certificate: 403
    case .unknownCaller: 401
    case .later, .share: 429
    case .away, .nobodyToAsk: 503
    case .failed(let error, hasAborted: false) where error.code == .busy: 503
    case .failed(_, hasAborted: true): 400
    case .failed(let error, _): error.code == .timedOut ? 504 : 502
    case .refusedByService, .strangeAnswer: 502
    }
  }

  /// For the caller, who learns no address behind the door.
  var text: String {
    switch self {
    case .badRequest: "The head of the request contradicts itself, or it went in a circle."
    case .badTarget: "The path of the request cannot be passed on."
    case .upgrade: "The gateway passes on no other protocol (Upgrade)."
    case .method: "The gateway does not pass on this method."
    case .unknownService: "There is no service of this name."
    case .closedPath: "This path of the service is closed."
    case .otherAddress: "X-SUP-BACKEND-URL does not name the address of this service."
    case .unknownCaller: "The name or the password is missing or wrong."
    case .certificate: "A client certificate is missing, or it is not trusted here."
    case .nobodyToAsk: "Who verifies logins cannot be reached."
    case .forbidden: "This user has no role for the service."
    case .later: "Too many wrong passwords came, or too many logins wait."
    case .share:
      "This caller has its share of requests to the service. Wait for the answers to them first."
    case .away: "The service cannot be reached."
    case .failed(_, hasAborted: true): "The body of the request did not come to its end."
    case .failed(let error, _):
      switch error.code {
      case .busy: "All connections to the service are in use."
      case .timedOut: "The service did not answer in the time allowed."
      case .cannotConnect: "The service cannot be reached."
      case .tls: "The service did not prove who it is."
      default: "The service cut its answer off."
      }
    case .refusedByService: "The service refused the gateway's own credentials."
    case .strangeAnswer: "The service gave an answer that cannot be passed on."
    }
  }

  var retryAfterSeconds: Int64? {
    switch self {
    case .later(let seconds), .away(let seconds), .nobodyToAsk(let seconds): seconds
    case .share: 2
    case .failed(let error, hasAborted: false)
    where error.code == .cannotConnect || error.code == .busy: 5
    default: nil
    }
  }
}
