/// Why a connections file, or what it names, cannot be used.
public struct ConnectionsError: Error, Sendable, Equatable, CustomStringConvertible {
  public let message: String
  public let hint: String

  public init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  public var description: String { "\(message). \(hint)" }
}
