#if canImport(Glibc)
  import CCurl
  import FerryHTTP

  /// Transport over libcurl, with one thread of its own for all transfers.
  ///
  /// The thread begins with the first request and ends when the transport and all its bodies have
  /// been let go. Connections are kept and used again.
  public final class CurlTransport: Transport {
    private let thread: CurlThread
    private let options: TransportOptions
    private let desk: TrustDesk?

    /// Starts no thread and no connection before the first request.
    public init(_ options: TransportOptions = TransportOptions()) {
      self.options = options
      thread = CurlThread(options)
      desk = options.trustListener.map(TrustDesk.init)
    }

    deinit { thread.quit() }

    public func send(
      _ request: TransportRequest
    ) async throws(TransportError) -> TransportResponse {
      try CurlTransfer.check(request)
      let isSecure = request.url.lowercased().hasPrefix("https:")
      guard let desk, isSecure else { return try await attempt(CurlTransfer(request)) }
      let server = CurlTransfer(request).server
      var pin = await desk.pin(of: server)
      while true {
        let transfer = CurlTransfer(request, pin: pin)
        do throws(TransportError) {
          return try await attempt(transfer)
        } catch {
          guard transfer.isUntrusted, !Task.isCancelled else { throw error }
          let options = self.options
          let answer = await desk.ask(server, failed: pin, problem: error.message) {
            await CurlProbe.chain(of: request.url, options, request.deadlines.connect)
          }
          guard let answer, answer != pin else { throw error }
          pin = answer
        }
      }
    }

    private func attempt(
      _ transfer: CurlTransfer
    ) async throws(TransportError) -> TransportResponse {
      transfer.resume = { [weak thread, weak transfer] in
        if let transfer { thread?.post(.goOn(transfer)) }
      }
      let head = await withTaskCancellationHandler {
        thread.post(.add(transfer))
        return await transfer.mailbox.head()
      } onCancel: {
        cancel(transfer)
      }
      let (status, headers) = try head.get()
      return TransportResponse(
        status: status, headers: headers, body: CurlBody(transfer, transport: self))
    }

    fileprivate func cancel(_ transfer: CurlTransfer) {
      transfer.mailbox.end(.cancelled(wasSent: transfer.mailbox.wasSent))
      thread.post(.remove(transfer))
    }

    fileprivate func goOn(_ transfer: CurlTransfer) { thread.post(.goOn(transfer)) }
  }

  /// A body that libcurl is receiving.
  private final class CurlBody: TransportBody {
    private let transfer: CurlTransfer
    /// Held, so that the thread lives as long as somebody reads.
    private let transport: CurlTransport

    init(_ transfer: CurlTransfer, transport: CurlTransport) {
      self.transfer = transfer
      self.transport = transport
    }

    deinit { cancel() }

    func next() async throws(TransportError) -> [UInt8]? {
      let piece = await withTaskCancellationHandler {
        await transfer.mailbox.next { transport.goOn(transfer) }
      } onCancel: {
        cancel()
      }
      return try piece.get()
    }

    func cancel() {
      if !transfer.mailbox.isOver { transport.cancel(transfer) }
    }
  }
#endif
