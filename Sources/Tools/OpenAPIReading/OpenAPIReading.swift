import FerryGenerator
import FerryHTTPClient
import FerryJSON
import FerryModel

/// Reads what a service says of itself by OpenAPI: the schema of a model, and how the service is asked.
package struct OpenAPIReading: Sendable {
  package let schema: DatabaseSchema
  /// The service's address, as a model's source names it behind `rest:`.
  package let service: String
  private let ways: [String: Way]

  /// How the objects of one table are asked for.
  struct Way: Sendable {
    var list = ""
    var rows = ""
    var paging: JSONText?
    /// As many rows as the service gives at a time, where it sets a limit below ours.
    var pageRows: Int64?
    var item: String?
    var parameter: String?
    var update: (method: String, body: String)?
    var hasCreate = false
    var hasDelete = false
    var condition: JSONText?
    var numberHeader: String?
    var forms: [String: String] = [:]
    var readOnly: Set<String> = []
    var key = ""
  }

  /// JSON that is there already.
  struct JSONText: Sendable { let text: String }

  /// Asks for the document alone.
  package static func read(
    _ address: String, transport: any Transport = SystemTransport.make()
  ) async throws(GeneratorError) -> OpenAPIReading {
    try OpenAPIReading(await OpenAPIDocument.read(address, transport: transport))
  }

  /// Of a text that is there already; `address`: where the service has it.
  package init(_ text: [UInt8], address: String) throws(GeneratorError) {
    try self.init(try OpenAPIDocument(text, address))
  }

  private init(_ document: OpenAPIDocument) throws(GeneratorError) {
    var notes: [Note] = []
    let (service, elsewhere) = document.service
    if let elsewhere {
      notes.append(
        Note(
          .told, "servers", "names \(elsewhere), and the document is at \(service)",
          cure: "Correct \"source\" in the model if the service is there."))
    }
    let resources = OpenAPIResource.all(document, &notes)
    var tables: [DatabaseSchema.Table] = []
    var ways: [String: Way] = [:]
    for resource in resources {
      guard let made = OpenAPITable(resource, resources, document, &notes) else { continue }
      tables.append(made.table)
      ways[resource.name] = OpenAPIReading.way(resource, made, document, &notes)
    }
    guard !tables.isEmpty else {
      throw GeneratorError(
        "the document describes no list of objects with a key",
        hint: notes.first.map(\.description) ?? "A list is a GET that answers with an array.")
    }
    let names = Set(tables.map(\.name))
    tables = tables.map { table in
      // A reference leads to what is in the model.
      var table = table
      if table.foreignKeys.contains(where: { !names.contains($0.target) }) {
        var kept = DatabaseSchema.Table(
          named: table.name, columns: table.columns, primaryKey: table.primaryKey,
          countedKey: table.rowIDAlias, uniqueKeys: [],
          foreignKeys: table.foreignKeys.filter { names.contains($0.target) }, triggers: [],
          hasChecks: false, comment: table.comment)
        kept.objectName = table.objectName
        kept.forbidden = table.forbidden
        table = kept
      }
      return table
    }
    var schema = DatabaseSchema(inOrder: tables, views: [])
    schema.leftOut = notes
    self.schema = schema
    self.service = service
    self.ways = ways
  }

  private static func way(
    _ resource: OpenAPIResource, _ table: OpenAPITable, _ document: OpenAPIDocument,
    _ notes: inout [Note]
  ) -> Way {
    var way = Way()
    way.list = resource.list
    way.rows = resource.rows
    way.item = resource.item
    way.parameter = resource.parameters.first
    way.key = table.key ?? ""
    way.hasCreate = resource.ofList["post"] != nil
    way.hasDelete = resource.ofItem?["delete"] != nil
    way.forms = table.forms
    way.readOnly = table.readOnly
    if let patch = resource.ofItem?["patch"] {
      let type = OpenAPIResource.body(of: patch, document)?.type ?? ""
      let body =
        type.contains("merge-patch") ? "merge" : type.contains("json-patch") ? "patch" : "changed"
      way.update = ("PATCH", body)
    } else if resource.ofItem?["put"] != nil {
      way.update = ("PUT", "whole")
    }
    let queries = OpenAPIResource.parameters(
      "query", of: resource.ofList["get"], resource.ofList, document)
    way.paging = paging(resource, queries, document)
    way.pageRows = pageRows(resource, document)
    let guess = way.paging == nil ? "without pages" : "by pages: \(way.paging?.text ?? "")"
    notes.append(
      Note(
        .told, resource.name, "its list \(resource.list) is read \(guess)",
        cure: "If that is wrong, correct \"paging\" of its \"list\" in the mapping."))
    let change = resource.ofItem?["patch"] ?? resource.ofItem?["put"]
    let headers = OpenAPIResource.parameters("header", of: change, resource.ofItem, document)
      .map { $0.lowercased() }
    let answers412 = change?["responses"]?["412"] != nil
    let version = resource.shape.properties.map(\.name).first {
      ["version", "revision", "rev", "row_version", "lock_version"].contains($0.lowercased())
    }
    let takesVersion = change.flatMap { OpenAPIResource.body(of: $0, document) }.map { body in
      body.shape.properties.contains { $0.name == version }
    }
    if change != nil {
      if headers.contains("if-match") || answers412 {
        way.condition = JSONText(text: "\"etag\"")
      } else if let version, takesVersion == true {
        way.condition = JSONText(text: "{\"version\": \"/\(version)\"}")
      } else if headers.contains("if-unmodified-since") {
        way.condition = JSONText(text: "\"unmodifiedSince\"")
      } else {
        way.condition = JSONText(text: "\"none\"")
        notes.append(
          Note(
            .told, resource.name, "names no condition for its changes, such as If-Match",
            cure:
              "Two who change one object at a time may overwrite each other; if the service has "
              + "ETags or versions, correct \"condition\" in the mapping."))
      }
    }
    let numbers = OpenAPIResource.parameters(
      "header", of: resource.ofList["post"], resource.ofList, document)
    way.numberHeader = numbers.first {
      ["idempotency-key", "repeatability-request-id"].contains($0.lowercased())
    }
    if way.hasCreate, way.numberHeader == nil, table.table.rowIDAlias != nil {
      notes.append(
        Note(
          .told, resource.name, "has nothing by which a repeated create is known",
          cure: "After a lost answer a person decides; write \"memory\" into the mapping if the "
            + "service has Idempotency-Key, or a field that no other object has."))
    }
    return way
  }

  private static let sizes = [
    "limit", "page_size", "pagesize", "per_page", "size", "max_results", "top",
  ]

  /// The most rows that the parameter of the size allows.
  private static func pageRows(
    _ resource: OpenAPIResource, _ document: OpenAPIDocument
  ) -> Int64? {
    let all =
      (resource.ofList["parameters"]?.array ?? [])
      + (resource.ofList["get"]?["parameters"]?.array ?? [])
    let size = all.compactMap { document.node($0) }.first {
      $0["in"]?.string == "query" && sizes.contains($0["name"]?.string?.lowercased() ?? "")
    }
    guard let most = document.node(size?["schema"])?["maximum"]?.integer, (1..<500).contains(most)
    else { return nil }
    return most
  }

  private static func paging(
    _ resource: OpenAPIResource, _ queries: [String], _ document: OpenAPIDocument
  ) -> JSONText? {
    func first(_ names: [String]) -> String? {
      names.lazy.compactMap { name in queries.first { $0.lowercased() == name } }.first
    }
    let size = first(sizes)
    let envelope = resource.envelope?.properties.map(\.name) ?? []
    if let cursor = first(["cursor", "page_token", "pagetoken", "after", "starting_after"]) {
      let at = envelope.first {
        ["next_cursor", "nextcursor", "next_page_token", "nextpagetoken", "cursor"].contains(
          $0.lowercased())
      }
      if let at { return JSONText(text: "{\"cursor\": \"\(cursor)\", \"at\": \"/\(at)\"}") }
    }
    if let next = envelope.first(where: {
      ["next", "next_url", "nextlink"].contains($0.lowercased())
    }) {
      return JSONText(text: "{\"next\": \"/\(next)\"}")
    }
    if let offset = first(["offset", "skip", "start"]) {
      let limit = size.map { ", \"limit\": \"\($0)\"" } ?? ""
      return JSONText(text: "{\"offset\": \"\(offset)\"\(limit)}")
    }
    if let page = first(["page", "page_number", "pagenumber"]) {
      let count = size.map { ", \"size\": \"\($0)\"" } ?? ""
      return JSONText(text: "{\"page\": \"\(page)\"\(count)}")
    }
    let response = document.node(resource.ofList["get"]?["responses"]?["200"])
    let hasLink = response?["headers"]?.object?.contains { $0.key.lowercased() == "link" } ?? false
    return hasLink ? JSONText(text: "\"link\"") : nil
  }

  // MARK: The mapping

  /// The text of `<package>.rest.json`.
  package func mapping(for package: Package) -> String {
    var entities: [String] = []
    for entity in package.entities {
      guard let way = ways[entity.table] else { continue }
      entities.append(
        "    \(quoted(entity.name)): {\n\(members(entity, way).joined(separator: ",\n"))\n    }")
    }
    return """
      {
        "$schema": "rest.schema.json",
        "entities": {
      \(entities.joined(separator: ",\n"))
        }
      }

      """
  }

  private func members(_ entity: Entity, _ way: Way) -> [String] {
    let key = entity.key.map { entity.attributes[$0].name }.first ?? "id"
    var lines: [String] = []
    func add(_ name: String, _ text: String) { lines.append("      \"\(name)\": \(text)") }
    var list = "{\"address\": \(quoted(way.list))"
    if !way.rows.isEmpty { list += ", \"rows\": \(quoted(way.rows))" }
    if let paging = way.paging { list += ", \"paging\": \(paging.text)" }
    if let rows = way.pageRows { list += ", \"pageRows\": \(rows)" }
    add("list", list + "}")
    if let item = way.item, let parameter = way.parameter {
      let address = item.replacing("{\(parameter)}", with: "{\(key)}")
      add("read", quoted(address))
      if way.hasCreate { add("create", quoted(way.list)) }
      if let update = way.update {
        add(
          "update",
          "{\"method\": \"\(update.method)\", \"address\": \(quoted(address)), \"body\": \"\(update.body)\"}"
        )
      }
      if way.hasDelete { add("delete", quoted(address)) }
    }
    if let condition = way.condition { add("condition", condition.text) }
    if let header = way.numberHeader {
      add("memory", "{\"header\": \(quoted(header)), \"hours\": 24}")
    }
    var fields: [String] = []
    for attribute in entity.attributes {
      let path = quoted("/" + attribute.column)
      let form = way.forms[attribute.column].map { ", \"form\": \"\($0)\"" } ?? ""
      let lock = way.readOnly.contains(attribute.column) ? ", \"readOnly\": true" : ""
      fields.append(
        "        \(quoted(attribute.name)): "
          + (form.isEmpty && lock.isEmpty ? path : "{\"at\": \(path)\(form)\(lock)}"))
    }
    add("fields", "{\n\(fields.joined(separator: ",\n"))\n      }")
    return lines
  }

  private func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return writer.text
  }
}
