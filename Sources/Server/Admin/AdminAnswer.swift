import FerryJSON
import FerryServer

/// What the admin API answers: a status of HTTP and one JSON object.
package struct AdminAnswer: Sendable {
  package let status: Int
  package let json: [UInt8]

  package init(_ status: Int, _ json: [UInt8]) {
    self.status = status
    self.json = json
  }

  /// An object that `write` fills.
  init(_ write: (inout JSONWriter) -> Void) {
    var writer = JSONWriter(reserving: 4_096)
    writer.beginObject()
    write(&writer)
    writer.endObject()
    self.init(200, writer.bytes)
  }
}

/// Why a request of an operator is not done.
package struct AdminError: Error, Sendable {
  package let status: Int
  package let code: String
  package let message: String
  package let hint: String

  package init(_ status: Int, _ code: String, _ message: String, hint: String) {
    self.status = status
    self.code = code
    self.message = message
    self.hint = hint
  }

  init(_ error: ServerError) {
    let status =
      switch error.code {
      case .badRequest: 409
      case .wrongLogin: 401
      case .tooManyGuesses: 429
      default: 503
      }
    self.init(status, error.code.rawValue, error.message, hint: error.hint)
  }

  package var answer: AdminAnswer {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("code", code)
    writer.field("message", message)
    writer.field("hint", hint)
    writer.endObject()
    return AdminAnswer(status, writer.bytes)
  }

  static func bad(_ message: String, hint: String) -> AdminError {
    AdminError(400, "badRequest", message, hint: hint)
  }

  static func notFound(_ what: String) -> AdminError {
    AdminError(404, "notFound", "there is no \(what)", hint: "GET /admin/1/ names all that is.")
  }

  static let notReady = AdminError(
    503, "notReady", "the server has just started and serves no package yet",
    hint: "Try again in a moment.")
}
