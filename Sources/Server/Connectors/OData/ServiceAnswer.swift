import FerryConnector
import FerryHTTP
import FerryHTTPClient
import FerryModel
import FerryOData
import FerryODataClient

/// What came with a success.
struct ServiceBody: Sendable {
  let headers: HTTPHeaders
  let body: [UInt8]
  /// The address that answered.
  let address: String
}

/// What a service made of one request, before anybody decides by it.
enum ServiceAnswer: Sendable {
  /// 2xx. The body is nil where it did not come to its end.
  case done(ServiceBody, hasBody: Bool)
  /// 404 or 410 of the service itself.
  case absent
  /// 412 or 428.
  case changed
  case refused(status: Int, ODataErrorDocument)
  /// Nothing was done, for certain.
  case notDone(String)
  /// It may have been done.
  case lost(String)
  /// The service itself says that it failed: it may have been done, and no more of it will come.
  case faulty(String)
  /// 401, 403 or 407 that is no word of the service about the object.
  case needsCredential

  /// Sends a request and reads the whole answer.
  static func of(_ request: ODataRequest, _ session: ODataSession) async -> ServiceAnswer {
    let opened: (response: TransportResponse, address: String)
    do throws(ODataClientError) { opened = try await session.open(request) } catch {
      return of(error)
    }
    let (response, address) = opened
    func answer(_ body: [UInt8], hasBody: Bool) -> ServiceAnswer {
      .done(
        ServiceBody(headers: response.headers, body: body, address: address), hasBody: hasBody)
    }
    do throws(TransportError) {
      let body = try await response.body.collect()
      if HTMLPage.isHTML(body) { return .lost("the service answered with a page, not with data") }
      // An error in the clothes of a success.
      if !body.isEmpty, let document = try? ODataErrorDocument.read(body) {
        return .lost("the service answered \(response.status) with an error: \(document.message)")
      }
      return answer(body, hasBody: !body.isEmpty)
    } catch {
      return request.method == .get ? .notDone(error.message) : answer([], hasBody: false)
    }
  }

  static func of(_ error: ODataClientError) -> ServiceAnswer {
    switch error.cause {
    case .http(let answer): return of(answer)
    case .conflict: return .changed
    case .transport(let failure):
      let isAway = failure.code == .cannotConnect || failure.code == .tls
      return isAway || !error.requestWasSent ? .notDone(failure.message) : .lost(failure.message)
    case .redirect, .call, .notCached, .changedDownload, .cancelled: return .notDone(error.message)
    case .document: return error.requestWasSent ? .lost(error.message) : .notDone(error.message)
    }
  }

  static func of(_ error: ODataHTTPError) -> ServiceAnswer {
    let name = "the service answered with status \(error.status)"
    switch error.status {
    case 412, 428: return .changed
    case 401, 407: return .needsCredential
    case 403: return error.document.map { .refused(status: 403, $0) } ?? .needsCredential
    case 429: return .notDone(name)
    case 503 where error.response.headers["Retry-After"] != nil: return .notDone(name)
    case 408, 500...:
      guard let document = error.document else { return .lost(name) }
      let words = "\(name): \(document.message)"
      return error.status == 500 ? .faulty(words) : .lost(words)
    case 404, 410:
      // A proxy says so too, while the service is away. Only the service knows of its objects.
      let isOfService =
        error.document != nil || error.response.headers["OData-Version"] != nil
        || error.response.headers["DataServiceVersion"] != nil
      return isOfService ? .absent : .notDone(name)
    default:
      // A page of a proxy says nothing about the object.
      return error.document.map { .refused(status: error.status, $0) } ?? .notDone(name)
    }
  }
}
