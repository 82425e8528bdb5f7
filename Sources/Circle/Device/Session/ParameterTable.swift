import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// What is kept of parameters and personalization keys on the device.
package struct ParameterTable {
  let transaction: Transaction

  package init(_ transaction: Transaction) { self.transaction = transaction }

  private var model: Package { transaction.model }

  package func sets() throws(FerryError) -> [(number: Int64, set: ParameterSet)] {
    let rows = try transaction.rows(
      "SELECT number, content FROM ferry_parameter_set ORDER BY number")
    return rows.compactMap { row in
      guard let number = row[0].integer, let text = row[1].text,
        let node = try? JSONNode.parse(Array(text.utf8))
      else { return nil }
      var values: [String: AttributeValue] = [:]
      for member in node.object ?? [] {
        guard let parameter = model.parameter(named: member.key), let text = member.value.string
        else { continue }
        values[member.key] = parameter.type.value(plainText: text)
      }
      return (number, ParameterSet(canonical: values))
    }
  }

  /// False when the set is saved already.
  package func save(_ set: ParameterSet) throws(FerryError) -> Bool {
    try transaction.run(
      "INSERT OR IGNORE INTO ferry_parameter_set (content) VALUES (?)", .text(try text(of: set)))
    let isNew = transaction.connection.changes > 0
    let count = try transaction.value("SELECT count(*) FROM ferry_parameter_set")?.integer ?? 0
    let most = WireLimits.parameterSets
    guard !isNew || count <= most else {
      throw FerryError(
        .tooLarge, "\(most) sets of parameters are already saved",
        hint: "Remove those that are no longer needed.")
    }
    if isNew { try checkSize() }
    return isNew
  }

  package func remove(_ set: ParameterSet) throws(FerryError) -> Bool {
    try transaction.run(
      "DELETE FROM ferry_parameter_set WHERE content = ?", .text(try text(of: set)))
    return transaction.connection.changes > 0
  }

  package func removeAll() throws(FerryError) -> Bool {
    try transaction.run("DELETE FROM ferry_parameter_set")
    return transaction.connection.changes > 0
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
    _ name: String, _ value: AttributeValue, isKey: Bool
  ) throws(FerryError) -> AttributeValue? {
    let what = isKey ? "personalization key" : "synchronization parameter"
    guard let parameter = model.parameter(named: name),
      (parameter.kind != .synchronization) == isKey
    else {
      let names = model.parameters.filter { ($0.kind != .synchronization) == isKey }.map(\.name)
      throw FerryError(
        .unknownName, "\(model.id) has no \(what) \(name)",
        hint: names.isEmpty ? "It has none." : "It has \(names.joined(separator: ", ")).")
    }
    guard let canonical = parameter.type.canonical(value) else {
      throw FerryError(
        .invalidValue, "the \(what) \(name) cannot be \(value.shown)",
        hint: "Its type is \(parameter.type.rawValue).")
    }
    return canonical.isNull ? nil : canonical
  }

  // Personalization keys.

  func personalization(_ name: String) throws(FerryError) -> AttributeValue {
    _ = try checked(name, .null, isKey: true)
    guard let parameter = model.parameter(named: name) else { return .null }
    let text: String? =
      if parameter.kind == .session {
        transaction.store.sessionKeys.withLock { $0[name] }
      } else {
        try transaction.value(
          "SELECT value FROM ferry_personalization WHERE name = ?", .text(name))?.text
      }
    return text.flatMap { parameter.type.value(plainText: $0) } ?? parameter.defaultValue
  }

  /// False when nothing differs.
  func setPersonalization(_ name: String, _ value: AttributeValue) throws(FerryError) -> Bool {
    let text = try checked(name, value, isKey: true)?.plainText
    if model.parameter(named: name)?.kind == .session {
      let earlier = transaction.store.sessionKeys.withLock { keys -> String? in
        defer { keys[name] = text }
        return keys[name]
      }
      guard earlier != text else { return false }
      do throws(FerryError) { try checkSize() } catch {
        transaction.store.sessionKeys.withLock { $0[name] = earlier }
        throw error
      }
      return true
    }
    let known = try transaction.value(
      "SELECT value FROM ferry_personalization WHERE name = ?", .text(name))?.text
    guard known != text else { return false }
    try transaction.run(
      """
      INSERT OR REPLACE INTO ferry_personalization (name, value, changed) VALUES (?, ?, 1)
      """, .text(name), .optional(text))
    try checkSize()
    return true
  }

  /// Nothing is saved that would make the server refuse each message of the device.
  private func checkSize() throws(FerryError) {
    let bytes = try subscription().bytes
    guard bytes <= WireLimits.parameterBytes else {
      throw FerryError(
        .tooLarge,
        "the sets of parameters and the personalization keys would have \(bytes) bytes; "
          + "\(WireLimits.parameterBytes) are allowed",
        hint: "Nothing was changed. Save shorter values, or remove sets that are no longer needed.")
    }
  }

  // The wire.

  func subscription() throws(FerryError) -> SubscriptionParameters {
    var parameters = SubscriptionParameters()
    guard !model.parameters.isEmpty else { return parameters }
    parameters.sets = try sets().map { $0.set.values.mapValues(\.plainText) }
    parameters.keys = transaction.store.sessionKeys.withLock { $0 }
    for row in try transaction.rows("SELECT name, value, changed FROM ferry_personalization") {
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
  func take(_ keys: [String: String], sent: [String: String?]) throws(FerryError) {
    for (name, value) in sent.sorted(by: { $0.key < $1.key }) {
      try transaction.run(
        "UPDATE ferry_personalization SET changed = 0 WHERE name = ? AND value IS ?", .text(name),
        .optional(value))
    }
    for parameter in model.parameters where parameter.kind == .server {
      try transaction.run(
        """
        INSERT INTO ferry_personalization (name, value, changed) VALUES (?1, ?2, 0)
        ON CONFLICT (name) DO UPDATE SET value = ?2 WHERE changed = 0
        """, .text(parameter.name), .optional(keys[parameter.name]))
    }
  }
}
