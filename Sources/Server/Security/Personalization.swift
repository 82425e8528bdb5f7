import FerryModel
import FerrySQLite

/// The personalization keys that the server keeps for its users.
struct Personalization {
  let store: Store

  /// The user's keys by name, as canonical text.
  func keys(of user: String) throws(SQLiteError) -> [String: String] {
    var keys: [String: String] = [:]
    for row in try store.writer.rows(
      "SELECT name, value FROM personalization WHERE package = ? AND user = ?",
      .integer(store.packageNumber), .text(user))
    {
      if let name = row[0].text, let value = row[1].text { keys[name] = value }
    }
    return keys
  }

  /// Keeps what the user changed; a name that the model does not know as a key of the server is not
  /// kept. Returns whether anything differs.
  func keep(_ changed: [String: String?], of user: String) throws(SQLiteError) -> Bool {
    let known = try keys(of: user)
    var differs = false
    for (name, value) in changed.sorted(by: { $0.key < $1.key }) {
      guard store.package.parameter(named: name)?.kind == .server,
        known[name].map({ ExactText($0) }) != value.map({ ExactText($0) })
      else {
        continue
      }
      differs = true
      if let value {
        try store.writer.run(
          "INSERT OR REPLACE INTO personalization (package, user, name, value) VALUES (?, ?, ?, ?)",
          .integer(store.packageNumber), .text(user), .text(name), .text(value))
      } else {
        try store.writer.run(
          "DELETE FROM personalization WHERE package = ? AND user = ? AND name = ?",
          .integer(store.packageNumber), .text(user), .text(name))
      }
    }
    return differs
  }
}
