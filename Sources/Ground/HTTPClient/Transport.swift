import FerryHTTP

/// Carries requests to a server: libcurl on Linux, URLSession on Apple's systems, a false network
/// in a simulation.
public protocol Transport: Sendable {
  /// Sends a request and returns as soon as the head of the answer is there.
  ///
  /// Redirects are not followed, no answer is kept, and any status is an answer, not an error.
  /// Cancelling the task, or letting go of the response, ends the transfer. Nothing is sent twice:
  /// whether to try again is the caller's decision (`TransportError.requestWasSent`).
  func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse
}

/// A request with its whole body and how long one is ready to wait.
public struct TransportRequest: Sendable {
  /// Absolute, `http` or `https`.
  public var url: String
  /// `GET` unless set otherwise.
  public var method: HTTPMethod
  /// Names are compared without regard to case; the order is kept.
  public var headers: HTTPHeaders
  /// In memory as a whole; empty for none.
  public var body: [UInt8]
  /// A body that is not in memory, in place of `body`; nil by default.
  public var upload: TransportUpload?
  /// 10 seconds to connect and 60 without a byte, unless set otherwise.
  public var deadlines: TransportDeadlines
  /// Whether the server may compress its answer with gzip; off by default.
  ///
  /// The body is unpacked as it comes; `TransportResponse.isCompressed` says whether it was packed.
  /// Leave it off where offsets count (`Range`): they are those of the packed bytes.
  public var acceptsCompressed: Bool = false
  /// The most bytes that `TransportBody.next` returns at once: 100 KB by default, 200 KB at most.
  public var pieceBytes: Int = TransportLimits.defaultPieceBytes {
    didSet { pieceBytes = min(max(pieceBytes, 1), TransportLimits.pieceBytes) }
  }
  /// Called as bytes leave and come, on the transport's own thread: it must be quick.
  public var progress: (@Sendable (TransportProgress) -> Void)?
  /// The value of `Proxy-Authorization`, which only a proxy sees; nil by default.
  public var proxyAuthorization: String?
  /// Whether it is sent on for somebody else: no field is added, and it is repeated on another
  /// connection only where its method is safe; off by default.
  package var isForwarded: Bool = false

  /// A `GET` without a body unless set otherwise.
  public init(
    url: String, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: [UInt8] = [],
    deadlines: TransportDeadlines = TransportDeadlines()
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
    self.deadlines = deadlines
  }
}

/// How far a request and its answer have come. Bytes of heads are not counted.
public struct TransportProgress: Sendable, Equatable {
  /// Of the request's body.
  public var sentBytes: Int = 0
  /// All that is to be sent; nil where it is not known.
  public var toSendBytes: Int?
  /// Unpacked, where the answer is packed.
  public var receivedBytes: Int = 0
  /// All that is to come as the server announces it; nil where it does not, and where the answer
  /// is packed.
  public var toReceiveBytes: Int?

  /// Before anything was sent or received.
  public init() {}
}

/// How long to wait for what. All end in `TransportError.Code.timedOut`.
public struct TransportDeadlines: Sendable, Equatable {
  /// Until the connection stands, with name resolution and TLS.
  public var connect: Duration
  /// From the call to the last byte; nil for an answer that may last (an open channel).
  public var total: Duration?
  /// Between two signs of life, once connected; also from the request to the head. While the
  /// reader is slow this clock stands still.
  public var idle: Duration?
  /// From the call until the head of the answer is there; nil, the default, sets no bound of its own.
  public var head: Duration?
  /// From the call until one of the connections to the server is free for it; nil, the default, sets
  /// no bound of its own. Only libcurl looks at it.
  package var turn: Duration?

  /// 10 seconds to connect, 60 without a byte, and none for the whole.
  public init(
    connect: Duration = .seconds(10), total: Duration? = nil, idle: Duration? = .seconds(60),
    head: Duration? = nil
  ) {
    self.head = head
    self.connect = connect
    self.total = total
    self.idle = idle
  }
}

/// The head of an answer, and its body, which may still be on its way.
public struct TransportResponse: Sendable {
  /// The HTTP code, such as 200; any is an answer, not an error.
  public let status: Int
  /// As the server sent them, in their order.
  public let headers: HTTPHeaders
  /// Delivered in pieces while it arrives.
  public let body: any TransportBody

  /// Whether the body was packed with gzip on its way.
  public var isCompressed: Bool {
    headers.values("Content-Encoding").contains { $0.lowercased() != "identity" }
  }

  /// For transports, which make the answer once its head is complete.
  public init(status: Int, headers: HTTPHeaders, body: any TransportBody) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Gives a body in the pieces in which it comes. One reader at a time.
public protocol TransportBody: AnyObject, Sendable {
  /// The next bytes, never empty; nil once the body is complete.
  ///
  /// A body that ends early throws `cut`, on every further call too. At most
  /// `TransportLimits.bufferedBytes` wait to be read; beyond it the sender is slowed.
  func next() async throws(TransportError) -> [UInt8]?

  /// Ends the transfer; a waiting `next` throws `cancelled`. Letting go of the body does the same.
  func cancel()
}

extension TransportBody {
  /// The rest of the body as a whole; throws `tooLarge` instead of holding more than `limitBytes`.
  public func collect(limitBytes: Int = 64 * 1024 * 1024) async throws(TransportError) -> [UInt8] {
    var all: [UInt8] = []
    while let piece = try await next() {
      guard all.count + piece.count <= limitBytes else {
        cancel()
        throw TransportError(
          code: .tooLarge, message: "the body is larger than \(limitBytes) bytes",
          hint: "Read it piece by piece.", isTransient: false, requestWasSent: true)
      }
      all.append(contentsOf: piece)
    }
    return all
  }
}

/// What is kept in memory on the way.
public enum TransportLimits {
  /// Bytes of one body that wait to be read before the sender is slowed: enough to keep a fast
  /// line busy, and little enough for many slow readers.
  public static let bufferedBytes = 256 * 1024
  /// What `TransportRequest.pieceBytes` is where nobody sets it.
  public static let defaultPieceBytes = 100 * 1024
  /// The most that `TransportRequest.pieceBytes` can be.
  public static let pieceBytes = 200 * 1024
  /// Unpacked bytes for each packed one, beyond which an answer is taken for a bomb; text seldom
  /// reaches 50. It is looked at beyond `freelyUnpackedBytes`.
  public static let unpackedRatio = 200
  /// The lines of all heads of one answer, those of interim answers too; more ends the transfer.
  public static let headBytes = 256 * 1024
  /// Unpacked bytes that are always allowed.
  public static let freelyUnpackedBytes = 8 * 1024 * 1024
}
