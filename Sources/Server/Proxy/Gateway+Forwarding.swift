import FerryHTTP
import FerryHTTPClient
import FerryWorld

/// There and back.
extension Gateway {
  /// A request that may pass.
  struct Call {
    let request: HTTPRequest
    let service: Service
    let url: String
    /// Nil where nobody has to log in.
    let user: GatewayUser?
    /// `X-Forwarded-For`.
    let way: String?
    let id: CallIdentity

    var rewritesLinks: Bool { request.headers["X-SUP-BACKEND-URL"] == nil }
  }

  func forward(
    _ call: Call, _ turn: ServiceTurn, _ entry: inout AccessLog.Entry
  ) async throws(Refusal) -> HTTPResponse {
    let (request, service) = (call.request, call.service)
    if let seconds = service.breaker.secondsToWait(world.clock.moment) { throw .away(seconds) }
    var isAway: Bool?
    defer { service.breaker.note(isAway: isAway, world.clock.moment) }
    var sent = TransportRequest(url: call.url, method: request.method)
    sent.headers = fields(of: call)
    sent.deadlines = TransportDeadlines(
      connect: service.backEnd.limits.connect, idle: service.backEnd.limits.idle)
    sent.deadlines.turn = service.backEnd.limits.turn
    sent.isForwarded = true
    var upload: ForwardedBody?
    if let stream = request.bodyStream {
      switch await SmallUpload.read(request, stream, call.rewritesLinks ? service : nil) {
      case .whole(let bytes, let count):
        sent.body = bytes
        entry.receivedBytes = count
      case .stream(let body): upload = body
      case .cut: throw .failed(SmallUpload.cut, hasAborted: true)
      }
    }
    if let upload {
      let length = request.headers["Content-Length"].flatMap { Int($0) }
      let once = Once(upload)
      sent.upload = .source(lengthBytes: length) { once.take() }
    }
    let begun = world.clock.uptime
    let answer: TransportResponse
    do throws(TransportError) {
      answer = try await service.transport.send(sent)
    } catch {
      if let upload { entry.receivedBytes = upload.bytes }
      entry.fault = error.message
      isAway = Gateway.isAway(error)
      throw .failed(error, hasAborted: error.code == .unreadableBody)
    }
    isAway = false
    entry.head = world.clock.uptime - begun
    // Somebody has to see to the file; the caller can do nothing about it.
    if case .technical = service.backEnd.credentials, [401, 407].contains(answer.status) {
      throw .refusedByService
    }
    guard (200...599).contains(answer.status), answer.status != 407,
      answer.headers.values("Content-Length").count <= 1
    else { throw .strangeAnswer }
    entry.status = answer.status
    return response(answer, to: call, entry, upload, turn)
  }

  /// Whether the service is what failed; nil: this does not say.
  private static func isAway(_ error: TransportError) -> Bool? {
    switch error.code {
    case .cannotConnect, .tls: true
    // A report may be slow for one caller, and the service there for the others.
    case .timedOut: error.requestWasSent ? nil : true
    default: nil
    }
  }

  private func fields(of call: Call) -> HTTPHeaders {
    let (request, service, user, id) = (call.request, call.service, call.user, call.id)
    let backEnd = service.backEnd
    var fields = ForwardedFields.request(request.headers, without: backEnd.userHeader)
    if call.rewritesLinks, service.links != nil { fields["Accept-Encoding"] = nil }
    switch backEnd.credentials {
    case .none, .cookie: break
    case .technical(let authorization): fields.add("Authorization", authorization)
    case .own:
      if let value = request.headers["Authorization"], Gateway.isOfRequest(value) {
        fields.add("Authorization", value)
      }
    }
    var kept = cookies.own(request.headers, of: user?.name ?? "", for: backEnd.name)
    if case .cookie(let name) = backEnd.credentials,
      let own = CookieBinding.unbound(name, request.headers)
    {
      kept = kept.map { "\($0); \(own)" } ?? own
    }
    if let kept { fields.add("Cookie", kept) }
    if let header = backEnd.userHeader, let user, HTTPFieldText.isPlain(user.name) {
      fields.add(header, user.name)
    }
    fields.add("Via", ForwardedFields.via(request.headers))
    if let way = call.way { fields.add("X-Forwarded-For", way) }
    if let door { fields.add("X-Forwarded-Proto", door.hasPrefix("https") ? "https" : "http") }
    fields.add("X-CorrelationID", id.correlation)
    fields.add("traceparent", id.parent)
    fields.add("SAP-PASSPORT", id.passport)
    return fields
  }

