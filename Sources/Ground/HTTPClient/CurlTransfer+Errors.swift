#if canImport(Glibc)
  import CCurl

  extension CurlTransfer {
    /// What libcurl's code means for the caller; nil if all went well.
    static func error(_ code: CURLcode, detail: String, _ wasSent: Bool) -> TransportError? {
      if code == CURLE_OK { return nil }
      let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
      switch code {
      case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return .invalid(text)
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
        return TransportError(
          code: .cannotConnect, message: text,
          hint: "Check that the server runs and that the address is right.", isTransient: true,
          requestWasSent: false)
      case CURLE_OPERATION_TIMEDOUT: return .timedOut(text, wasSent: wasSent)
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return TransportError(
          code: .tls, message: text,
          hint:
            "Check the server's certificate; if its authority is private, trust it in the options. "
            + "Perhaps the server speaks http: then write http:// in the address.",
          isTransient: false, requestWasSent: wasSent)
      case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
        CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_ABORTED_BY_CALLBACK:
        return TransportError(
          code: .cut, message: "the connection ended before the answer did: \(text)",
          hint: wasSent
            ? "Check whether the server performed the request before you send it again."
            : "Send it again.", isTransient: true,
          requestWasSent: wasSent)
      default:
        return TransportError(
          code: .other, message: "\(text) (curl \(code.rawValue))",
          hint: "See libcurl's list of errors.", isTransient: false, requestWasSent: wasSent)
      }
    }
  }
#endif
