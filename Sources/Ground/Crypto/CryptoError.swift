/// What could not be done with a key, and what to do about it.
public struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
  public let message: String
  public let hint: String

  public init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  public var description: String { "\(message). \(hint)" }
}
