import FerryAdmin
import FerryJSON

/// What was done and by whom. It cannot be changed here.
enum AuditPage {
  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    let node = try await reader.get("audit", query: query)
    var page = Page("Audit log", reader.person, csrf: reader.csrf)
    page.body.markup(#"<form method="get" action="audit" class="filter" role="search">"#)
    page.field("Operator", "by", query["by"] ?? "")
    page.field("Event", "event", query["event"] ?? "")
    page.field("User", "user", query["user"] ?? "")
    page.field("Operation", "operation", query["operation"] ?? "")
    page.body.markup("<button>Show</button></form>")
    page.beginTable(
      "The newest lines first",
      ["Time", "Event", "Operator", "User", "Device", "Operation", "Address", "Reason"])
    for line in node["lines"]?.array ?? [] {
      page.body.markup("<tr>")
      page.cell(time: line["time"]?.integer)
      for name in ["event", "by", "user", "device"] { page.cell(line[name]?.string) }
      if let id = line["operation"]?.string {
        page.cell(link: String(id.prefix(8)), to: HTML.link("operation", [("id", id)]))
      } else {
        page.cell("")
      }
      page.cell(line["address"]?.string)
      page.cell(line["reason"]?.string)
      page.body.markup("</tr>")
    }
    page.endTable()
    if let next = node["next"]?.integer {
      page.link(
        "Older lines",
        HTML.link(
          "audit",
          [
            ("by", query["by"]), ("event", query["event"]), ("user", query["user"]),
            ("operation", query["operation"]), ("before", String(next)),
          ]))
    }
    return page
  }
}
