import FerryAdmin
import FerryJSON

/// How the server is, in figures that follow it.
enum OverviewPage {
  static func page(_ reader: Reader) async throws(AdminError) -> Page {
    let node = try await reader.get("overview")
    var page = Page("Overview", reader.person, csrf: reader.csrf)
    page.body.markup(#"<div id="live" data-events="admin/1/events">"#)
    page.beginTable(
      "Packages",
      [
        "Package", "Status", "Channels", "Waiting operations", "Age of the cache", "Last load",
        "Business system",
      ])
    for package in node["packages"]?.array ?? [] {
      page.body.markup("<tr>")
      page.cell(package["package"]?.string)
      page.cell(package["status"]?.string)
      page.cell(HTML.shown(package["channels"]))
      page.cell(HTML.shown(package["waitingOperations"]))
      page.cell(HTML.age(package["cacheAgeSeconds"]?.integer ?? 0))
      page.cell(HTML.age(package["loadAgeSeconds"]?.integer ?? 0))
      page.cell(package["business"]?.string ?? package["message"]?.string ?? "answers")
      page.body.markup("</tr>")
    }
    page.endTable()
    page.beginTable(
      "Operations",
      ["Package", "Waiting", "Refused, of 30 days", "Unknown", "Accepted since the start"])
    for line in node["operations"]?.array ?? [] {
      page.body.markup("<tr>")
      page.cell(line["package"]?.string)
      for state in ["waiting", "refused", "unknown", "accepted"] {
        page.cell(
          link: HTML.shown(line[state]),
          to: HTML.link(
            "operations", [("state", state), ("package", line["package"]?.string)]))
      }
      page.body.markup("</tr>")
    }
    page.endTable()
    page.body.element(
      "p",
      "\(HTML.shown(node["devices"])) devices, \(HTML.shown(node["activeToday"])) of them here in the "
        + "last day, \(HTML.shown(node["lockedOrWiped"])) locked or wiped.")
    page.body.markup("<p>As of ")
    page.body.time(node["time"]?.integer)
    page.body.element("span", ". ferryd \(node["version"]?.string ?? "").")
    page.body.markup("</p></div>")
    return page
  }
}
