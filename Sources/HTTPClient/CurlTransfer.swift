#if canImport(Glibc)
  import CCurl
  import FerryHTTP

  /// One request on its way through libcurl.
  ///
  /// `@unchecked Sendable`: the mailbox has its own lock; everything else is touched only on the
  /// thread of `CurlThread`, between `open` and `close`, and by libcurl's callbacks, which run
  /// there too.
  final class CurlTransfer: @unchecked Sendable {
    let mailbox = Mailbox()
    private let request: TransportRequest
    private(set) var easy: UnsafeMutableRawPointer?
    private var lines: UnsafeMutablePointer<curl_slist>?
    private let reason = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var sentBytes = 0
    private var status = 0
    private var headers = HTTPHeaders()
    private(set) var lastSign = ContinuousClock.now

    init(_ request: TransportRequest) {
      self.request = request
      reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit { reason.deallocate() }

    /// What libcurl would send otherwise than it was meant.
    static func checked(
      _ request: TransportRequest
    ) throws(TransportError) -> TransportRequest {
      let isBreak: (UInt8) -> Bool = { $0 == 13 || $0 == 10 || $0 == 0 }
      let fields = request.headers.fields.flatMap { [$0.name, $0.value] }
      let texts = [request.url, request.method.rawValue] + fields
      guard !texts.contains(where: { $0.utf8.contains(where: isBreak) }) else {
        throw .invalid("the address or a header holds a line break or a zero")
      }
      return request
    }

    /// When it is given up for silence, unless something comes; nil if it may be silent.
    var idleDeadline: ContinuousClock.Instant? {
      guard let idle = request.deadlines.idle, mailbox.wasSent else { return nil }
      // While the reader is slow nothing can come.
      if mailbox.isPaused { touch() }
      return lastSign + idle
    }

    func touch() { lastSign = .now }

    /// Makes libcurl's handle; nil if there is no memory.
    func open(_ options: TransportOptions) -> UnsafeMutableRawPointer? {
      guard let easy = curl_easy_init() else { return nil }
      self.easy = easy
      setTarget(easy, options.trust)
      setBody(easy)
      for field in request.headers.fields {
        // libcurl's way to write a header without a value.
        append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
      }
      if request.headers["Content-Type"] == nil { append("Content-Type:") }
      ferry_curl_set_pointer(easy, CURLOPT_HTTPHEADER, lines)
      if request.acceptsCompressed {
        ferry_curl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "gzip")
      }
      setCallbacks(easy)
      return easy
    }

    func close() {
      if let easy { curl_easy_cleanup(easy) }
      easy = nil
      curl_slist_free_all(lines)
      lines = nil
    }

    func finish(_ code: CURLcode) {
      mailbox.end(CurlTransfer.error(code, detail: String(cString: reason), mailbox.wasSent))
    }

    private func append(_ line: String) { lines = curl_slist_append(lines, line) }

    private func setTarget(_ easy: UnsafeMutableRawPointer, _ trust: TransportOptions.Trust) {
      ferry_curl_set_text(easy, CURLOPT_URL, request.url)
      ferry_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
      ferry_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
      ferry_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
      ferry_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, reason)
      let deadlines = request.deadlines
      ferry_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, deadlines.connect.curlMilliseconds)
      if let total = deadlines.total {
        ferry_curl_set_long(easy, CURLOPT_TIMEOUT_MS, total.curlMilliseconds)
      }
      if case .file(let path) = trust { ferry_curl_set_text(easy, CURLOPT_CAINFO, path) }
      // A proxy of the environment cannot reach this machine's own loopback.
      let own = ["127.", "localhost", "[::1]"]
      let host = request.url.split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
      if own.contains(where: { host.hasPrefix($0) }) {
        ferry_curl_set_text(easy, CURLOPT_PROXY, "")
      }
    }

    private func setBody(_ easy: UnsafeMutableRawPointer) {
      if request.method == .head {
        ferry_curl_set_long(easy, CURLOPT_NOBODY, 1)
      } else if request.body.isEmpty && ![.post, .put, .patch].contains(request.method) {
        ferry_curl_set_long(easy, CURLOPT_HTTPGET, 1)
      } else {
        ferry_curl_set_long(easy, CURLOPT_POST, 1)
        ferry_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
      }
      ferry_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
      // libcurl repeats by itself a request whose kept connection dies without an answer. It cannot
      // where a body was read and cannot be read again; where there is no body, a new connection
      // leaves it no reason.
      if request.body.isEmpty && !request.method.isIdempotent {
        ferry_curl_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
      }
    }

    private func setCallbacks(_ easy: UnsafeMutableRawPointer) {
      ferry_curl_set_callbacks(
        easy, Unmanaged.passUnretained(self).toOpaque(),
        { bytes, size, count, context in
          guard let transfer = CurlTransfer.of(context) else { return 0 }
          transfer.takeLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
          return size * count
        },
        { bytes, size, count, context in
          guard let transfer = CurlTransfer.of(context) else { return 0 }
          transfer.touch()
          let isTaken = transfer.mailbox.put(
            UnsafeRawBufferPointer(start: bytes, count: size * count))
          return isTaken ? size * count : Int(CURL_WRITEFUNC_PAUSE)
        },
        { buffer, size, count, context in
          guard let transfer = CurlTransfer.of(context), let buffer else { return 0 }
          return transfer.giveBody(
            UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        },
        { context, _, _, _, _ in
          CurlTransfer.of(context)?.touch()
          CurlTransfer.of(context)?.mailbox.markSent()
          return CURL_PREREQFUNC_OK
        })
    }

    /// The thread holds the transfer while libcurl has its address.
    static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
      context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    private func giveBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
      touch()
      let count = min(buffer.count, request.body.count - sentBytes)
      request.body.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sentBytes...].prefix(count)))
      }
      sentBytes += count
      return count
    }

    /// One line of the head. An interim answer (100) is followed by another head.
    private func takeLine(_ bytes: UnsafeRawBufferPointer) {
      touch()
      let line = String(decoding: bytes.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
      if line.isEmpty {
        if status >= 200 { mailbox.putHead(status, headers) }
      } else if line.hasPrefix("HTTP/") {
        let parts = line.split(separator: " ", maxSplits: 2)
        status = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        headers = HTTPHeaders()
      } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
        let value = line[line.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        headers.add(String(line[..<colon]), String(value))
      }
    }
  }

  extension Duration {
    /// libcurl takes 0 for "no limit", so the least is 1.
    var curlMilliseconds: Int {
      let (seconds, attoseconds) = components
      return max(1, Int(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
  }
#endif
