/// What MariaDB answered, or why it did not, when something was asked of it.
package struct MariaDBError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where the request ended.
  package enum Kind: Sendable, Equatable {
    /// The address cannot be used; nothing was asked.
    case address
    /// There is no connection, or it was lost on the way.
    case connection
    /// The server answered with an error.
    case server
  }

  package let kind: Kind
  /// The server's number of the error; 0 where the server did not answer.
  package let number: Int
  /// Five characters; empty where the server did not answer.
  package let sqlState: String
  /// The server's own sentence, or what happened to the connection.
  package let message: String
  /// Our advice; empty where there is none.
  package let hint: String

  package init(
    _ kind: Kind, number: Int = 0, sqlState: String = "", message: String, hint: String = ""
  ) {
    self.kind = kind
    self.number = number
    self.sqlState = sqlState
    self.message = message
    self.hint = hint
  }

  /// The first two characters of `sqlState`; empty where there is none.
  package var stateClass: String { String(sqlState.prefix(2)) }

  /// Whether the server did not answer: nobody knows what became of what was sent.
  package var isLost: Bool { kind == .connection }

  /// Whether a rule of the database's owner said it, with SIGNAL; then all words are the owner's.
  package var isRaised: Bool { kind == .server && (number == 1644 || stateClass == "45") }

  /// What is between two of these signs in the server's sentence, in its order; names are in grave
  /// accents there, and some in quotes.
  package func names(between sign: UInt8 = 0x60) -> [String] {
    let parts = message.utf8.split(separator: sign, omittingEmptySubsequences: false)
    return parts.enumerated().filter { $0.offset % 2 == 1 }.map {
      String(decoding: $0.element, as: UTF8.self)
    }
  }

  /// The last name in quotes; what is before it may have quotes of its own.
  package var lastQuoted: String? {
    let parts = message.utf8.split(separator: 0x27, omittingEmptySubsequences: false)
    return parts.count > 2 ? String(decoding: parts[parts.count - 2], as: UTF8.self) : nil
  }

  package var description: String {
    let state = number == 0 ? "" : " (error \(number), SQLSTATE \(sqlState))"
    let more = hint.isEmpty ? "" : " \(hint)"
    return "\(message)\(state)\(message.hasSuffix(".") || more.isEmpty ? "" : ".")\(more)"
  }
}
