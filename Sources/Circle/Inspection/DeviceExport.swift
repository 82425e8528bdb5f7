import Ferry
import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// One document with what support needs to know of a device: Documentation/Inspect.md tells its
/// form.
package struct DeviceExport {
  /// Raised when a field changes its meaning.
  package static let version = 1
  /// As JSON.
  package let text: String

  /// `written` is now, in milliseconds since 1970. Without `showsValues` values are told by type and
  /// length only.
  package init(_ file: DeviceFile, showsValues: Bool, written: Int64) throws(FerryError) {
    text = try file.snapshot { connection throws(SQLiteError) in
      var writing = try Writing(connection, showsValues: showsValues)
      return try writing.document(written)
    }
  }

  private struct Writing {
    let connection: Connection
    let showsValues: Bool
    let inspection: DeviceInspection
    let hidden: HiddenValues
    var writer = JSONWriter()

    init(_ connection: Connection, showsValues: Bool) throws(SQLiteError) {
      self.connection = connection
      self.showsValues = showsValues
      inspection = try DeviceInspection(connection, limit: 0)
      hidden = HiddenValues(
        model: try Settings.get(.model, connection).flatMap { ModelReader.written($0) })
    }

    mutating func document(_ written: Int64) throws(SQLiteError) -> String {
      writer.beginObject()
      writer.field("format", "ferry device export")
      writer.field("version", DeviceExport.version)
      writer.field("values", showsValues ? "shown" : "hidden")
      writer.field("written", written)
      writer.field("schema", try connection.value("PRAGMA user_version")?.integer)
      writer.field("package", inspection.package)
      writer.field("user", inspection.user)
      writer.field("device", inspection.device)
      writer.field("incarnation", inspection.incarnation)
      writer.field("server", inspection.server)
      writer.field("mustLogIn", inspection.mustLogIn)
      writer.field("subscription", inspection.subscription.rawValue)
      writer.inspected(inspection)
      parameters()
      try personalization()
      try operations()
      uploads()
      try logRecords()
      try appLogRecords()
      writer.field(
        "owedCallbacks", try connection.value("SELECT count(*) FROM ferry_notice")?.integer)
      writer.endObject()
      return writer.text
    }

    private mutating func parameters() {
      writer.key("parameterSets")
      writer.beginArray()
      for set in inspection.parameterSets {
        if showsValues { writer.raw(set.utf8) } else { hidden.members(of: "", set, &writer) }
      }
      writer.endArray()
    }

    /// Those that live only as long as the process are not in the file.
    private mutating func personalization() throws(SQLiteError) {
      let rows = try connection.rows(
        "SELECT name, value, changed FROM ferry_personalization ORDER BY name")
      writer.key("personalization")
      writer.beginArray()
      for row in rows {
        writer.beginObject()
        writer.field("name", row[0].text)
        writer.key("value")
        let value = row[1].text.map { AttributeValue.text($0) } ?? .null
        if showsValues { writer.value(value) } else { hidden.value(value, nil, &writer) }
        writer.field("isSent", row[2].integer == 0)
        writer.endObject()
      }
      writer.endArray()
    }

    private mutating func uploads() {
      writer.key("uploads")
      writer.array(inspection.uploads) { writer, upload in
        writer.beginObject()
        writer.field("operation", upload.operation)
        writer.field("attribute", upload.attribute)
        writer.field("bytes", upload.size)
        writer.field("isDone", upload.isDone)
        writer.endObject()
      }
    }

    private mutating func operations() throws(SQLiteError) {
      writer.key("operations")
      writer.beginArray()
      let statement = try connection.statement(
        """
        SELECT id, entity, key, kind, state, acknowledged, sent, may_have_run, wanted, chain,
          counter, failure, made, root_entity, changed, base, length(payload)
        FROM ferry_operation ORDER BY sequence
        """)
      defer { statement.reset() }
      while try statement.step() {
        let entity = statement.text(at: 1)
        writer.beginObject()
        writer.field("id", statement.text(at: 0))
        writer.field("entity", entity)
        writer.key("key")
        key(of: entity, statement.text(at: 2))
        writer.field("operation", statement.text(at: 3))
        writer.field("state", statement.text(at: 4))
        let flags = ["acknowledged", "sent", "mayHaveRun", "wanted"]
        for (place, name) in flags.enumerated() {
          writer.field(name, statement.integer(at: 5 + place) != 0)
        }
        writer.field("chain", statement.text(at: 9))
        for (place, name) in ["counter", "failure", "made"].enumerated() {
          writer.field(name, statement.integer(at: 10 + place))
        }
        writer.field("root", statement.text(at: 13))
        for (place, name) in ["changed", "base"].enumerated() {
          writer.key(name)
          let values = statement.text(at: 14 + place)
          if showsValues {
            writer.raw(values.utf8)
          } else {
            hidden.members(of: entity, values, &writer)
          }
        }
        writer.field("payloadBytes", statement.value(at: 16).integer)
        writer.endObject()
      }
      writer.endArray()
    }

    /// Shown as its text, hidden value by value.
    private mutating func key(of entity: String, _ text: String) {
      if showsValues {
        writer.string(text)
      } else {
        hidden.key(of: entity, text, &writer)
      }
    }

    private mutating func logRecords() throws(SQLiteError) {
      let rows = try connection.rows(
        "SELECT entity, object, record FROM ferry_log_record ORDER BY number")
      writer.key("logRecords")
      writer.beginArray()
      for row in rows {
        let entity = row[0].text ?? ""
        let text = row[2].text ?? "{}"
        if showsValues {
          writer.raw(text.utf8)
        } else if let record = try? LogRecord(json: Array(text.utf8)) {
          hide(record, entity, try values(of: entity, row[1].integer ?? 0, record))
        }
      }
      writer.endArray()
    }

    /// What the app wrote and the server does not have yet.
    private mutating func appLogRecords() throws(SQLiteError) {
      writer.key("appLogRecords")
      writer.beginArray()
      for row in try connection.rows("SELECT record FROM ferry_report ORDER BY number") {
        let text = row[0].text ?? "{}"
        if showsValues {
          writer.raw(text.utf8)
        } else if let record = try? LogRecord(json: Array(text.utf8)) {
          let object = try connection.value(
            "SELECT object FROM ferry_operation WHERE entity = ? AND key = ?",
            .text(record.component), .text(record.entityKey))?.integer
          if let object {
            hide(record, record.component, try values(of: record.component, object, record))
          } else {
            // Nobody can tell what of it is a value.
            hide(record, record.component, [record.message])
          }
        }
      }
      writer.endArray()
    }

    private mutating func hide(_ record: LogRecord, _ entity: String, _ values: [String]) {
      writer.beginObject()
      writer.field("component", record.component)
      writer.key("entityKey")
      hidden.key(of: entity, record.entityKey, &writer)
      writer.field("code", record.code)
      writer.field("message", HiddenValues.message(record.message, hiding: values))
      if let operation = record.operation { writer.field("operation", operation.rawValue) }
      writer.field("requestId", record.requestID.text)
      writer.field("timestamp", record.timestamp)
      writer.field("level", record.level.rawValue)
      if let attribute = record.attribute { writer.field("attribute", attribute) }
      let known = hidden.model?.entity(named: entity)
      let place = record.attribute.flatMap { known?.position(of: $0) }
      let type = place.flatMap { known?.attributes[$0].type }
      for (name, value) in [("baseValue", record.baseValue), ("currentValue", record.currentValue)]
      {
        guard let value else { continue }
        writer.key(name)
        hidden.value(value, type, &writer)
      }
      if let constraint = record.constraint { writer.field("constraint", constraint) }
      for (name, text) in [("detail", record.detail), ("hint", record.hint)] {
        guard let text else { continue }
        writer.field(name, HiddenValues.message(text, hiding: values))
      }
      writer.endObject()
    }

    /// What a message about this object may quote: its values as they are, were and shall be.
    private func values(
      of entity: String, _ object: Int64, _ record: LogRecord
    ) throws(SQLiteError) -> [String] {
      var texts = [record.baseValue, record.currentValue].compactMap { $0?.plainText }
      texts += HiddenValues.texts(in: "[\(record.entityKey)]")
      let operations = try connection.rows(
        "SELECT key, changed, base FROM ferry_operation WHERE entity = ? AND object = ?",
        .text(entity), .integer(object))
      for row in operations {
        texts += HiddenValues.texts(in: "[\(row[0].text ?? "")]")
        texts += HiddenValues.texts(in: row[1].text ?? "")
        texts += HiddenValues.texts(in: row[2].text ?? "")
      }
      guard inspection.entities.contains(where: { $0.entity == entity }) else { return texts }
      for table in [entity, "ferry_original_\(entity)"] {
        let rows = try connection.rows(
          "SELECT * FROM \(quoted(table)) WHERE _id = ?", .integer(object))
        texts += rows.joined().compactMap { $0.text ?? $0.integer.map { String($0) } }
      }
      return texts
    }
  }
}

