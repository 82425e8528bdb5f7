import FerryHTTPClient

/// Why a request is not passed on, or its answer is none.
enum Refusal: Error {
  case badRequest, badTarget, upgrade, method
  case unknownService, closedPath, otherAddress
  case unknownCaller, forbidden
  case later(Int64)
  case failed(TransportError, hasAborted: Bool)
  case refusedByService, strangeAnswer

  var status: Int {
    switch self {
    case .badRequest, .badTarget: 400
    case .upgrade, .method: 501
    case .unknownService: 404
    case .closedPath, .otherAddress, .forbidden: 403
    case .unknownCaller: 401
    case .later: 429
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
    case .forbidden: "This user has no role for the service."
    case .later: "Too many wrong passwords came, or too many logins wait."
    case .failed(_, hasAborted: true): "The body of the request did not come to its end."
    case .failed(let error, _):
      switch error.code {
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
    case .later(let seconds): seconds
    case .failed(let error, _) where error.code == .cannotConnect: 5
    default: nil
    }
  }
}
