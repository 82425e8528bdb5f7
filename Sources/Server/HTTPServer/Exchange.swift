import CMicroHTTPD
import FerryHTTP

/// One request and its answer.
///
/// `@unchecked Sendable`: everything is touched only on the loop's thread - by libmicrohttpd's
/// callbacks, which run inside MHD_run there, and by jobs of the loop, as its task prefers the
/// loop. After the loop has retired the exchange is over, and `finish` only looks at that.
final class Exchange: @unchecked Sendable {
  /// `headHeld`: the handler runs, and nobody has asked for the body yet.
  private enum Stage { case head, headHeld, body, working, answered }

  let engine: Engine
  let peer: Peer
  /// Valid until the exchange is over.
  private let connection: OpaquePointer
  private let target: String
  private var stage = Stage.head
  private var (method, version) = ("", "")
  private var headers = HTTPHeaders()
  private var body: [UInt8] = []
  /// Where the body goes as a stream.
  private var inflow: Inflow?
  private var bodyBytes = 0
  /// What of the server's room for bodies it has taken.
  private var reservedBytes = 0
  private var hasBody = false
  /// Since when the body waits for the handler, by the clock of its deadline.
  private var heldSince: ContinuousClock.Instant?
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
  /// Whether libmicrohttpd is in its first call, and takes an answer.
  private var isAtHead = true
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
      defer { isAtHead = false }
      self.method = method.map { String(cString: $0) } ?? ""
      self.version = version.map { String(cString: $0) } ?? ""
      return takeHead(hasWholeLines: ferry_mhd_has_whole_lines(connection, method, version) != 0)
    case _ where isSuspended:
      // libmicrohttpd calls again in the same step where more of a chunked body is there, though the
      // connection has just been suspended. What is left comes again after the resume.
      return true
    case .headHeld:
      // The first call comes again after a resume, and means no end of the body.
      stage = .body
      return true
    case .body where count.pointee > 0:
      let bytes = UnsafeRawBufferPointer(start: data, count: count.pointee)
      count.pointee = 0
      if refusal != nil { return drop(bytes.count) }
      return inflow == nil ? takeBody(bytes) : passBody(bytes)
    case .body:
      return inflow == nil ? start() : endBody()
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
    inflow?.abort()
    inflow = nil
    engine.release(bodyBytes: reservedBytes, for: caller)
    reservedBytes = 0
    if hasPlace { engine.release(caller) }
    hasPlace = false
    body = []
    peer.exchange = nil
  }

  /// The client has hung up or is given up: whoever waits is notified, and libmicrohttpd looks at it.
  func abandon() {
    peer.isGone = true
    cancel()
    inflow?.abort()
    resume()
  }

  /// The server stops: a stream that waits for more is notified; a request is let finish.
  func drain() { outflow?.cancel() }

  private func cancel() {
    task?.cancel()
    outflow?.cancel()
  }

  func suspend() {
    precondition(!isSuspended, "a connection is suspended once")
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
    if version == "HTTP/1.0" { peer.reset() }
  }

  private func takeHead(hasWholeLines: Bool) -> Bool {
    headers = HeadCheck.fields(of: connection)
    let limits = engine.limits
    let lengths = headers.values("Content-Length")
    let encodings = headers.values("Transfer-Encoding")
    hasBody = !encodings.isEmpty || lengths.contains { UInt64($0) != 0 }
    if ferry_mhd_head_bytes(connection) > limits.headBytes {
      return refuse(431, "Request Header Fields Too Large")
    }
    // "Content-Length : 5": who leaves the blank out and who leaves the field out read two requests.
    if !hasWholeLines || !HeadCheck.isWhole(headers, version) { return refuse(400, "Bad Request") }
    // Two ways to read where a body ends are how requests are smuggled past a proxy.
    if lengths.count + encodings.count > 1 { return refuse(400, "Bad Request") }
    if let encoding = encodings.first, encoding.lowercased() != "chunked" || version == "HTTP/1.0" {
      return refuse(501, "Not Implemented")
    }
    if let length = lengths.first {
      guard let bytes = UInt64(length) else { return refuse(400, "Bad Request") }
      if bytes > UInt64(Int.max) { return refuse(413, "Content Too Large") }
    }
    var isStream = false
    switch engine.doorman(makeRequest()) {
    case .take(let bytes, let by):
      bodyLimit = min(bytes, limits.bodyBytes)
      caller = by
    case .stream(let bytes, let by):
      bodyLimit = bytes
      caller = by
      isStream = hasBody
    case .refuse(let response):
      guard hasBody else {
        refusal = response
        break
      }
      return answerEarly(response)
    }
    if refusal == nil {
      if caller.address == nil { caller.address = peer.account.address }
      if let full = engine.take(caller) { return refuse(full, "requests under way") }
      hasPlace = true
    }
    if let bytes = lengths.first.flatMap({ UInt64($0) }), bytes > UInt64(bodyLimit) {
      return refuse(413, "Content Too Large")
    }
    bodyBegin = engine.now
    peer.enter(.body, until: engine.now + limits.bodyTime)
    return isStream ? startStream() : true
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if body.count + bytes.count > bodyLimit {
      return refuse(413, "Content Too Large")
    }
    if let full = engine.reserve(bodyBytes: bytes.count, for: caller) {
      return refuse(full, "bytes of requests under way")
    }
    reservedBytes += bytes.count
    body.append(contentsOf: bytes)
    bodyBytes = body.count
    awaitBody()
    return true
  }

  /// The deadline of the body, by what has come of it.
  private func awaitBody() {
    let limits = engine.limits
    let earned = Duration.milliseconds(bodyBytes * 1_000 / limits.bodyBytesPerSecond)
    peer.enter(.body, until: bodyBegin + limits.bodyTime + earned)
  }

  /// The handler begins at the head. Until it asks for the body, the connection is held, and a client
  /// that expects 100 gets it no earlier.
  private func startStream() -> Bool {
    if let full = engine.reserve(bodyBytes: Inflow.fullBytes, for: caller) {
      return refuse(full, "bytes of requests under way")
    }
    reservedBytes = Inflow.fullBytes
    let loop = engine.loop
    let inflow = Inflow { [weak self] in
      // Any thread; an exchange that is over has nothing to go on with.
      guard let self else { return }
      Task(executorPreference: loop) { self.goOn() }
    }
    self.inflow = inflow
    run(makeRequest(body: RequestBody(inflow)))
    if response != nil, answersAtHead { return closeEarly() }
    if peer.isGone { return false }
    guard response == nil, inflow.holdHead() else { return true }
    stage = .headHeld
    hold()
    return true
  }

  /// libmicrohttpd answers these before their body; others only behind it.
  private var answersAtHead: Bool { method == "POST" || method == "PUT" }
  var isHead: Bool { method == "HEAD" }

  private func closeEarly() -> Bool {
    response?.headers["Connection"] = "close"
    engine.linger(peer)
    return queue()
  }

  private func passBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= bodyLimit - bodyBytes else {
      inflow?.abort()
      return refuse(413, "Content Too Large")
    }
    bodyBytes += bytes.count
    awaitBody()
    if inflow?.put(bytes) == true { hold() }
    return true
  }

  private func endBody() -> Bool {
    stage = .working
    peer.enter(.working, until: nil)
    inflow?.finish()
    if response != nil { return queue() }
    if peer.isGone { return false }
    suspend()
    return true
  }

  /// The client is not to blame for what the handler takes.
  private func hold() {
    heldSince = .now
    peer.enter(.working, until: nil)
    suspend()
  }

  /// The handler wants more, or nothing more. On the loop's thread.
  private func goOn() {
    guard !isOver, let since = heldSince else { return }
    heldSince = nil
    bodyBegin += since.duration(to: .now)
    awaitBody()
    resume()
  }

  /// Answers before the body. libmicrohttpd does so for POST and PUT and closes; for others, which
  /// have no business with a body, a plain answer of ours does, or over TLS one behind the body.
  private func answerEarly(_ response: HTTPResponse) -> Bool {
    guard case .bytes(let words) = response.body else {
      return refuse(response.status, "Refused")
    }
    guard answersAtHead else {
      guard engine.isSecure else {
        return refuse(
          response.status, "Refused", String(decoding: words, as: UTF8.self), response.headers)
      }
      refusal = response
      bodyLimit = engine.limits.bodyBytes
      bodyBegin = engine.now
      awaitBody()
      return true
    }
    self.response = response
    return closeEarly()
  }

  /// A body that is thrown away, as its refusal comes behind it.
  private func drop(_ count: Int) -> Bool {
    bodyBytes += count
    awaitBody()
    return bodyBytes <= bodyLimit
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

  private func refuse(
    _ status: Int, _ reason: String, _ words: String? = nil, _ fields: HTTPHeaders = [:]
  ) -> Bool {
    engine.noteRefusal(status, peer)
    if engine.isSecure, isAtHead, answersAtHead || !hasBody {
      // Nothing is written past TLS.
      var refusal = HTTPResponse.text(status, "\(words ?? reason)\n")
      if status == 429 || status == 503 {
        refusal.headers["Retry-After"] = String(Peer.retryAfterSeconds)
      }
      response = refusal
      return closeEarly()
    }
    peer.refuse(status, reason, words, fields)
    engine.linger(peer)
    stage = .answered
    return false
  }

  private func makeRequest(body stream: RequestBody? = nil) -> HTTPRequest {
    let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
    let query = mark.map { String(target[target.utf8.index(after: $0)...]) }
    var request = HTTPRequest(
      method: HTTPMethod(rawValue: method), path: String(target[..<(mark ?? target.endIndex)]),
      query: query, headers: headers, body: body, peer: peer.address,
      peerUser: peer.user)
    request.bodyStream = stream
    if engine.asksForCertificates { request.clientCertificate = peer.certificate(on: connection) }
    return request
  }

  /// The request is whole: the handler begins here and now, and often ends here too.
  private func start() -> Bool {
    stage = .working
    peer.enter(.working, until: nil)
    if let refusal {
      response = refusal
      return queue()
    }
    run(makeRequest())
    if response != nil { return queue() }
    if peer.isGone { return false }
    suspend()
    return true
  }

  private func run(_ request: HTTPRequest) {
    let handler = engine.handler
    engine.tasksUnderWay.add(1, ordering: .relaxed)
    task = Task.immediate(executorPreference: engine.loop) {
      self.finish(await handler(request))
      self.engine.tasksUnderWay.subtract(1, ordering: .relaxed)
    }
  }

  private func finish(_ response: HTTPResponse) {
    guard !isOver, !peer.isGone else { return }
    self.response = response
    switch stage {
    case .working where isSuspended:
      if !queue() { peer.cut() }
      resume()
    case .headHeld where answersAtHead:
      heldSince = nil
      if !closeEarly() { peer.cut() }
      resume()
    case .headHeld: goOn()
    default: break  // libmicrohttpd asks for it at once, or behind the body.
    }
  }

  /// Hands the answer to libmicrohttpd, also while the connection is suspended.
  private func queue() -> Bool {
    guard let response else { return false }
    self.response = nil
    stage = .answered
    peer.enter(.writing, until: engine.now + engine.limits.writeTime)
    guard let (answer, outflow) = AnswerMaker.make(response, for: self) else { return false }
    self.outflow = outflow
    defer { MHD_destroy_response(answer) }
    return MHD_queue_response(connection, UInt32(response.status), answer) == .YES
  }
}
