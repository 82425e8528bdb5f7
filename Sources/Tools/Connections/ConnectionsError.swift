/// Why a connections file, or what it names, cannot be used.
package struct ConnectionsError: Error, Sendable, Equatable, CustomStringConvertible {
  package let message: String
  package let hint: String

  package init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  package var description: String { "\(message). \(hint)" }
}
