import FerryAdmin
import FerryJSON

/// The devices, and one of them with what can be done.
enum DevicesPage {
  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    let node = try await reader.get("devices", query: query)
    var page = Page("Devices", reader.person, csrf: reader.csrf)
    page.body.markup(#"<form method="get" action="devices" class="filter" role="search">"#)
    page.field("User", "user", query["user"] ?? "")
    page.field("Device", "device", query["device"] ?? "")
    page.choice(
      "Order", "order",
      [("lastSeen", "last here"), ("user", "user"), ("pending", "pending changes")],
      query["order"] ?? "lastSeen")
    page.body.markup("<button>Show</button></form>")
    page.beginTable(
      "Devices",
      ["User", "Device", "State", "Silent for", "Pending", "Package", "Library", "System"])
    for device in node["devices"]?.array ?? [] {
      page.body.markup("<tr>")
      page.cell(device["user"]?.string)
      page.cell(
        link: device["device"]?.string ?? "",
        to: HTML.link(
          "device", [("user", device["user"]?.string), ("device", device["device"]?.string)]))
      page.cell(device["state"]?.string)
      page.cell(HTML.age(device["silentSeconds"]?.integer ?? 0))
      page.cell(device["pending"]?.integer.map(String.init) ?? "not said")
      page.cell(device["package"]?.string)
      page.cell(device["library"]?.string)
      page.cell("\(device["hardware"]?.string ?? "") \(device["system"]?.string ?? "")")
      page.body.markup("</tr>")
    }
    page.endTable()
    page.body.element("p", "\(HTML.shown(node["total"])) devices.")
    if let next = node["next"]?.integer {
      page.link(
        "More",
        HTML.link(
          "devices",
          [
            ("user", query["user"]), ("device", query["device"]), ("order", query["order"]),
            ("after", String(next)),
          ]))
    }
    return page
  }
}

enum DevicePage {
  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    let (user, id) = (query["user"] ?? "", query["device"] ?? "")
    let node = try await reader.get("devices", query: ["user": user, "device": id])
    var page = Page("Device \(id)", reader.person, csrf: reader.csrf)
    if let device = node["devices"]?.array?.first(where: { $0["device"]?.string == id }) {
      facts(device, &page)
      if reader.person.role == .administrator { decide(device, &page) }
    } else {
      page.body.element("p", "The register has no such device of \(user). Its operations:")
    }
    let operations = try await reader.get("operations", query: ["user": user, "device": id])
    OperationsPage.table(
      operations["operations"]?.array ?? [], "Its operations, the newest first", &page)
    return page
  }

  private static func facts(_ device: JSONNode, _ page: inout Page) {
    page.body.markup("<dl>")
    for (name, field) in [
      ("User", "user"), ("State", "state"), ("Reason", "reason"), ("Package", "package"),
      ("Hardware", "hardware"), ("System", "system"), ("Library", "library"),
      ("Pending changes", "pending"), ("Template", "template"), ("Subscription", "subscription"),
      ("Log level", "logLevel"),
    ] as [(StaticString, String)] {
      page.body.markup("<dt>")
      page.body.markup(name)
      page.body.markup("</dt><dd><bdi>")
      page.body.text(HTML.shown(device[field]))
      page.body.markup("</bdi></dd>")
    }
    page.body.markup("<dt>Last here</dt><dd>")
    page.body.time(device["lastSeen"]?.integer)
    page.body.markup("</dd></dl>")
  }

  private static func decide(_ device: JSONNode, _ page: inout Page) {
    page.body.markup(#"<h2>Decide</h2><form method="post" action="device" class="decide">"#)
    page.hidden("csrf", page.csrf)
    page.hidden("user", device["user"]?.string ?? "")
    page.hidden("device", device["device"]?.string ?? "")
    page.field(
      "Reason, which its user reads", "reason", "", [("required", ""), ("maxlength", "200")])
    page.body.markup(#"<p class="buttons">"#)
    for (verb, name) in [
      ("lock", "Lock"), ("unlock", "Unlock"), ("signOut", "Sign out"), ("unregister", "Unregister"),
    ] {
      page.body.element("button", name, [("name", "verb"), ("value", verb)])
    }
    page.body.markup(#"</p><label>Log level <select name="level" id="level">"#)
    for level in ["", "debug", "info", "warn", "error"] {
      page.body.element(
        "option", level.isEmpty ? "as its template says" : level,
        [("value", level)] + (device["logLevel"]?.string ?? "" == level ? [("selected", "")] : []))
    }
    page.body.markup(
      #"</select></label><p class="buttons"><button name="verb" value="logLevel">Set the log level</button></p>"#
    )
    page.field(
      "Your password, for a wipe", "password", "",
      [("type", "password"), ("autocomplete", "current-password")])
    page.body.markup(
      """
      <p><label><input type="checkbox" name="withPending" value="1"> Also destroy changes that were not sent</label></p>\
      <p class="buttons"><button class="danger" name="verb" value="wipe">Wipe</button></p>\
      <p><label><input type="checkbox" name="dryRun" value="1"> Only say what would happen</label></p></form>
      """)
  }
}
