/// Why a takeover cannot begin: the mapping or the file is not what it must be.
package struct TakeoverError: Error, CustomStringConvertible {
  package let message: String
  package let hint: String

  init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  package var description: String { "\(message). \(hint)" }
}
