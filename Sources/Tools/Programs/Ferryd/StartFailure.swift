/// Why the server did not start.
struct StartFailure: Error, CustomStringConvertible {
  let message: String
  let hint: String

  init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  var description: String {
    message.hasSuffix(".") || message.hasSuffix("?") ? "\(message) \(hint)" : "\(message). \(hint)"
  }
}
