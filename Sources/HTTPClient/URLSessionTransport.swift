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
      session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// Transfers under way end as cut.
    deinit { session.invalidateAndCancel() }

    public func send(
      _ request: TransportRequest
    ) async throws(TransportError) -> TransportResponse {
      guard let url = URL(string: request.url), let scheme = url.scheme?.lowercased(),
        scheme == "http" || scheme == "https", url.host() != nil
      else { throw .invalid("\"\(request.url)\" is no address of the web") }
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
      if !request.body.isEmpty { outgoing.httpBody = Data(request.body) }
      let task = session.dataTask(with: outgoing)
      let mailbox = Mailbox()
      delegate.watch(task, mailbox)
      let deadline = request.deadlines.total.map { total in
        Task {
          try await Task.sleep(for: total)
          mailbox.end(.timedOut("the time allowed for the whole answer is over", wasSent: true))
          task.cancel()
        }
      }
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

  /// Takes what comes for all tasks of a session, on the session's own serial queue.
  private final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let mailboxes = Mutex<[Int: Mailbox]>([:])
    private let options: TransportOptions

    init(_ options: TransportOptions) { self.options = options }

    #if canImport(Security)
      func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) {
        let space = challenge.protectionSpace
        guard case .file(let file) = options.trust,
          space.authenticationMethod == NSURLAuthenticationMethodServerTrust,
          let trust = space.serverTrust
        else { return completionHandler(.performDefaultHandling, nil) }
        if TrustedAuthorities(file: file).accepts(trust) {
          completionHandler(.useCredential, URLCredential(trust: trust))
        } else {
          completionHandler(.cancelAuthenticationChallenge, nil)
        }
      }
    #endif

    func watch(_ task: URLSessionTask, _ mailbox: Mailbox) {
      mailboxes.withLock { $0[task.taskIdentifier] = mailbox }
    }

    private func mailbox(_ task: URLSessionTask) -> Mailbox? {
      mailboxes.withLock { $0[task.taskIdentifier] }
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
      mailbox(dataTask)?.putHead(response.statusCode, headers)
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard let mailbox = mailbox(dataTask) else { return }
      // URLSession has handed it over and will not do so again, so it is kept in any case.
      if !mailbox.putAnyway(Array(data)) { dataTask.suspend() }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      let mailbox = mailboxes.withLock { $0.removeValue(forKey: task.taskIdentifier) }
      mailbox?.end(error.map(Self.translate))
    }

    private static func translate(_ error: any Error) -> TransportError {
      let text = error.localizedDescription
      guard let error = error as? URLError else {
        return TransportError(
          code: .other, message: text, hint: "see the system's reason", isTransient: false,
          requestWasSent: true)
      }
      switch error.code {
      case .badURL, .unsupportedURL: return .invalid(text)
      case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet:
        return TransportError(
          code: .cannotConnect, message: text,
          hint: "look whether the server runs and the address is right", isTransient: true,
          requestWasSent: false)
      case .timedOut: return .timedOut(text, wasSent: true)
      case .cancelled: return .cancelled(wasSent: true)
      case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired:
        return TransportError(
          code: .tls, message: text, hint: "look at the server's certificate",
          isTransient: false, requestWasSent: false)
      case .networkConnectionLost, .badServerResponse, .cannotParseResponse:
        return TransportError(
          code: .cut, message: text, hint: "ask what became of the request", isTransient: true,
          requestWasSent: true)
      default:
        return TransportError(
          code: .other, message: text, hint: "see the system's reason", isTransient: false,
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
