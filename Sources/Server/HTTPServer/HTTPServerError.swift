/// Why a server could not begin to listen.
package struct HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, to decide upon.
  package struct Code: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// Another socket listens there.
    package static let portInUse = Code(rawValue: "portInUse")
    /// The system keeps that port for others, most often one below 1024.
    package static let notPermitted = Code(rawValue: "notPermitted")
    /// The address cannot be read, or no interface of this machine has it.
    package static let badAddress = Code(rawValue: "badAddress")
    /// The port is not a number from 0 to 65535.
    package static let badPort = Code(rawValue: "badPort")
    /// The process may not open as many files as the limits need.
    package static let tooFewFiles = Code(rawValue: "tooFewFiles")
    /// The certificate and the key of the server cannot be used.
    package static let badIdentity = Code(rawValue: "badIdentity")
    /// The system or the library refused for a reason given in the message.
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
