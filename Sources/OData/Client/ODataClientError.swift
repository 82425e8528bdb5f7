import FerryHTTPClient
import FerryOData

/// Why a call to a service did not succeed, and what to do about it.
public struct ODataClientError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, with its details.
  public enum Cause: Sendable {
    /// No answer, or not all of it, came.
    case transport(TransportError)
    /// The service answered with a status that is no success.
    case http(ODataHTTPError)
    /// 412: the object at the service is not the one that was changed here.
    case conflict(ODataConflict)
    /// An answer could not be read, or a change could not be written. `htmlPage` is the code of a
    /// login page that came instead of the answer.
    case document(ODataError)
    /// The service sends elsewhere, and the address was not followed.
    case redirect(location: String)
    /// Nothing is in the cache, and the policy forbids to ask the service.
    case notCached
    /// A download cannot go on where it stopped: the bytes before and behind would be of two
    /// versions.
    case changedDownload(ODataDownloadChange)
    /// The request was taken back, or its queue has ended, before it was sent.
    case cancelled
    /// The call cannot be sent as it is: no such set, no address, no key.
    case call(String)
  }

  /// What a program decides by.
  public let cause: Cause
  /// The method and the address, without credentials.
  public let request: String
  /// What to do about it.
  public let hint: String
  /// False only where it is certain that the service saw nothing of a request. A change that may
  /// have been done is never sent again by itself.
  public let requestWasSent: Bool

  /// Whether the same call may succeed later without anything being changed.
  public var isTransient: Bool {
    switch cause {
    case .transport(let error): error.isTransient
    case .http(let error): [408, 429, 502, 503, 504].contains(error.status)
    case .conflict, .document, .redirect, .call, .notCached, .changedDownload, .cancelled: false
    }
  }

  /// What happened, without the cure.
  public var message: String {
    switch cause {
    case .transport(let error): error.message
    case .http(let error): error.description
    case .conflict: "the object at the service was changed since it was read (412)"
    case .document(let error):
      (error.place.map { "\($0): " } ?? "") + "\(error.message) [\(error.code.rawValue)]"
    case .redirect(let location): "the service redirects to \(location)"
    case .notCached: "nothing is in the cache for this address"
    case .changedDownload(let change): "the download cannot be continued: \(change.rawValue)"
    case .cancelled: "the request was cancelled before it was sent"
    case .call(let problem): problem
    }
  }

  public var description: String { "\(request): \(message); \(hint)" }

  init(_ error: TransportError, _ request: String) {
    self.init(.transport(error), request, error.hint, wasSent: error.requestWasSent)
  }

  init(_ error: ODataHTTPError, _ request: String) {
    self.init(.http(error), request, error.hint, wasSent: true)
  }

  init(_ error: ODataError, _ request: String, wasSent: Bool) {
    self.init(.document(error), request, error.hint, wasSent: wasSent)
  }

  init(call problem: String, _ request: String, hint: String) {
    self.init(.call(problem), request, hint, wasSent: false)
  }

  init(_ cause: Cause, _ request: String, _ hint: String, wasSent: Bool) {
    self.cause = cause
    self.request = request
    self.hint = hint
    requestWasSent = wasSent
  }
}

/// An answer whose status is no success: code, text, headers and body.
public struct ODataHTTPError: Sendable, CustomStringConvertible {
  /// The HTTP code, such as 404.
  public let status: Int
  /// Headers and body as they came.
  public let response: ODataResponse
  /// What the service says in OData's own form; nil where the body is none.
  public let document: ODataErrorDocument?

  init(_ response: ODataResponse) {
    status = response.status
    self.response = response
    document = try? ODataErrorDocument.read(response.body)
  }

  /// The status and what the service says of it.
  public var description: String {
    guard let document else { return "the service answered with status \(status)" }
    let code = document.code.isEmpty ? "" : " \(document.code)"
    return "the service answered with status \(status)\(code): \(document.message)"
  }

  var hint: String {
    switch status {
    case 401: "give the session credentials that the service accepts"
    case 403: "ask for the right to do this, or switch on usesCSRF"
    case 404, 410: "check the address; the object may have been deleted"
    case 405: "choose another method for the update"
    case 428: "read the object first, so that its ETag is known"
    case 408, 429, 500...: "try again later, and check the service's log"
    default: "read the message of the service"
    }
  }
}

/// A change that was refused because the object has changed at the service since it was read.
public struct ODataConflict: Sendable {
  /// What was to be written; nil for a delete.
  public let mine: ODataEntry?
  /// The object as it is at the service now; nil if it is deleted or could not be read.
  public let theirs: ODataEntry?
  /// The ETag that was sent.
  public let myETag: String?
  /// The ETag of `theirs`; send it with the entry to write over that state.
  public let theirETag: String?
}
