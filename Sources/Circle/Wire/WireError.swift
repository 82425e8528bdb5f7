/// Why bytes are not a message of this protocol.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Closed today; more may come.
  public enum Code: String, Sendable {
    /// The frame announces more than is allowed, or its kind is not known.
    case badFrame
    /// The bytes end inside a frame.
    case cutFrame
    /// The frame's content is not the message its kind promises.
    case badMessage
  }

  public let code: Code
  public let message: String
  public let hint: String

  public init(_ code: Code, _ message: String, hint: String) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  public var description: String { "\(message). \(hint)" }
}
