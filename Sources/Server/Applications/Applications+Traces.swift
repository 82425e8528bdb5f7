import FerryHTTP
import FerryHTTPClient
import FerryRegistration

/// Traces of apps, sent on to whoever reads them. The server keeps none of them.
extension Applications {
  static let traceBytes: Int = 1 << 20

  func forwardTrace(_ request: HTTPRequest) async throws(ApplicationsRefusal) -> HTTPResponse {
    guard request.method == .post else {
      throw ApplicationsRefusal(.notOffered, request.method.rawValue)
    }
    let (connection, caller) = try await connection(request, nil, of: nil)
    guard let address = applications[connection.application]?.traces, let traceTransport else {
      throw ApplicationsRefusal(.notOffered, connection.application)
    }
    guard Applications.isTrace(request.body) else { throw ApplicationsRefusal(.unreadableTrace) }
    var forwarded = TransportRequest(url: address, method: .post)
    forwarded.headers["Content-Type"] = "application/xml"
    forwarded.headers["X-SUP-APPCID"] = connection.id
    if let id = request.headers["X-CorrelationID"] { forwarded.headers["X-CorrelationID"] = id }
    forwarded.body = request.body
    forwarded.deadlines.total = .seconds(30)
    let reason: String
    do throws(TransportError) {
      let response = try await traceTransport.send(forwarded)
      _ = try await response.body.collect(limitBytes: 64 << 10)
      if (200...299).contains(response.status) {
        return completed(HTTPResponse(status: response.status), caller)
      }
      reason = "it answered \(response.status)"
    } catch { reason = error.message }
    world.log.warn(
      "a trace was not taken", ("application", connection.application),
      ("connection", connection.id), ("reason", reason))
    throw ApplicationsRefusal(.traceNotTaken, retryAfterSeconds: 60)
  }

  /// Text of XML whose entities nobody can define.
  private static func isTrace(_ body: [UInt8]) -> Bool {
    guard let text = String(validating: body, as: UTF8.self), !body.contains(0) else {
      return false
    }
    return text.drop { $0.isWhitespace }.hasPrefix("<") && !text.contains("<!DOCTYPE")
  }
}
