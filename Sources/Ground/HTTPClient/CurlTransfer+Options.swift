#if canImport(Glibc)
  import CCurl
  import FerryHTTP

  extension CurlTransfer {
    /// Tells libcurl what to send, where, and how.
    func configure(_ easy: UnsafeMutableRawPointer, _ options: TransportOptions) {
      ferry_curl_set_text(easy, CURLOPT_URL, request.url)
      ferry_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
      ferry_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
      let version = options.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
      ferry_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(version))
      let deadlines = request.deadlines
      ferry_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, deadlines.connect.curlMilliseconds)
      if let total = deadlines.total {
        ferry_curl_set_long(easy, CURLOPT_TIMEOUT_MS, total.curlMilliseconds)
      }
      CurlTransfer.setTrust(easy, options, pin: pin)
      CurlTransfer.setProxy(easy, options, server)
      if options.allowedAddresses != nil { setOpenSocket(easy) }
      if let path = options.socketPath {
        ferry_curl_set_text(easy, CURLOPT_UNIX_SOCKET_PATH, path)
      }
      setBody(easy)
      setLines(easy)
    }

    /// Whose certificates are good, and our own.
    static func setTrust(
      _ easy: UnsafeMutableRawPointer, _ options: TransportOptions, pin: String?
    ) {
      if case .file(let path) = options.trust { ferry_curl_set_text(easy, CURLOPT_CAINFO, path) }
      if let pin {
        // The key was accepted, whatever else the certificate says.
        ferry_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
        ferry_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
        ferry_curl_set_text(easy, CURLOPT_PINNEDPUBLICKEY, pin)
      }
      guard let identity = options.identity else { return }
      ferry_curl_set_text(easy, CURLOPT_SSLCERTTYPE, "P12")
      ferry_curl_set_text(easy, CURLOPT_KEYPASSWD, identity.password)
      identity.pkcs12.withUnsafeBytes {
        _ = ferry_curl_set_blob(easy, CURLOPT_SSLCERT_BLOB, $0.baseAddress, $0.count)
      }
    }

    static func setProxy(
      _ easy: UnsafeMutableRawPointer, _ options: TransportOptions, _ server: String
    ) {
      switch options.proxy {
      case .none: ferry_curl_set_text(easy, CURLOPT_PROXY, "")
      case .server(let host, let port):
        ferry_curl_set_text(easy, CURLOPT_PROXY, "http://\(host):\(port)")
        ferry_curl_set_text(easy, CURLOPT_NOPROXY, "")
      case .system:
        // A proxy of the environment cannot reach this machine's own loopback.
        let own = ["127.", "localhost:", "[::1]"]
        if own.contains(where: { server.hasPrefix($0) }) {
          ferry_curl_set_text(easy, CURLOPT_PROXY, "")
        }
      }
    }

    private func setBody(_ easy: UnsafeMutableRawPointer) {
      let isEmpty = request.body.isEmpty && request.upload == nil
      if request.method == .head {
        ferry_curl_set_long(easy, CURLOPT_NOBODY, 1)
      } else if isEmpty && ![.post, .put, .patch].contains(request.method) {
        ferry_curl_set_long(easy, CURLOPT_HTTPGET, 1)
      } else {
        ferry_curl_set_long(easy, CURLOPT_POST, 1)
        let length = request.upload == nil ? request.body.count : request.upload?.lengthBytes
        progress.toSendBytes = length
        ferry_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(length ?? -1))
        if length == nil { append("Transfer-Encoding: chunked") }
      }
      ferry_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
      // libcurl repeats by itself a request whose kept connection dies without an answer. It cannot
      // where a body was read and cannot be read again; where there is no body, a new connection
      // leaves it no reason.
      if request.body.isEmpty && !request.method.isIdempotent && !request.isForwarded {
        ferry_curl_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
      }
    }

    private func setLines(_ easy: UnsafeMutableRawPointer) {
      for field in request.headers.fields {
        // libcurl's way to write a header without a value.
        append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
      }
      if request.headers["Content-Type"] == nil { append("Content-Type:") }
      if request.isForwarded, request.headers["Accept"] == nil { append("Accept:") }
      ferry_curl_set_pointer(easy, CURLOPT_HTTPHEADER, lines)
      if let value = request.proxyAuthorization {
        proxyLines = curl_slist_append(nil, "Proxy-Authorization: \(value)")
        ferry_curl_set_pointer(easy, CURLOPT_PROXYHEADER, proxyLines)
      }
      ferry_curl_set_long(easy, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
      if request.acceptsCompressed {
        ferry_curl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "gzip")
      }
    }

    private func append(_ line: String) { lines = curl_slist_append(lines, line) }
  }

  extension Duration {
    /// libcurl takes 0 for "no limit", so the least is 1.
    var curlMilliseconds: Int {
      let (seconds, attoseconds) = components
      return max(1, Int(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
  }
#endif