extension HiddenValues {
  /// The values in a JSON text, as a message would write them.
  static func texts(in json: String) -> [String] {
    guard let node = try? JSONNode.parse(Array(json.utf8)) else { return [] }
    return texts(in: node)
  }

  private static func texts(in node: JSONNode) -> [String] {
    switch node.content {
    case .null, .boolean: []
    case .number(let text), .string(let text): [text]
    case .array(let elements): elements.flatMap { texts(in: $0) }
    case .object(let members): members.flatMap { texts(in: $0.value) }
    }
  }
}

extension JSONWriter {
  /// What an inspection tells of entities, groups and partitions.
  package mutating func inspected(_ inspection: DeviceInspection) {
    key("entities")
    array(inspection.entities) { writer, entity in
      writer.beginObject()
      writer.field("entity", entity.entity)
      writer.field("visible", entity.visible)
      writer.field("pending", entity.pending)
      writer.endObject()
    }
    key("groups")
    array(inspection.groups) { writer, group in
      writer.beginObject()
      writer.field("name", group.name)
      writer.field("era", group.era)
      writer.field("version", group.version)
      writer.field("imported", group.imported)
      writer.endObject()
    }
    key("partitions")
    array(inspection.partitions) { writer, partition in
      writer.beginObject()
      writer.field("partition", partition.number)
      writer.field("group", partition.group)
      writer.field("state", partition.state)
      writer.field("version", partition.cursor.version)
      writer.field("stagedVersion", partition.staged.version)
      writer.field("rows", partition.count)
      writer.endObject()
    }
  }
}
