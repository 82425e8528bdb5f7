/// What PostgreSQL answered, or why it did not, when something was asked of it.
package struct PostgreSQLError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where the request ended.
  package enum Kind: Sendable, Equatable {
    /// The address cannot be used; nothing was asked.
    case address
    /// There is no connection, or it was lost on the way.
    case connection
    /// The server answered with an error.
    case server
    /// The deadline was over; the connection was closed.
    case deadline
  }

  package let kind: Kind
  /// Five characters; empty where the server did not answer.
  package let sqlState: String
  /// The server's own sentence, or what happened to the connection.
  package let message: String
  package let detail: String
  /// The server's advice, or ours.
  package let hint: String
  /// What a broken rule is about, as far as the server says; empty where it does not.
  package let schema: String
  package let table: String
  package let column: String
  package let constraint: String
  /// Whether a function of the database's owner said it, with RAISE; then all words are the owner's.
  package let isRaised: Bool

  package init(
    _ kind: Kind, sqlState: String = "", message: String, detail: String = "", hint: String = "",
    schema: String = "", table: String = "", column: String = "", constraint: String = "",
    isRaised: Bool = false
  ) {
    self.kind = kind
    self.sqlState = sqlState
    self.message = message
    self.detail = detail
    self.hint = hint
    self.schema = schema
    self.table = table
    self.column = column
    self.constraint = constraint
    self.isRaised = isRaised
  }

  /// The first two characters of `sqlState`; empty where there is none.
  package var stateClass: String { String(sqlState.prefix(2)) }

  /// Whether the server did not answer: nobody knows what became of what was sent.
  package var isLost: Bool { kind == .connection || kind == .deadline }

  package var description: String {
    let state = sqlState.isEmpty ? "" : " (SQLSTATE \(sqlState))"
    let more = [detail, hint].filter { !$0.isEmpty }.map { " \($0)" }.joined()
    return "\(message)\(state)\(message.hasSuffix(".") || more.isEmpty ? "" : ".")\(more)"
  }
}
