/// The statements that a connection has prepared at the server, so that each is parsed once.
///
/// A text that comes a second time is prepared; one that comes once is not worth it. The names are
/// this connection's own: behind a pooler that lends one line to many, a name can be missing but
/// never mean another text.
struct PreparedStatements {
  /// How a statement is to be sent.
  enum Form: Equatable {
    /// Whole, with its text.
    case text
    /// Prepared under this name first, then run by it.
    case new(String)
    /// By this name.
    case known(String)
  }

  /// How many are kept at the server. Beyond that all are forgotten there, and it begins anew.
  static let most: Int = 250
  /// A text that does not come again among so many others is forgotten.
  static let mostSeen: Int = 1_000

  private let prefix: String
  private var number: Int = 0
  private var names: [String: String] = [:]
  private var seen: Set<String> = []
  /// False behind a pooler that does not keep them.
  private(set) var isOn: Bool = true
  /// Whether the server is to forget them all before the next one is sent.
  private(set) var isOver: Bool = false

  init(prefix: String) { self.prefix = prefix }

  var count: Int { names.count }

  /// `new` counts as prepared from here on; `failed` takes that back.
  mutating func form(of sql: String) -> Form {
    guard isOn, !isOver else { return .text }
    if let name = names[sql] { return .known(name) }
    guard seen.remove(sql) != nil else {
      if seen.count == PreparedStatements.mostSeen { seen = [] }
      seen.insert(sql)
      return .text
    }
    guard names.count < PreparedStatements.most else {
      isOver = true
      return .text
    }
    number += 1
    let name = "\(prefix)_\(number)"
    names[sql] = name
    return .new(name)
  }

  /// The server has not prepared it.
  mutating func failed(_ sql: String) { names[sql] = nil }

  /// What is prepared may not fit the tables any more.
  mutating func expire() { isOver = isOver || !names.isEmpty }

  /// The server has forgotten all of them.
  mutating func forgotten() { (names, isOver) = ([:], false) }

  /// The line does not keep what was prepared on it.
  mutating func turnOff() {
    forgotten()
    isOn = false
  }
}

extension PostgreSQLError {
  /// What a prepared statement meets that its text would not: the table has other columns now, or the
  /// line is another one.
  var mayBeOfPrepared: Bool {
    // 42501 is a right that is missing, whatever was prepared.
    kind == .server && !isRaised
      && (sqlState == "0A000" || stateClass == "42" && sqlState != "42501" || isOfOtherLine)
  }

  /// The server does not know a statement that was prepared, or knows another one of its name.
  var isOfOtherLine: Bool { sqlState == "26000" || sqlState == "42P05" }
}
