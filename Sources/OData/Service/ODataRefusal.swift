import FerryOData
import FerryODataAddress

/// Why a request is not answered as it was asked, with the cure.
package struct ODataRefusal: Error, Sendable, Equatable {
  package var status: Int
  /// A word for programs, such as `preconditionFailed`.
  package var code: String
  /// What happened, and what to do.
  package var message: String
  /// The property or the part of the address that it is about.
  package var target: String?
  package var details: [ODataErrorDocument.Detail] = []
  package var innerError: [String: String] = [:]
  /// Headers of the answer, such as `Retry-After`.
  package var headers: [String: String] = [:]

  package init(_ status: Int, _ code: String, _ message: String, target: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.target = target
  }

  /// A fault of an address or a body. `start`: characters before the part of the address that the
  /// client has chosen, which count for no column.
  init(_ error: ODataError, isBody: Bool = false, start: Int = 0) {
    let path = error.place?.path ?? ""
    let place = error.place.map { place in
      isBody
        ? " (line \(place.line), column \(place.column))"
        : " (column \(max(1, place.column - start)) behind the root)"
    }
    var status = 400
    switch error.code {
    case .notOffered: status = 501
    case .unknownName where !isBody && (path.isEmpty || path == "path"): status = 404
    case .limit where isBody: status = 413
    default: break
    }
    self.init(
      status, error.code.rawValue, "\(error.message)\(place ?? ""). Cure: \(error.hint).",
      target: path.isEmpty || path == "path" ? nil : path)
  }

  static func notFound(_ what: String) -> ODataRefusal {
    ODataRefusal(
      404, "notFound", "\(what) is not there, or is not yours. Read the set to see what is.")
  }

  static func notOffered(_ what: String) -> ODataRefusal {
    ODataRefusal(501, "notOffered", "\(what) is not offered by this service.", target: what)
  }

  /// The document that tells it.
  package var document: ODataErrorDocument {
    var document = ODataErrorDocument(code: code, message: message)
    document.target = target
    document.details = details
    document.innerError = innerError
    return document
  }
}
