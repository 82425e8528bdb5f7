/// Why a server could not begin to listen.
public struct HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, to decide upon.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Another socket listens there.
    public static let portInUse = Code(rawValue: "portInUse")
    /// The system keeps that port for others, most often one below 1024.
    public static let notPermitted = Code(rawValue: "notPermitted")
    /// The address cannot be read, or no interface of this machine has it.
    public static let badAddress = Code(rawValue: "badAddress")
    /// The port is not a number from 0 to 65535.
    public static let badPort = Code(rawValue: "badPort")
    /// The process may not open as many files as the limits need.
    public static let tooFewFiles = Code(rawValue: "tooFewFiles")
    /// The certificate and the key of the server cannot be used.
    public static let badIdentity = Code(rawValue: "badIdentity")
    /// The system or the library refused for a reason given in the message.
    public static let system = Code(rawValue: "system")
  }

  public let code: Code
  public let message: String
  /// What to do about it.
  public let hint: String

  public init(code: Code, message: String, hint: String) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  public var description: String { "\(message). \(hint)" }
}
