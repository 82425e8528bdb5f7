import CMicroHTTPD
import FerryHTTP

/// One request and its answer.
///
/// `@unchecked Sendable`: everything is touched only on the loop's thread - by libmicrohttpd's
/// callbacks, which run inside MHD_run there, and by jobs of the loop, as its task prefers the
/// loop. After the loop has retired the exchange is over, and `finish` only looks at that.
final class Exchange: @unchecked Sendable {
  private enum Stage { case head, body, working, answered }

  let engine: Engine
  let peer: Peer
  /// Valid until the exchange is over.
  private let connection: OpaquePointer
  private let target: String
  private var stage = Stage.head
  private var method = ""
  private var isOldProtocol = false
  private var headers = HTTPHeaders()
  private var body: [UInt8] = []
  /// The most that is read of this body.
  private var bodyLimit = 0
  /// For whom what it takes up counts.
  private var caller = HTTPCaller()
  /// Whether it has taken a place among the requests.
  private var hasPlace = false
  /// The doorman's answer to a request that has no body to be kept from.
  private var refusal: HTTPResponse?
  private var bodyBegin = ContinuousClock.now
  private var response: HTTPResponse?
  private var task: Task<Void, Never>?
  private var outflow: Outflow?
  private var isSuspended = false
  private(set) var isOver = false

  init(engine: Engine, peer: Peer, connection: OpaquePointer, target: String) {
    self.engine = engine
    self.peer = peer
    self.connection = connection
    self.target = target
  }

  /// libmicrohttpd has the head, a part of the body, or all of it; false closes the connection.
  func advance(
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?,
    data: UnsafePointer<CChar>?, count: UnsafeMutablePointer<Int>
  ) -> Bool {
    switch stage {
    case .head:
      stage = .body
      self.method = method.map { String(cString: $0) } ?? ""
      isOldProtocol = version.map { String(cString: $0) } == "HTTP/1.0"
      return takeHead()
    case .body where count.pointee > 0:
      let taken = takeBody(UnsafeRawBufferPointer(start: data, count: count.pointee))
      count.pointee = 0
      return taken
    case .body:
      return start()
    case .working, .answered:
      // Only a connection that was given up comes here: an answer is queued before resuming.
      return false
    }
  }

  /// libmicrohttpd is done with the request; the connection may live on.
  func end() {
    isOver = true
    cancel()
    // The body of the answer knows its exchange: without this neither would be released.
    outflow = nil
    engine.release(bodyBytes: body.count, for: caller)
    if hasPlace { engine.release(caller) }
    hasPlace = false
    body = []
    peer.exchange = nil
  }

  /// The client has gone or is given up: whoever waits is told, and libmicrohttpd looks at it.
  func abandon() {
    peer.isGone = true
    cancel()
    resume()
  }

  /// The server stops: a stream that waits for more is told; a request is let finish.
  func drain() { outflow?.cancel() }

  var isStreaming: Bool { outflow != nil }

  private func cancel() {
    task?.cancel()
    outflow?.cancel()
  }

  func suspend() {
    isSuspended = true
    MHD_suspend_connection(connection)
  }

  func resume() {
    guard isSuspended, !isOver else { return }
    isSuspended = false
    MHD_resume_connection(connection)
    engine.needsRun = true
  }

  /// The body cannot be completed, and the client must not take it for complete.
  func abort() {
    if isOldProtocol { peer.reset() }
  }

  private func takeHead() -> Bool {
    readHeaders()
    let limits = engine.limits
    if ferry_mhd_head_bytes(connection) > limits.headBytes {
      return refuse(431, "Request Header Fields Too Large")
    }
    let lengths = headers.values("Content-Length")
    let encodings = headers.values("Transfer-Encoding")
    // "Content-Length : 5": who leaves the blank out and who leaves the field out read two requests.
    if headers.fields.contains(where: { !Exchange.isToken($0.name) || !Exchange.isPlain($0.value) })
    {
      return refuse(400, "Bad Request")
    }
    // Two ways to read where a body ends are how requests are smuggled past a proxy.
    if lengths.count + encodings.count > 1 { return refuse(400, "Bad Request") }
    if let encoding = encodings.first, encoding.lowercased() != "chunked" || isOldProtocol {
      return refuse(501, "Not Implemented")
    }
    if let length = lengths.first {
      guard let bytes = UInt64(length) else { return refuse(400, "Bad Request") }
      if bytes > UInt64(limits.bodyBytes) { return refuse(413, "Content Too Large") }
    }
    let hasBody = !encodings.isEmpty || lengths.contains { UInt64($0) != 0 }
    switch engine.doorman(makeRequest()) {
    case .take(let bytes, let by):
      bodyLimit = min(bytes, limits.bodyBytes)
      caller = by
      if caller.address == nil { caller.address = peer.account.address }
      if let full = engine.take(caller) { return refuse(full, "requests under way") }
      hasPlace = true
    case .refuse(let response):
      guard hasBody else {
        refusal = response
        break
      }
      return answerEarly(response)
    }
    if let bytes = lengths.first.flatMap({ UInt64($0) }), bytes > UInt64(bodyLimit) {
      return refuse(413, "Content Too Large")
    }
    bodyBegin = engine.now
    peer.enter(.body, until: engine.now + limits.bodyTime)
    return true
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if body.count + bytes.count > bodyLimit {
      return refuse(413, "Content Too Large")
    }
    if let full = engine.reserve(bodyBytes: bytes.count, for: caller) {
      return refuse(full, "bytes of requests under way")
    }
    body.append(contentsOf: bytes)
    let limits = engine.limits
    let earned = Duration.milliseconds(body.count * 1_000 / limits.bodyBytesPerSecond)
    peer.enter(.body, until: bodyBegin + limits.bodyTime + earned)
    return true
  }

