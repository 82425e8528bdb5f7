import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// What is kept of parameters and personalization keys on the device.
extension Store {
  func parameterSets() throws(FerryError) -> [(number: Int64, set: ParameterSet)] {
    try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in try self.parameterSets(connection) }
    }
  }

  private func parameterSets(
    _ connection: Connection
  ) throws(SQLiteError) -> [(number: Int64, set: ParameterSet)] {
    let rows = try connection.rows(
      "SELECT number, content FROM ferry_parameter_set ORDER BY number")
    return rows.compactMap { row in
      guard let number = row[0].integer, let text = row[1].text,
        let node = try? JSONNode.parse(Array(text.utf8))
      else { return nil }
      var values: [String: Value] = [:]
      for member in node.object ?? [] {
        guard let parameter = model.parameter(named: member.key), let text = member.value.string
        else { continue }
        values[member.key] = parameter.type.value(plainText: text)
      }
      return (number, ParameterSet(canonical: values))
    }
  }

  /// False when the set is saved already.
  func saveParameters(_ set: ParameterSet) throws(FerryError) -> Bool {
    let content = try text(of: set)
    return try write { connection throws(FerryError) in
      let (isNew, count) = try self.sql { () throws(SQLiteError) in
        try connection.run(
          "INSERT OR IGNORE INTO ferry_parameter_set (content) VALUES (?)", .text(content))
        let isNew = connection.changes > 0
        let count = try connection.value("SELECT count(*) FROM ferry_parameter_set")?.integer ?? 0
        return (isNew, count)
      }
      let most = WireLimits.parameterSets
      guard !isNew || count <= most else {
        throw FerryError(
          .invalidChange, "\(most) sets of parameters are saved, and no more are taken",
          hint: "Remove those that are no longer needed.")
      }
      return isNew
    }
  }

  func removeParameters(_ set: ParameterSet) throws(FerryError) -> Bool {
    let content = try text(of: set)
    return try write { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.run(
          "DELETE FROM ferry_parameter_set WHERE content = ?", .text(content))
        return connection.changes > 0
      }
    }
  }

  func purgeParameters() throws(FerryError) -> Bool {
    try write { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        try connection.run("DELETE FROM ferry_parameter_set")
        return connection.changes > 0
      }
    }
  }

  /// The names in their order, so that the same set is the same text.
  private func text(of set: ParameterSet) throws(FerryError) -> String {
    var texts: [String: String] = [:]
    for (name, value) in set.values {
      texts[name] = try checked(name, value, isKey: false)?.plainText
    }
    var writer = JSONWriter()
    writer.beginObject()
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) { writer.field(name, text) }
    writer.endObject()
    return writer.text
  }

  /// The canonical value; nil for null.
  private func checked(
    _ name: String, _ value: Value, isKey: Bool
  ) throws(FerryError) -> Value? {
    let what = isKey ? "personalization key" : "synchronization parameter"
    guard let parameter = model.parameter(named: name),
      (parameter.kind != .synchronization) == isKey
    else {
      let names = model.parameters.filter { ($0.kind != .synchronization) == isKey }.map(\.name)
      throw FerryError(
        .invalidChange, "\(model.id) has no \(what) \(name)",
        hint: names.isEmpty ? "It has none." : "It has \(names.joined(separator: ", ")).")
    }
    guard let canonical = parameter.type.canonical(value) else {
      throw FerryError(
        .invalidChange, "the \(what) \(name) cannot be \(value.shown)",
        hint: "Its type is \(parameter.type.rawValue).")
    }
    return canonical.isNull ? nil : canonical
  }

  // Personalization keys.

  func personalization(_ name: String) throws(FerryError) -> Value {
    _ = try checked(name, .null, isKey: true)
    guard let parameter = model.parameter(named: name) else { return .null }
    let text: String? =
      if parameter.kind == .session {
        sessionKeys.withLock { $0[name] }
      } else {
        try read { connection throws(FerryError) in
          try self.sql { () throws(SQLiteError) in
            try connection.value(
              "SELECT value FROM ferry_personalization WHERE name = ?", .text(name))?.text
          }
        }
      }
    return text.flatMap { parameter.type.value(plainText: $0) } ?? parameter.defaultValue
  }

  /// False when nothing differs.
  func setPersonalization(_ name: String, _ value: Value) throws(FerryError) -> Bool {
    let text = try checked(name, value, isKey: true)?.plainText
    if model.parameter(named: name)?.kind == .session {
      return sessionKeys.withLock { keys in
        defer { keys[name] = text }
        return keys[name] != text
      }
    }
    return try write { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        let known = try connection.value(
          "SELECT value FROM ferry_personalization WHERE name = ?", .text(name))?.text
        guard known != text else { return false }
        try connection.run(
          """
          INSERT OR REPLACE INTO ferry_personalization (name, value, changed) VALUES (?, ?, 1)
          """, .text(name), .optional(text))
        return true
      }
    }
  }

  // The wire.

  func subscriptionParameters(
    _ connection: Connection
  ) throws(SQLiteError) -> SubscriptionParameters {
    var parameters = SubscriptionParameters()
    guard !model.parameters.isEmpty else { return parameters }
    parameters.sets = try parameterSets(connection).map {
      $0.set.values.mapValues(\.plainText)
    }
    parameters.keys = sessionKeys.withLock { $0 }
    for row in try connection.rows("SELECT name, value, changed FROM ferry_personalization") {
      guard let name = row[0].text, let kind = model.parameter(named: name)?.kind else { continue }
      switch kind {
      case .client: parameters.keys[name] = row[1].text
      case .server where row[2].integer == 1: parameters.changed[name] = .some(row[1].text)
      default: break
      }
    }
    return parameters
  }

  /// The server has what was `sent`; `keys` are the user's as it keeps them.
  func takeKeys(
    _ keys: [String: String], sent: [String: String?], _ connection: Connection
  ) throws(SQLiteError) {
    for (name, value) in sent.sorted(by: { $0.key < $1.key }) {
      try connection.run(
        "UPDATE ferry_personalization SET changed = 0 WHERE name = ? AND value IS ?", .text(name),
        .optional(value))
    }
    for parameter in model.parameters where parameter.kind == .server {
      try connection.run(
        """
        INSERT INTO ferry_personalization (name, value, changed) VALUES (?1, ?2, 0)
        ON CONFLICT (name) DO UPDATE SET value = ?2 WHERE changed = 0
        """, .text(parameter.name), .optional(keys[parameter.name]))
    }
  }
}
