/// Why no answer, or not all of it, came.
public struct TransportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, to decide upon.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// No such name, or nobody listens there.
    public static let cannotConnect = Code(rawValue: "cannotConnect")
    /// One of the request's deadlines passed.
    public static let timedOut = Code(rawValue: "timedOut")
    /// All connections that one host may have stayed in use.
    public static let busy = Code(rawValue: "busy")
    /// The connection ended before the answer did.
    public static let cut = Code(rawValue: "cut")
    /// The server's certificate is not trusted, or no common way to encrypt was found.
    public static let tls = Code(rawValue: "tls")
    /// The caller's task was cancelled, or the body let go of.
    public static let cancelled = Code(rawValue: "cancelled")
    /// The address or a header cannot be sent as it is.
    public static let invalidURL = Code(rawValue: "invalidURL")
    /// A body was larger than its reader allows.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// The body of the request could not be read to its end.
    public static let unreadableBody = Code(rawValue: "unreadableBody")
    /// What the library says, in the message.
    public static let other = Code(rawValue: "other")
  }

  /// What a program decides by.
  public let code: Code
  /// What happened, as a sentence without its end.
  public let message: String
  /// What to do about it.
  public let hint: String
  /// The same request may succeed later without anything being changed.
  public let isTransient: Bool
  /// False only where it is certain that the server saw nothing of the request.
  public let requestWasSent: Bool

  /// A transport reports as sent whatever it cannot rule out.
  public init(
    code: Code, message: String, hint: String, isTransient: Bool, requestWasSent: Bool
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.isTransient = isTransient
    self.requestWasSent = requestWasSent
  }

  public var description: String { "\(message). \(hint)" }

  static func cancelled(wasSent: Bool) -> TransportError {
    TransportError(
      code: .cancelled, message: "the transfer was cancelled", hint: "Send the request again.",
      isTransient: false, requestWasSent: wasSent)
  }

  static func invalid(_ message: String) -> TransportError {
    TransportError(
      code: .invalidURL, message: message,
      hint: "Give an address such as https://host:port/path.", isTransient: false,
      requestWasSent: false)
  }

  static func unreadableBody(_ message: String, wasSent: Bool = false) -> TransportError {
    TransportError(
      code: .unreadableBody, message: message, hint: "Check the file or the source of the body.",
      isTransient: false, requestWasSent: wasSent)
  }

  static let bomb = TransportError(
    code: .tooLarge,
    message: "the answer unpacks to more than \(TransportLimits.unpackedRatio) times its size",
    hint: "Ask for it with acceptsCompressed off, if you trust the server.", isTransient: false,
    requestWasSent: true)

  static let longHead = TransportError(
    code: .tooLarge,
    message: "the head of the answer is longer than \(TransportLimits.headBytes) bytes",
    hint: "Check the server.", isTransient: false, requestWasSent: true)

  static func refusedAddress(_ address: String, of server: String) -> TransportError {
    TransportError(
      code: .cannotConnect,
      message: "\(server) has the address \(address), and connections to it are not allowed",
      hint: "Check the name, or allow this kind of address.", isTransient: false,
      requestWasSent: false)
  }

  static func timedOut(_ message: String, wasSent: Bool) -> TransportError {
    TransportError(
      code: .timedOut, message: message, hint: "Check the server and the network.",
      isTransient: true, requestWasSent: wasSent)
  }
}
