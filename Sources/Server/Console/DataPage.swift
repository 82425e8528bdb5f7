import FerryAdmin
import FerryJSON

/// Packages, their loads, and rows that no device gets.
enum DataPage {
  static func page(_ reader: Reader) async throws(AdminError) -> Page {
    let node = try await reader.get("packages")
    let rejected = try await reader.get("rejected")
    var page = Page("Data", reader.person, csrf: reader.csrf)
    for package in node["packages"]?.array ?? [] {
      let id = package["package"]?.string ?? ""
      page.body.markup("<section><h2><bdi>")
      page.body.text(id)
      page.body.markup("</bdi></h2><p>")
      page.body.text(
        "\(package["status"]?.string ?? ""); last load "
          + "\(HTML.age(package["loadAgeSeconds"]?.integer ?? 0)) ago, cache "
          + "\(HTML.age(package["cacheAgeSeconds"]?.integer ?? 0)) old. "
          + (package["business"]?.string ?? ""))
      page.body.markup("</p>")
      for connection in package["connections"]?.array ?? [] {
        page.body.element(
          "p",
          "Connection \(connection["connection"]?.string ?? ""): "
            + "\(connection["status"]?.string ?? "") \(connection["business"]?.string ?? "")")
      }
      if reader.person.role == .administrator {
        page.body.markup(#"<form method="post" action="data" class="decide">"#)
        page.hidden("csrf", reader.csrf)
        page.hidden("package", id)
        page.field("Reason", "reason", "", [("required", ""), ("maxlength", "200")])
        page.body.markup("<button>Read every row again</button></form>")
      }
      page.body.markup("</section>")
    }
    for model in node["models"]?.array ?? [] {
      page.beginTable("Entities", ["Package", "Entity", "Synchronization group", "Attributes"])
      for entity in model["entities"]?.array ?? [] {
        page.body.markup("<tr>")
        page.cell(model["package"]?.string)
        page.cell(entity["entity"]?.string)
        page.cell(entity["group"]?.string)
        page.cell(HTML.shown(entity["attributes"]))
        page.body.markup("</tr>")
      }
      page.endTable()
    }
    if reader.person.role == .administrator { keys(&page) }
    let rows = rejected["rows"]?.array ?? []
    if rows.isEmpty {
      page.body.element("p", "Every row of the business system fits its model.")
      return page
    }
    page.beginTable(
      "Rows that no device gets", ["Package", "Entity", "Key", "Attribute", "Why, and what to do"])
    for row in rows {
      page.body.markup("<tr>")
      for name in ["package", "entity", "key", "attribute", "reason"] {
        page.cell(row[name]?.string)
      }
      page.body.markup("</tr>")
    }
    page.endTable()
    return page
  }
}

extension DataPage {
  private static func keys(_ page: inout Page) {
    page.body.markup(
      #"<section><h2>Keys of tokens</h2><form method="post" action="data" class="decide">"#)
    page.hidden("csrf", page.csrf)
    page.hidden("keys", "1")
    page.field("Reason", "reason", "", [("required", ""), ("maxlength", "200")])
    page.field(
      "Your password", "password", "",
      [("type", "password"), ("autocomplete", "current-password"), ("id", "keys-password")])
    page.body.markup(
      """
      <p class="buttons"><button id="change-keys">Change the keys</button></p>\
      <p><label><input type="checkbox" name="dryRun" value="1"> Only say what would happen</label></p></form>
      """)
    page.body.element(
      "p", "New tokens are sealed with new keys. Nobody has to log in.", [("class", "hint")])
    page.body.markup("</section>")
  }
}

/// Why a row is on devices, or not.
enum WhyPage {
  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    var page = Page("Why is a row here, or not", reader.person, csrf: reader.csrf)
    page.body.markup(#"<form method="get" action="why" class="filter" role="search">"#)
    page.field("Package", "package", query["package"] ?? "")
    page.field("Entity", "entity", query["entity"] ?? "", [("required", "")])
    page.field("Key", "key", query["key"] ?? "", [("required", "")])
    page.body.markup("<button>Explain</button></form>")
    page.body.element(
      "p",
      "A text key is written with its quotes. The answer has values, and leaves a line in the audit log.",
      [("class", "hint")])
    guard query["entity"]?.isEmpty == false, query["key"]?.isEmpty == false else { return page }
    let node = try await reader.get("why", query: query)
    page.body.element("p", node["verdict"]?.string ?? "", [("class", "notice")])
    page.body.markup("<dl>")
    for (name, field) in [
      ("Group", "group"), ("Rule", "rule"), ("Partition", "place"), ("Row", "row"),
      ("Left out", "leftOut"),
    ] as [(StaticString, String)] {
      guard let text = node[field]?.string, !text.isEmpty else { continue }
      page.body.markup("<dt>")
      page.body.markup(name)
      page.body.markup("</dt><dd><bdi>")
      page.body.text(text)
      page.body.markup("</bdi></dd>")
    }
    page.body.markup("</dl>")
    let similar = (node["similar"]?.array ?? []).compactMap(\.string)
    if !similar.isEmpty { page.body.element("p", "Similar: \(similar.joined(separator: ", "))") }
    return page
  }
}
