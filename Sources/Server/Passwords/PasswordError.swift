/// Why a password could not be hashed or compared. A wrong password is no error.
package struct PasswordError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, to decide upon.
  package struct Code: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let passwordTooLong = Code(rawValue: "passwordTooLong")
    package static let saltTooShort = Code(rawValue: "saltTooShort")
    /// The stored string is not one of ours.
    package static let notAHash = Code(rawValue: "notAHash")
    /// The stored string asks for more memory or time than we give.
    package static let tooCostly = Code(rawValue: "tooCostly")
    /// The library refused, most often for want of memory.
    package static let system = Code(rawValue: "system")
  }

  package let code: Code
  package let message: String
  /// What to do about it.
  package let hint: String

  package init(code: Code, message: String, hint: String) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  package var description: String { "\(message). \(hint)" }
}
