/// Why a password could not be hashed or compared. A wrong password is no error.
public struct PasswordError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, to decide upon.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let passwordTooLong = Code(rawValue: "passwordTooLong")
    public static let saltTooShort = Code(rawValue: "saltTooShort")
    /// The stored string is not one of ours.
    public static let notAHash = Code(rawValue: "notAHash")
    /// The stored string asks for more memory or time than we give.
    public static let tooCostly = Code(rawValue: "tooCostly")
    /// The library refused, most often for want of memory.
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
