#if canImport(Glibc)
  import CCurl
  import FerryHTTP

  /// One request on its way through libcurl.
  ///
  /// `@unchecked Sendable`: the mailbox and the outbox have their own locks; everything else is
  /// touched only on the thread of `CurlThread`, between `open` and `close`, and by libcurl's
  /// callbacks, which run there too. `failure` is written before the mailbox ends and read after.
  final class CurlTransfer: @unchecked Sendable {
    let mailbox: Mailbox
    let request: TransportRequest
    /// Host and port; empty where the address has none, which libcurl will say.
    let server: String
    /// The key that the server must show, if one was accepted.
    let pin: String?
    let outbox: Outbox?
    private(set) var easy: UnsafeMutableRawPointer?
    var lines: UnsafeMutablePointer<curl_slist>?
    var proxyLines: UnsafeMutablePointer<curl_slist>?
    private let reason = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private let begun = ContinuousClock.now
    var progress = TransportProgress()
    private var sentBytes = 0
    private var status = 0
    private var headers = HTTPHeaders()
    /// What a proxy says before there is a way to the server.
    private var isHeadOfProxy = false
    private var proxyStatus = 0
    private var isPacked = false
    private var headBytes = 0
    /// What `open` got.
    private(set) var allowedAddresses: Set<AddressKind>?
    /// The address that was not connected to, as it is of another kind.
    var refusedAddress: String?
    private(set) var lastSign = ContinuousClock.now
    private(set) var failure: CURLcode = CURLE_OK
    /// Whether it waits for the next second of the bandwidth.
    var isThrottled = false
    var bandwidth: TransportBandwidth?
    /// Called when the source of the body has more; any thread.
    var resume: @Sendable () -> Void = {}

    init(_ request: TransportRequest, pin: String? = nil) {
      self.request = request
      self.pin = pin
      let address = HTTPAddress(request.url)
      server = address.map { "\($0.host):\($0.port)" } ?? ""
      mailbox = Mailbox(pieceBytes: request.pieceBytes)
      outbox = request.upload.map(Outbox.init)
      reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit { reason.deallocate() }

    /// What libcurl would send otherwise than it was meant.
    static func check(_ request: TransportRequest) throws(TransportError) {
      let isBreak: (UInt8) -> Bool = { $0 == 13 || $0 == 10 || $0 == 0 }
      let fields = request.headers.fields.flatMap { [$0.name, $0.value] }
      let texts = [request.url, request.method.rawValue, request.proxyAuthorization ?? ""] + fields
      guard !texts.contains(where: { $0.utf8.contains(where: isBreak) }) else {
        throw .invalid("the address or a header holds a line break or a zero")
      }
    }

    /// Whether the server, and not the line, is why it failed: nothing was sent.
    var isUntrusted: Bool {
      !mailbox.wasSent
        && (failure == CURLE_PEER_FAILED_VERIFICATION || failure == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
    }

    /// Why it is given up now, if it is.
    func givenUp(_ now: ContinuousClock.Instant, isWaiting: Bool) -> TransportError? {
      let deadlines = request.deadlines
      if let total = deadlines.total, isWaiting, begun + total <= now {
        return .timedOut("all connections to \(server) stayed busy", wasSent: false)
      }
      if let turn = deadlines.turn, isWaiting, begun + turn <= now {
        return TransportError(
          code: .busy, message: "all connections to \(server) stayed busy",
          hint: "Send the request again later.", isTransient: true, requestWasSent: false)
      }
      if let head = deadlines.head, !mailbox.hasHead, begun + head <= now {
        return .timedOut("no answer began in the time allowed", wasSent: mailbox.wasSent)
      }
      guard let idle = deadlines.idle, mailbox.wasSent, !isWaiting else { return nil }
      // While the reader, the source or the bandwidth is slow nothing can come.
      if mailbox.isPaused || isThrottled || (outbox?.isAsking ?? false) { touch() }
      guard lastSign + idle <= now else { return nil }
      return .timedOut("nothing came for the time allowed between two bytes", wasSent: true)
    }

    func touch() { lastSign = .now }

    /// Makes libcurl's handle; nil if there is no memory.
    func open(_ options: TransportOptions) -> UnsafeMutableRawPointer? {
      guard let easy = curl_easy_init() else { return nil }
      self.easy = easy
      bandwidth = options.bandwidth
      allowedAddresses = options.allowedAddresses
      ferry_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, reason)
      configure(easy, options)
      setCallbacks(easy)
      return easy
    }

    func close() {
      if let easy { curl_easy_cleanup(easy) }
      easy = nil
      curl_slist_free_all(lines)
      lines = nil
      curl_slist_free_all(proxyLines)
      proxyLines = nil
      outbox?.close()
    }

    func finish(_ code: CURLcode) {
      failure = code
      if code != CURLE_OK, let text = outbox?.failure {
        return mailbox.end(.unreadableBody(text, wasSent: mailbox.wasSent))
      }
      if code != CURLE_OK, !mailbox.wasSent, let refusedAddress {
        return mailbox.end(.refusedAddress(refusedAddress, of: server))
      }
      guard code != CURLE_OK, !mailbox.wasSent, proxyStatus >= 400 else {
        return mailbox.end(
          CurlTransfer.error(code, detail: String(cString: reason), mailbox.wasSent))
      }
      // A proxy that wants credentials answers for the server, tunnel or not.
      if proxyStatus == 407 {
        mailbox.putHead(407, headers)
        return mailbox.end(nil)
      }
      mailbox.end(
        TransportError(
          code: .cannotConnect,
          message: "the proxy refused the connection with status \(proxyStatus)",
          hint: "Check the rules of the proxy.", isTransient: true, requestWasSent: false))
    }

    private func setCallbacks(_ easy: UnsafeMutableRawPointer) {
      ferry_curl_set_callbacks(
        easy, Unmanaged.passUnretained(self).toOpaque(),
        { bytes, size, count, context in
          guard let transfer = CurlTransfer.of(context) else { return 0 }
          return transfer.takeLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
            ? size * count : 0
        },
        { bytes, size, count, context in
          guard let transfer = CurlTransfer.of(context) else { return 0 }
          return transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        },
        { buffer, size, count, context in
          guard let transfer = CurlTransfer.of(context), let buffer else { return 0 }
          return transfer.giveBody(
            UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        },
        { context, _, _, _, _ in
          CurlTransfer.of(context)?.begin() == false ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
        })
    }

    /// The thread holds the transfer while libcurl has its address.
    static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
      context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The connection is open. False: it would be the second time, and the first may have been heard.
    private func begin() -> Bool {
      touch()
      if request.isForwarded, mailbox.wasSent, ![.get, .head, .options].contains(request.method) {
        return false
      }
      mailbox.markSent()
      return true
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
      touch()
      // What a proxy says beside its refusal.
      guard mailbox.wasSent else { return bytes.count }
      if let bandwidth, bandwidth.allowance(1) == 0 {
        isThrottled = true
        return Int(CURL_WRITEFUNC_PAUSE)
      }
      guard mailbox.put(bytes) else { return Int(CURL_WRITEFUNC_PAUSE) }
      bandwidth?.use(bytes.count)
      progress.receivedBytes += bytes.count
      if isPacked && isBomb {
        mailbox.end(.bomb)
        return 0
      }
      request.progress?(progress)
      return bytes.count
    }

    private var isBomb: Bool {
      guard progress.receivedBytes > TransportLimits.freelyUnpackedBytes, let easy else {
        return false
      }
      let packed = Int(ferry_curl_get_size(easy, CURLINFO_SIZE_DOWNLOAD_T))
      return progress.receivedBytes / TransportLimits.unpackedRatio > packed
    }

    private func giveBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
      touch()
      let allowed = bandwidth?.allowance(buffer.count) ?? buffer.count
      let limit = min(allowed, outbox == nil ? request.body.count - sentBytes : allowed)
      guard allowed > 0 else {
        isThrottled = true
        return Int(CURL_READFUNC_PAUSE)
      }
      let count: Int
      if let outbox {
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<limit])
        switch outbox.take(room, resume: resume) {
        case .bytes(let taken): count = taken
        case .wait: return Int(CURL_READFUNC_PAUSE)
        case .failed: return Int(CURL_READFUNC_ABORT)
        case .end:
          guard let length = request.upload?.lengthBytes, sentBytes < length else { return 0 }
          outbox.fail("the source ended after \(sentBytes) of \(length) bytes")
          return Int(CURL_READFUNC_ABORT)
        }
      } else {
        count = limit
        request.body.withUnsafeBytes {
          let part = UnsafeRawBufferPointer(rebasing: $0[sentBytes..<sentBytes + count])
          buffer.copyMemory(from: part)
        }
      }
      bandwidth?.use(count)
      sentBytes += count
      progress.sentBytes = sentBytes
      if count > 0 { request.progress?(progress) }
      return count
    }

    /// One line of the head. An interim answer (100) is followed by another head. False: the heads
    /// have become too long.
    private func takeLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
      touch()
      headBytes += bytes.count
      if headBytes > TransportLimits.headBytes {
        mailbox.end(.longHead)
        return false
      }
      let line = String(decoding: bytes.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
      if line.isEmpty {
        if status >= 200 && mailbox.wasSent { putHead() }
        if !mailbox.wasSent { proxyStatus = status }
      } else if line.hasPrefix("HTTP/") {
        let parts = line.split(separator: " ", maxSplits: 2)
        status = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        headers = HTTPHeaders()
      } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
        let value = line[line.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        headers.add(String(line[..<colon]), String(value))
      }
      return true
    }

    private func putHead() {
      let coding = headers["Content-Encoding"]?.lowercased() ?? "identity"
      isPacked = request.acceptsCompressed && coding != "identity"
      if !isPacked && request.method != .head {
        progress.toReceiveBytes = headers["Content-Length"].flatMap { Int($0) }
      }
      mailbox.putHead(status, headers)
    }
  }
#endif
