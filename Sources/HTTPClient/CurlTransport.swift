#if canImport(Glibc)
  import CCurl
  import FerryHTTP

  /// Transport over libcurl, with one thread of its own for all transfers.
  ///
  /// The thread begins with the first request and ends when the transport and all its bodies have
  /// been let go. Connections are kept and used again.
  public final class CurlTransport: Transport {
    private let thread: CurlThread

    public init(_ options: TransportOptions = TransportOptions()) {
      thread = CurlThread(options)
    }

    deinit { thread.quit() }

    public func send(
      _ request: TransportRequest
    ) async throws(TransportError) -> TransportResponse {
      let transfer = CurlTransfer(try CurlTransfer.checked(request))
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
