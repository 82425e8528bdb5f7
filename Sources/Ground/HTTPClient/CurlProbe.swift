#if canImport(Glibc)
  import CCurl
  import Glibc

  /// Fetches the certificates of a server that nobody trusts: a handshake, and not a byte more.
  enum CurlProbe {
    /// Blocks for as long as a connection may take, so it runs on a thread of its own.
    static func chain(
      of url: String, _ options: TransportOptions, _ connect: Duration
    ) async -> [ServerCertificate] {
      await withCheckedContinuation { continuation in
        let work = Work {
          continuation.resume(returning: fetch(url, options, connect))
        }
        let held = Unmanaged.passRetained(work)
        var thread = pthread_t()
        let status = pthread_create(
          &thread, nil,
          { context in
            guard let context else { return nil }
            Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
            return nil
          }, held.toOpaque())
        guard status == 0 else {
          held.release()
          return continuation.resume(returning: [])
        }
        pthread_detach(thread)
      }
    }

    private final class Work {
      let run: () -> Void
      init(_ run: @escaping () -> Void) { self.run = run }
    }

    private static func fetch(
      _ url: String, _ options: TransportOptions, _ connect: Duration
    ) -> [ServerCertificate] {
      guard let easy = curl_easy_init() else { return [] }
      defer { curl_easy_cleanup(easy) }
      let transfer = CurlTransfer(TransportRequest(url: url))
      ferry_curl_set_text(easy, CURLOPT_URL, url)
      ferry_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "https")
      ferry_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
      ferry_curl_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
      ferry_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, connect.curlMilliseconds)
      ferry_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
      ferry_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
      ferry_curl_set_long(easy, CURLOPT_CERTINFO, 1)
      CurlTransfer.setProxy(easy, options, transfer.server)
      guard curl_easy_perform(easy) == CURLE_OK, let found = ferry_curl_certificates(easy) else {
        return []
      }
      var chain: [ServerCertificate] = []
      for number in 0..<Int(max(found.pointee.num_of_certs, 0)) {
        var line = found.pointee.certinfo[number]
        while let item = line {
          let text = String(cString: item.pointee.data)
          if text.hasPrefix("Cert:"), let certificate = ServerCertificate.all(pem: text).first {
            chain.append(certificate)
          }
          line = item.pointee.next
        }
      }
      return chain
    }
  }
#endif
