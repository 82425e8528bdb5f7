import FerryJSON
import FerryOData

/// What a document holds, in numbers and a few words.
///
/// Documentation/odata-describe.schema.json is the JSON Schema of its JSON form.
package struct ODataDescription: Sendable, Hashable {
  /// The kinds of documents that are told apart.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case serviceDocument = "service-document"
    case metadata
    case csdlJSON = "csdl-json"
    case feed
    case entry
    case jsonV2 = "json-v2"
    case jsonV4 = "json-v4"
    case error
    case batch
    case openSearch = "opensearch"
    case value
  }

  package var kind: Kind
  /// Namespaces of metadata.
  package var schemas: [String]?
  /// The counts that apply, by the names of the JSON Schema.
  package var counts: [String: Int] = [:]
  /// Texts of the document that apply: `count`, `next`, `delta`, `firstID`, `firstType`, `code`,
  /// `message`.
  package var texts: [String: String] = [:]
  package var diagnostics: [ODataDiagnostic] = []

  package init(_ kind: Kind) { self.kind = kind }

  /// All names of counts, in the order they are written.
  package static let countNames = [
    "collections", "entityTypes", "complexTypes", "enumTypes", "typeDefinitions", "associations",
    "entitySets", "singletons", "functionImports", "actionImports", "functions", "actions",
    "entityProperties", "complexProperties", "navigationProperties", "annotations",
    "sapAttributes", "entries", "entriesIncludingInline", "inlineFeeds", "properties",
    "nullProperties", "links", "mediaEntries", "deletedEntries", "entriesWithETag", "parts",
    "requests", "responses", "changesets", "failedResponses", "urlTemplates",
  ]

  package static let textNames = [
    "count", "next", "delta", "firstID", "firstType", "code", "message",
  ]

  /// One JSON object.
  package func json() -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("kind", kind.rawValue)
    if let schemas {
      writer.key("schemas")
      writer.array(schemas) { $0.string($1) }
    }
    for name in Self.countNames {
      if let count = counts[name] { writer.field(name, count) }
    }
    for name in Self.textNames {
      if let text = texts[name] { writer.field(name, text) }
    }
    writer.key("diagnostics")
    writer.array(diagnostics) { writer, diagnostic in
      writer.beginObject()
      writer.field("line", diagnostic.place.line)
      writer.field("column", diagnostic.place.column)
      writer.field("path", diagnostic.place.path)
      writer.field("message", diagnostic.message)
      writer.field("consequence", diagnostic.consequence)
      writer.endObject()
    }
    writer.endObject()
    return writer.text
  }

  /// The same for people, a line each.
  package func text() -> String {
    var lines = ["kind: \(kind.rawValue)"]
    if let schemas { lines.append("schemas: \(schemas.joined(separator: ", "))") }
    for name in Self.countNames {
      if let count = counts[name] { lines.append("\(name): \(count)") }
    }
    for name in Self.textNames {
      if let text = texts[name] { lines.append("\(name): \(text)") }
    }
    for diagnostic in diagnostics { lines.append("! \(diagnostic)") }
    return lines.joined(separator: "\n")
  }
}
