import FerryGenerator
import FerryJSON
import FerryModel
import FerrySQLite

/// What `ferry new` tells: what is in the model, what is not, and what to do next.
enum NewReport {
  static func text(
    _ made: ModelMaker.Result, _ advice: JournalAdvice?, out: String, database: String,
    mapping: String? = nil
  ) -> String {
    let package = made.translation.package
    var lines = [
      "\(package.id): "
        + Terminal.counted(package.entities.count, "entity", "entities") + " from \(database)", "",
    ]
    let width = package.entities.map(\.name.count).max() ?? 0
    for entity in package.entities {
      lines.append("  \(Terminal.padded(entity.name, width))  \(shown(entity, in: package))")
    }
    let titles: [(Note.Kind, String)] = [
      (.leftOut, "Left out:"), (.changed, "Types that differ from the declaration:"),
      (.restricted, "What devices may not do:"), (.told, "Please note:"),
    ]
    for (kind, title) in titles {
      let notes = made.translation.notes(kind)
      guard !notes.isEmpty else { continue }
      lines += ["", title] + joined(notes)
    }
    if let advice { lines += ["", "Warning: \(database): \(advice.what). \(advice.cure)"] }
    let warnings = made.warnings + made.openings
    if !warnings.isEmpty {
      lines += ["", "ferry check warns:"] + warnings.map { "  - \($0)" }
    }
    let written = mapping.map { "\(out), and \($0), which says how the service is asked" } ?? out
    lines += ["", defaults(package), "", "Written: \(written)", "Next: ferry check \(out)"]
    return lines.joined(separator: "\n")
  }

  /// One line for all that have the same to be said of them.
  private static func joined(_ notes: [Note]) -> [String] {
    var order: [String] = []
    var subjects: [String: [String]] = [:]
    for note in notes {
      let text = "\(note.what). \(note.cure)"
      if subjects[text] == nil { order.append(text) }
      subjects[text, default: []].append(note.subject)
    }
    return order.map { text in
      let names = subjects[text] ?? []
      return "  - \(names.joined(separator: ", ")): \(names.count > 1 ? "each " : "")\(text)"
    }
  }

  private static func shown(_ entity: Entity, in package: Package) -> String {
    let key = entity.key.map { entity.attributes[$0].name }.joined(separator: ", ")
    let partition =
      switch entity.partition {
      case nil:
        "every user gets all rows" + (entity.operations.isEmpty ? ", no user may change them" : "")
      case .through(let name): "partition of its \(name)"
      case .columns(let columns):
        "partition by "
          + columns.map { "\($0.attribute) = \($0.source.text)" }.joined(separator: ", ")
      }
    return Terminal.counted(entity.attributes.count, "attribute", "attributes") + ", key \(key)"
      + (entity.keyOrigin == .businessSystem ? " (assigned by the database)" : "")
      + "; \(partition)"
      + (package.groups.count > 1 ? "; group \(entity.group)" : "")
  }

  private static func defaults(_ package: Package) -> String {
    let hasRule = package.entities.contains { $0.partition != nil }
    return """
      Defaults: devices may create, change and delete objects of a partition ("operations"); entities
      of one group are imported together ("group"); \
      \(hasRule ? "every user gets all rows of entities without a partition rule" : "without a partition rule every user gets all rows"), to read only.
      CHECKs, triggers and foreign keys stay in the database: if they refuse a change, the device gets
      a log record with the reason.
      """
  }

  static func json(_ made: ModelMaker.Result, _ advice: JournalAdvice?, out: String) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("package", made.translation.package.id)
    writer.field("model", out)
    writer.key("entities")
    writer.array(made.translation.package.entities) { writer, entity in
      writer.beginObject()
      writer.field("name", entity.name)
      writer.field("table", entity.table)
      writer.field("attributes", entity.attributes.count)
      writer.endObject()
    }
    writer.key("notes")
    writer.array(made.translation.notes) { writer, note in
      writer.beginObject()
      writer.field("kind", note.kind.rawValue)
      writer.field("subject", note.subject)
      writer.field("what", note.what)
      writer.field("cure", note.cure)
      writer.endObject()
    }
    writer.field("journal", advice.map { "\($0.what). \($0.cure)" })
    writer.key("problems")
    writer.array(made.warnings + made.openings) { $0.problem($1) }
    writer.endObject()
    return writer.text
  }
}

extension JSONWriter {
  mutating func problem(_ problem: ModelProblem) {
    beginObject()
    field("severity", problem.severity.rawValue)
    field("file", problem.place.file)
    field("line", problem.place.line)
    field("column", problem.place.column)
    field("path", problem.place.path)
    field("what", problem.what)
    field("cure", problem.cure)
    endObject()
  }
}
