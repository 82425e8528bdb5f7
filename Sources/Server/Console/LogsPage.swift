import FerryAdmin
import FerryJSON

/// What devices, or the server, wrote into their logs.
enum LogsPage {
  private static let filters = ["source", "level", "component", "user", "device", "id"]

  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    let isServer = query["source"] == "server"
    let node = try await reader.get(
      "logs", query: query.filter { filters.contains($0.key) || $0.key == "before" })
    var page = Page("Logs", reader.person, csrf: reader.csrf)
    page.body.markup(#"<form method="get" action="logs" class="filter" role="search">"#)
    page.choice(
      "Written by", "source", [("devices", "devices"), ("server", "the server")],
      isServer ? "server" : "devices")
    page.choice(
      "From", "level",
      [
        ("", "every level"), ("debug", "debug"), ("info", "info"), ("warn", "warn"),
        ("error", "error"), ("fatal", "fatal"),
      ], query["level"] ?? "")
    page.field("Component", "component", query["component"] ?? "")
    page.field("User", "user", query["user"] ?? "")
    page.field("Device", "device", query["device"] ?? "")
    page.field("Id", "id", query["id"] ?? "")
    page.body.markup("<button>Show</button></form>")
    let records = node["records"]?.array ?? []
    if isServer { serverTable(records, &page) } else { deviceTable(records, &page) }
    if records.isEmpty {
      page.body.element(
        "p",
        isServer && node["kept"]?.boolean == false
          ? "This server keeps no lines in memory. They are on its standard error."
          : "No record fits. Choose a lower level, or leave a field empty.")
    }
    if let next = node["next"]?.integer {
      page.link(
        "Older records",
        HTML.link(
          "logs",
          [
            ("source", query["source"]), ("level", query["level"]),
            ("component", query["component"]), ("user", query["user"]),
            ("device", query["device"]), ("id", query["id"]), ("before", String(next)),
          ]))
    }
    return page
  }

  private static func deviceTable(_ records: [JSONNode], _ page: inout Page) {
    page.beginTable(
      "The newest records first",
      ["Time", "Level", "Component", "Key", "Code", "Message", "User", "Device", "Id"])
    for record in records {
      page.body.markup("<tr>")
      page.cell(time: record["time"]?.integer)
      for name in ["level", "component", "key"] { page.cell(record[name]?.string) }
      page.cell(HTML.shown(record["code"]))
      page.cell(
        [record["message"], record["detail"], record["hint"]].compactMap { $0?.string }
          .joined(separator: " "))
      page.cell(record["user"]?.string)
      page.cell(
        link: record["device"]?.string ?? "",
        to: HTML.link(
          "device", [("user", record["user"]?.string), ("device", record["device"]?.string)]))
      let id = record["id"]?.string ?? ""
      page.cell(link: String(id.prefix(8)), to: HTML.link("timeline", [("id", id)]))
      page.body.markup("</tr>")
    }
    page.endTable()
  }

  private static func serverTable(_ records: [JSONNode], _ page: inout Page) {
    page.beginTable("The newest lines first", ["Time", "Level", "Message", "Fields"])
    for record in records {
      guard let line = record["line"] else { continue }
      page.body.markup("<tr>")
      page.cell(time: line["time"]?.integer)
      page.cell(line["level"]?.string)
      page.cell(line["message"]?.string)
      let fields = (line.object ?? []).filter { !["time", "level", "message"].contains($0.key) }
      page.cell(fields.map { "\($0.key)=\(HTML.shown($0.value))" }.joined(separator: " "))
      page.body.markup("</tr>")
    }
    page.endTable()
  }
}

/// All that is known of one change, in the order of time.
enum TimelinePage {
  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    let id = query["id"] ?? ""
    let node = try await reader.get("timeline", id)
    var page = Page("Timeline of \(id)", reader.person, csrf: reader.csrf)
    if let state = node["state"]?.string {
      page.body.markup("<p>")
      page.link("The operation", HTML.link("operation", [("id", id)]))
      page.body.text(" is \(state).")
      page.body.markup("</p>")
    }
    page.beginTable("The oldest moment first", ["Time", "After", "From", "Level", "What"])
    var last: Int64?
    for moment in node["moments"]?.array ?? [] {
      let time = moment["time"]?.integer
      page.body.markup("<tr>")
      page.cell(time: time)
      page.cell(last.flatMap { last in time.map { "\($0 - last) ms" } })
      page.cell(
        moment["from"]?.string == "business" ? "business system" : moment["from"]?.string)
      page.cell(moment["level"]?.string)
      page.cell(moment["message"]?.string)
      page.body.markup("</tr>")
      last = time
    }
    page.endTable()
    return page
  }
}

extension Page {
  /// A choice with its label; `chosen` is the value at first.
  mutating func choice(
    _ label: StaticString, _ name: StaticString, _ options: [(value: String, name: String)],
    _ chosen: String
  ) {
    body.markup("<label>")
    body.markup(label)
    body.markup(" ")
    body.open("select", [("name", "\(name)")])
    for option in options {
      body.element(
        "option", option.name,
        [("value", option.value)] + (option.value == chosen ? [("selected", "")] : []))
    }
    body.markup("</select></label>")
  }
}
