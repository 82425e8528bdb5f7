import Ferry
import FerryArguments
import FerryConnections
import FerryGenerator
import FerryHTTPClient
import FerryIssuers
import FerryJSON
import FerryMariaDB
import FerryOData
import FerryODataClient
import FerryOpenID
import FerryPasswords
import FerryPostgreSQL
import FerryProxy
import FerryServer
import FerryTakeover

/// An error that says what happened and what to do about it.
protocol ExplainedError: Error {
  var message: String { get }
  var hint: String { get }
  /// What a program decides by.
  var codeName: String { get }
}

extension ExplainedError {
  var codeName: String { CommandFailure.otherCode }
}

/// Why a command could not do its work, where no part below it says so.
struct CommandError: ExplainedError, CustomStringConvertible {
  let message: String
  let hint: String

  init(_ message: String, hint: String) {
    self.message = message
    self.hint = hint
  }

  var description: String { "\(message). \(hint)" }
}

/// Why a command ended without an answer, as it reports it: as text for people, and with `--json`
/// also as one object on standard output, in the shape of `ferry odata address --json`.
struct CommandFailure {
  static let otherCode = "failed"

  let code: String
  let message: String
  let hint: String
  /// In one sentence or two, for people.
  let text: String

  init(_ error: any Error) {
    let whole = "\(error)"
    guard let error = error as? any ExplainedError else {
      (code, message, hint, text) = (CommandFailure.otherCode, whole, "", whole)
      return
    }
    (code, message, hint) = (error.codeName, CommandFailure.trimmed(error.message), error.hint)
    let isPlain = whole == "\(error.message). \(error.hint)"
    text = isPlain ? CommandFailure.joined(message, hint) : whole
  }

  /// Of a part that reports by one line, the usage of the command below it where that was wrong.
  init(complaint: String, of exitCode: ExitCode) {
    code = exitCode == .usage ? UsageError.code : CommandFailure.otherCode
    let lines = complaint.split(separator: "\n", maxSplits: 1)
    message = lines.first.map(String.init) ?? ""
    hint = lines.count > 1 ? String(lines[1]) : ""
    text = complaint
  }

  /// What happened and the cure as sentences, with one mark at the end of each.
  static func joined(_ message: String, _ hint: String) -> String {
    let message = trimmed(message)
    let isEnded = message.last.map { ".?!".contains($0) } ?? true
    return [isEnded ? message : "\(message).", hint].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Texts of other programs may end with a line break.
  private static func trimmed(_ text: String) -> String {
    var text = text[...]
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }

  func json(exitCode: ExitCode) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("error")
    writer.beginObject()
    writer.field("code", code)
    writer.field("message", message)
    writer.field("hint", hint)
    writer.field("exitCode", Int64(exitCode.rawValue))
    writer.endObject()
    writer.endObject()
    return writer.text
  }
}

extension UsageError: ExplainedError {
  static let code = "usage"
  var codeName: String { UsageError.code }
}
extension ServerError: ExplainedError { var codeName: String { code.rawValue } }
extension ConnectionsError: ExplainedError {}
extension GatewayError: ExplainedError {}
extension IssuerError: ExplainedError { var codeName: String { code.rawValue } }
extension OpenIDError: ExplainedError { var codeName: String { code.rawValue } }
extension ODataError: ExplainedError { var codeName: String { code.rawValue } }
extension FerryError: ExplainedError { var codeName: String { code.rawValue } }
extension GeneratorError: ExplainedError {}
extension ODataClientError: ExplainedError {}
extension PasswordError: ExplainedError {}
extension TakeoverError: ExplainedError {}
extension PostgreSQLError: ExplainedError {}
extension MariaDBError: ExplainedError {}
extension TransportError: ExplainedError {}