  /// Answers before the body. libmicrohttpd does so for POST and PUT and closes; for others, which
  /// have no business with a body, a plain answer of ours does.
  private func answerEarly(_ response: HTTPResponse) -> Bool {
    guard method == "POST" || method == "PUT", case .bytes = response.body else {
      return refuse(response.status, "Refused")
    }
    var response = response
    response.headers["Connection"] = "close"
    self.response = response
    engine.linger(peer)
    return queue()
  }

  /// Whether a name of a field is one by RFC 9110.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// Whether a value of a field has no control characters: a proxy may end it at one of them.
  private static func isPlain(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  /// To whom has taken a share 429, to who finds everything taken 503; others are served.
  private func refuse(_ refusal: Shares.Refusal, _ what: String) -> Bool {
    switch refusal {
    case .own:
      refuse(
        429, "Too Many Requests",
        "This user or address has its share of \(what). Wait for the answers to them first.")
    case .all:
      refuse(
        503, "Service Unavailable", "The server has as many \(what) as it may. Come again later.")
    }
  }

  private func refuse(_ status: Int, _ reason: String, _ words: String? = nil) -> Bool {
    engine.noteRefusal(status, peer)
    peer.refuse(status, reason, words)
    engine.linger(peer)
    stage = .answered
    return false
  }

  private func readHeaders() {
    withUnsafeMutablePointer(to: &headers) { headers in
      _ = MHD_get_connection_values(
        connection, .HEADER_KIND,
        { context, _, name, value in
          guard let context, let name else { return .YES }
          context.assumingMemoryBound(to: HTTPHeaders.self).pointee.add(
            String(cString: name), value.map { String(cString: $0) } ?? "")
          return .YES
        }, headers)
    }
  }

  private func makeRequest() -> HTTPRequest {
    let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
    let query = mark.map { String(target[target.utf8.index(after: $0)...]) }
    return HTTPRequest(
      method: HTTPMethod(rawValue: method), path: String(target[..<(mark ?? target.endIndex)]),
      query: query, headers: headers, body: body, peer: peer.address,
      peerUser: peer.user)
  }

  /// The request is whole: the handler begins here and now, and often ends here too.
  private func start() -> Bool {
    stage = .working
    peer.enter(.working, until: nil)
    if let refusal {
      response = refusal
      return queue()
    }
    let request = makeRequest()
    let handler = engine.handler
    engine.tasksUnderWay.add(1, ordering: .relaxed)
    task = Task.immediate(executorPreference: engine.loop) {
      self.finish(await handler(request))
      self.engine.tasksUnderWay.subtract(1, ordering: .relaxed)
    }
    if response != nil { return queue() }
    if peer.isGone { return false }
    suspend()
    return true
  }

  private func finish(_ response: HTTPResponse) {
    guard !isOver, !peer.isGone else { return }
    self.response = response
    guard isSuspended else { return }
    if !queue() { peer.cut() }
    resume()
  }

  /// Hands the answer to libmicrohttpd, also while the connection is suspended.
  private func queue() -> Bool {
    guard let response else { return false }
    self.response = nil
    stage = .answered
    peer.enter(.writing, until: engine.now + engine.limits.writeTime)
    guard let answer = makeAnswer(response.body) else { return false }
    defer { MHD_destroy_response(answer) }
    for field in response.headers.fields {
      let name = field.name.lowercased()
      if name == "content-length" || name == "transfer-encoding" { continue }
      if MHD_add_response_header(answer, field.name, field.value) != .YES {
        // A line break in a value: the header is left out, as it would forge others.
        engine.log.error("response header refused", ("name", field.name))
      }
    }
    if engine.isDraining { MHD_add_response_header(answer, "Connection", "close") }
    return MHD_queue_response(connection, UInt32(response.status), answer) == .YES
  }

  private func makeAnswer(_ body: HTTPBody) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes) where bytes.count <= Outflow.blockBytes:
      return bytes.withUnsafeBytes { buffer in
        MHD_create_response_from_buffer(
          buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress),
          .RESPMEM_MUST_COPY)
      }
    case .bytes(let bytes):
      return makeAnswer(Outflow(exchange: self, whole: bytes), size: UInt64(bytes.count))
    case .stream(let source):
      return makeAnswer(Outflow(exchange: self, source: source), size: .max)
    }
  }

  private func makeAnswer(_ outflow: Outflow, size: UInt64) -> OpaquePointer? {
    self.outflow = outflow
    return outflow.makeAnswer(size: size)
  }
}
