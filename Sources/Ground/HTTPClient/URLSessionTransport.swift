#if canImport(Darwin)
  import FerryHTTP
  import Foundation
  import Synchronization

  /// Transport over URLSession, for Apple's systems: their proxies, VPNs, trust and App Transport
  /// Security apply.
  ///
  /// `total` stands in each request's task; `connect` has no counterpart: `idle` covers it.
  public final class URLSessionTransport: Transport {
    private let delegate: SessionDelegate
    private let session: URLSession

    public init(_ options: TransportOptions = TransportOptions()) {
      delegate = SessionDelegate(options)
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.httpMaximumConnectionsPerHost = max(1, options.connectionsPerHost)
      switch options.proxy {
      case .system: break
      case .none: configuration.connectionProxyDictionary = [:]
      case .server(let host, let port):
        configuration.connectionProxyDictionary = [
          "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
          "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
        ]
      }
      session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// Transfers under way end as cut.
    deinit { session.invalidateAndCancel() }

    public func send(
      _ request: TransportRequest
    ) async throws(TransportError) -> TransportResponse {
      guard let url = URL(string: request.url), let scheme = url.scheme?.lowercased(),
        scheme == "http" || scheme == "https", url.host() != nil
      else { throw .invalid("\"\(request.url)\" is not a web address") }
      var outgoing = URLRequest(url: url)
      outgoing.httpMethod = request.method.rawValue
      outgoing.cachePolicy = .reloadIgnoringLocalCacheData
      outgoing.timeoutInterval = request.deadlines.idle.map(\.seconds) ?? .greatestFiniteMagnitude
      for field in request.headers.fields {
        outgoing.addValue(field.value, forHTTPHeaderField: field.name)
      }
      // URLSession asks for gzip by itself where nobody says otherwise.
      if request.headers["Accept-Encoding"] == nil {
        outgoing.setValue(
          request.acceptsCompressed ? "gzip" : "identity", forHTTPHeaderField: "Accept-Encoding")
      }
      let task: URLSessionDataTask
      if let upload = request.upload {
        if let path = upload.path {
          task = session.uploadTask(with: outgoing, fromFile: URL(fileURLWithPath: path))
        } else {
          if let length = upload.lengthBytes {
            outgoing.setValue("\(length)", forHTTPHeaderField: "Content-Length")
          }
          task = session.uploadTask(withStreamedRequest: outgoing)
        }
      } else {
        if !request.body.isEmpty { outgoing.httpBody = Data(request.body) }
        task = session.dataTask(with: outgoing)
      }
      let mailbox = Mailbox(pieceBytes: request.pieceBytes)
      delegate.watch(task, SessionTransfer(request, mailbox))
      let deadline = request.deadlines.total.map { total in
        Task {
          try await Task.sleep(for: total)
          mailbox.end(.timedOut("the time allowed for the whole answer is over", wasSent: true))
          task.cancel()
        }
      }
      let untilHead = request.deadlines.head.map { head in
        Task {
          try await Task.sleep(for: head)
          guard !mailbox.hasHead else { return }
          mailbox.end(.timedOut("no answer began in the time allowed", wasSent: true))
          task.cancel()
        }
      }
      defer { untilHead?.cancel() }
      let body = SessionBody(mailbox, task, transport: self, deadline: deadline)
      let head = await withTaskCancellationHandler {
        task.resume()
        return await mailbox.head()
      } onCancel: {
        body.cancel()
      }
      let (status, headers) = try head.get()
      return TransportResponse(status: status, headers: headers, body: body)
    }
  }

  private final class SessionBody: TransportBody {
    private let mailbox: Mailbox
    private let task: URLSessionDataTask
    /// Held, as letting go of the transport ends its transfers.
    private let transport: URLSessionTransport
    private let deadline: Task<Void, any Error>?

    init(
      _ mailbox: Mailbox, _ task: URLSessionDataTask, transport: URLSessionTransport,
      deadline: Task<Void, any Error>?
    ) {
      self.mailbox = mailbox
      self.task = task
      self.transport = transport
      self.deadline = deadline
    }

    deinit { cancel() }

    func next() async throws(TransportError) -> [UInt8]? {
      let piece = await withTaskCancellationHandler {
        await mailbox.next { task.resume() }
      } onCancel: {
        cancel()
      }
      return try piece.get()
    }

    func cancel() {
      deadline?.cancel()
      guard !mailbox.isOver else { return }
      // What a task of URLSession has written cannot be asked.
      mailbox.end(.cancelled(wasSent: true))
      task.cancel()
    }
  }

  /// What belongs to one task; `progress` is touched on the session's own serial queue only.
  private final class SessionTransfer: @unchecked Sendable {
    let request: TransportRequest
    let mailbox: Mailbox
    var progress = TransportProgress()
    var isPacked = false

    init(_ request: TransportRequest, _ mailbox: Mailbox) {
      self.request = request
      self.mailbox = mailbox
    }
  }

  /// Takes what comes for all tasks of a session, on the session's own serial queue.
  private final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: SessionTransfer]>([:])
    private let options: TransportOptions
    #if canImport(Security)
      private let judge: ServerJudge
    #endif

    init(_ options: TransportOptions) {
      self.options = options
      #if canImport(Security)
        judge = ServerJudge(options)
      #endif
    }

    #if canImport(Security)
      func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
          @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) {
        judge.answer(challenge, completionHandler)
      }

      func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
      ) {
        guard let upload = transfer(task)?.request.upload else { return completionHandler(nil) }
        completionHandler(BodyStream.open(upload))
      }
    #endif

    /// A proxy that wants credentials gets those of the request; everything else is an answer.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard challenge.protectionSpace.proxyType != nil, challenge.previousFailureCount == 0,
        let value = transfer(task)?.request.proxyAuthorization, value.hasPrefix("Basic "),
        let bytes = Data(base64Encoded: String(value.dropFirst(6)))
      else { return completionHandler(.performDefaultHandling, nil) }
      let pair = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1)
      guard pair.count == 2 else { return completionHandler(.performDefaultHandling, nil) }
      let credential = URLCredential(
        user: String(pair[0]), password: String(pair[1]), persistence: .none)
      completionHandler(.useCredential, credential)
    }

    func watch(_ task: URLSessionTask, _ transfer: SessionTransfer) {
      transfers.withLock { $0[task.taskIdentifier] = transfer }
    }

    private func transfer(_ task: URLSessionTask) -> SessionTransfer? {
      transfers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
      totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
      options.bandwidth?.use(Int(bytesSent))
      guard let transfer = transfer(task) else { return }
      transfer.progress.sentBytes = Int(totalBytesSent)
      transfer.progress.toSendBytes =
        totalBytesExpectedToSend > 0 ? Int(totalBytesExpectedToSend) : nil
      transfer.request.progress?(transfer.progress)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
      guard let response = response as? HTTPURLResponse else { return completionHandler(.cancel) }
      var headers = HTTPHeaders()
      for (name, value) in response.allHeaderFields {
        headers.add("\(name)", "\(value)")
      }
      guard let transfer = transfer(dataTask) else { return completionHandler(.cancel) }
      let coding = headers["Content-Encoding"]?.lowercased() ?? "identity"
      transfer.isPacked = coding != "identity"
      if !transfer.isPacked && response.expectedContentLength >= 0 {
        transfer.progress.toReceiveBytes = Int(response.expectedContentLength)
      }
      transfer.mailbox.putHead(response.statusCode, headers)
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard let transfer = transfer(dataTask) else { return }
      transfer.progress.receivedBytes += data.count
      let unpacked = transfer.progress.receivedBytes
      if transfer.isPacked, unpacked > TransportLimits.freelyUnpackedBytes,
        unpacked / TransportLimits.unpackedRatio > Int(dataTask.countOfBytesReceived)
      {
        transfer.mailbox.end(.bomb)
        return dataTask.cancel()
      }
      transfer.request.progress?(transfer.progress)
      // URLSession has handed it over and will not do so again, so it is kept in any case.
      guard transfer.mailbox.putAnyway(Array(data)) else { return dataTask.suspend() }
      guard let bandwidth = options.bandwidth else { return }
      bandwidth.use(data.count)
      guard bandwidth.isThrottled else { return }
      dataTask.suspend()
      Task {
        while bandwidth.isThrottled { try? await Task.sleep(for: .milliseconds(100)) }
        dataTask.resume()
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
      transfer?.mailbox.end(error.map(Self.translate))
    }

    private static func translate(_ error: any Error) -> TransportError {
      let text = error.localizedDescription
      guard let error = error as? URLError else {
        return TransportError(
          code: .other, message: text, hint: "See the system's reason.", isTransient: false,
          requestWasSent: true)
      }
      switch error.code {
      case .badURL, .unsupportedURL: return .invalid(text)
      case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet:
        return TransportError(
          code: .cannotConnect, message: text,
          hint: "Check that the server runs and that the address is right.", isTransient: true,
          requestWasSent: false)
      case .timedOut: return .timedOut(text, wasSent: true)
      case .cancelled: return .cancelled(wasSent: true)
      case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired:
        return TransportError(
          code: .tls, message: text,
          hint: "Check the server's certificate. Perhaps the server speaks http: then write "
            + "http:// in the address.",
          isTransient: false, requestWasSent: false)
      case .networkConnectionLost, .badServerResponse, .cannotParseResponse:
        return TransportError(
          code: .cut, message: text,
          hint: "Check whether the server performed the request before you send it again.",
          isTransient: true,
          requestWasSent: true)
      default:
        return TransportError(
          code: .other, message: text, hint: "See the system's reason.", isTransient: false,
          requestWasSent: true)
      }
    }
  }

  extension Duration {
    fileprivate var seconds: Double {
      Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
  }
#endif
