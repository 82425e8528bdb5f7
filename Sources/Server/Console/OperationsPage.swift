import FerryAdmin
import FerryJSON

/// The list of operations.
enum OperationsPage {
  private static let states = [
    ("open", "to look at"), ("", "all"), ("waiting", "waiting"), ("accepted", "accepted"),
    ("refused", "refused"), ("notTried", "not tried"), ("unknown", "unknown"),
    ("discarded", "discarded"),
  ]

  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    let node = try await reader.get("operations", query: query)
    var page = Page("Operations", reader.person, csrf: reader.csrf)
    page.body.markup(#"<form method="get" action="operations" class="filter" role="search">"#)
    page.body.markup(#"<label>State <select name="state">"#)
    for (state, name) in states {
      page.body.element(
        "option", name,
        [("value", state)] + (query["state"] == state ? [("selected", "")] : []))
    }
    page.body.markup("</select></label>")
    page.field("User", "user", query["user"] ?? "")
    page.field("Device", "device", query["device"] ?? "")
    page.field("Entity", "entity", query["entity"] ?? "")
    page.field("Key", "key", query["key"] ?? "")
    page.field("Package", "package", query["package"] ?? "")
    page.body.markup("<button>Show</button></form>")
    let lines = node["operations"]?.array ?? []
    if lines.isEmpty {
      page.body.element("p", "There is no such operation.")
      return page
    }
    table(lines, "Operations, the newest first", &page)
    if let next = node["next"]?.integer {
      page.link(
        "Older ones",
        HTML.link(
          "operations",
          [
            ("state", query["state"]), ("user", query["user"]), ("device", query["device"]),
            ("entity", query["entity"]), ("key", query["key"]), ("package", query["package"]),
            ("before", String(next)),
          ]))
    }
    return page
  }

  static func table(_ lines: [JSONNode], _ caption: StaticString, _ page: inout Page) {
    page.beginTable(
      caption, ["Operation", "State", "Object", "User", "Device", "Cause", "Decision", "Time"])
    for line in lines {
      let id = line["id"]?.string ?? ""
      page.body.markup("<tr>")
      page.cell(link: String(id.prefix(8)), to: HTML.link("operation", [("id", id)]))
      page.cell(line["state"]?.string)
      page.cell(
        "\(line["kind"]?.string ?? "") \(line["entity"]?.string ?? "") \(line["key"]?.string ?? "")"
      )
      page.cell(
        link: line["user"]?.string ?? "",
        to: HTML.link("operations", [("user", line["user"]?.string)]))
      page.cell(
        link: line["device"]?.string ?? "",
        to: HTML.link(
          "device", [("user", line["user"]?.string), ("device", line["device"]?.string)]))
      page.cell(line["cause"]?.string)
      let correction = line["correction"]
      page.cell(
        correction.map {
          "\($0["verb"]?.string ?? "") \($0["state"]?.string ?? "") by \($0["by"]?.string ?? ""): "
            + ($0["reason"]?.string ?? "")
        })
      page.cell(time: line["time"]?.integer)
      page.body.markup("</tr>")
    }
    page.endTable()
  }
}