  /// A login by NTLM or Negotiate is one of the connection, which other callers share.
  private static func isOfRequest(_ authorization: String) -> Bool {
    let scheme = authorization.prefix { $0 != " " }.lowercased()
    return scheme == "basic" || scheme == "bearer"
  }

  private func response(
    _ answer: TransportResponse, to call: Call, _ entry: AccessLog.Entry,
    _ upload: ForwardedBody?, _ turn: ServiceTurn
  ) -> HTTPResponse {
    let (request, service) = (call.request, call.service)
    var fields = ForwardedFields.answer(answer.headers)
    for line in answer.headers.values("Set-Cookie") {
      let bound = cookies.given(
        line, to: call.user?.name ?? "", by: service.backEnd.name, isSecure: isSecure)
      if let bound { fields.add("Set-Cookie", bound) }
    }
    let links = call.rewritesLinks ? service.links : nil
    if let links { fields = Gateway.rewrite(fields, links) }
    fields.add("Via", ForwardedFields.via(answer.headers))
    fields.add("X-CorrelationID", call.id.correlation)
    var rewriter: (any TextRewriter)?
    if let links, request.method != .head { rewriter = Gateway.rewriter(of: answer, links) }
    if rewriter == nil, let length = answer.headers["Content-Length"] {
      fields["Content-Length"] = length
    } else if rewriter != nil {
      // Sums of the bytes before.
      for name in ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest"] { fields[name] = nil }
    }
    return HTTPResponse(
      status: answer.status, headers: fields,
      body: .stream(
        AnswerBody(
          answer.body, rewriter: rewriter, entry: entry, upload: upload, log: log, turn: turn)))
  }

  /// Fields whose value is a link.
  private static let linkFields = ["Location", "Content-Location", "OData-EntityId", "Link"]

  private static func rewrite(_ fields: HTTPHeaders, _ links: LinkAddress) -> HTTPHeaders {
    HTTPHeaders(
      fields.fields.map { field in
        guard linkFields.contains(where: { $0.lowercased() == field.name.lowercased() }) else {
          return field
        }
        guard field.name.lowercased() == "link" else {
          return HTTPHeaders.Field(name: field.name, value: links.rewriteLink(field.value))
        }
        // `<http://…>; rel=…, <…>; rel=…`
        let parts = field.value.split(separator: "<", omittingEmptySubsequences: false)
        let rewritten = parts.enumerated().map { place, part in
          place == 0 ? String(part) : links.rewriteLink(String(part))
        }
        return HTTPHeaders.Field(name: field.name, value: rewritten.joined(separator: "<"))
      })
  }

  /// Nil for what has no links that we know, for packed bytes, and for a part of a whole, whose place
  /// is counted in the bytes before.
  private static func rewriter(
    of answer: TransportResponse, _ links: LinkAddress
  ) -> (any TextRewriter)? {
    guard answer.status != 206, answer.status != 204, answer.status != 304, !answer.isCompressed
    else { return nil }
    let type = answer.headers["Content-Type"] ?? ""
    return LinkText.rewriter(of: type, links)
  }
}

/// Gives an upload to the transport once: a body that has begun to leave is not sent again.
private final class Once: Sendable {
  private let upload: ForwardedBody
  private let isTaken = Flag()

  init(_ upload: ForwardedBody) { self.upload = upload }

  func take() -> ForwardedBody? { isTaken.set() ? upload : nil }
}
