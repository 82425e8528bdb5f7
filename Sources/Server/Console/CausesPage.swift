import FerryAdmin
import FerryJSON

/// Refused operations by what they have in common, and all of one cause at once.
enum CausesPage {
  static func page(_ reader: Reader) async throws(AdminError) -> Page {
    let node = try await reader.get("causes")
    var page = Page("Causes", reader.person, csrf: reader.csrf)
    let causes = node["causes"]?.array ?? []
    if causes.isEmpty { page.body.element("p", "Nothing that was refused waits for anybody.") }
    for cause in causes {
      let text = cause["cause"]?.string ?? ""
      page.body.markup("<section><h2><bdi>")
      page.body.text(text)
      page.body.markup("</bdi></h2><p>")
      page.body.text(
        "\(HTML.shown(cause["operations"])) operations of \(HTML.shown(cause["users"])) users. ")
      page.link("One of them", HTML.link("operation", [("id", cause["example"]?.string)]))
      page.body.markup("</p>")
      if reader.person.role >= .operator {
        page.body.markup(#"<form method="post" action="causes" class="decide">"#)
        page.hidden("csrf", reader.csrf)
        page.hidden("cause", text)
        page.field("Reason", "reason", "", [("required", ""), ("maxlength", "200")])
        page.field("Word to the users", "message", "", [("maxlength", "300")])
        page.body.markup(
          """
          <p class="buttons"><button name="verb" value="retry">Retry all</button>\
          <button name="verb" value="discard">Discard all</button></p>\
          <p><label><input type="checkbox" name="dryRun" value="1" checked> Only say what would happen</label></p></form>
          """)
      }
      page.body.markup("</section>")
    }
    return page
  }
}

/// Operations of which nobody knows whether they were performed.
enum OutcomesPage {
  static func page(_ reader: Reader) async throws(AdminError) -> Page {
    let node = try await reader.get("outcomes")
    var page = Page("Unknown outcomes", reader.person, csrf: reader.csrf)
    let operations = node["operations"]?.array ?? []
    if operations.isEmpty {
      page.body.element("p", "The outcome of every operation is known.")
      return page
    }
    page.beginTable(
      "What you may decide", ["Decision", "When it is right", "It takes", "What happens"])
    for one in node["decisions"]?.array ?? [] {
      page.body.markup("<tr>")
      for name in ["verb", "when", "needs", "willDo"] { page.cell(one[name]?.string) }
      page.body.markup("</tr>")
    }
    page.endTable()
    for operation in operations {
      page.body.markup("<section><h2><bdi>")
      page.body.text(
        "\(operation["kind"]?.string ?? "") \(operation["entity"]?.string ?? "") "
          + "\(operation["key"]?.string ?? "") of \(operation["user"]?.string ?? "")")
      page.body.markup("</bdi></h2><p>What was asked: <bdi>")
      page.body.text(pairs(operation["sent"]))
      page.body.text(" (device ")
      page.body.text(operation["device"]?.string ?? "")
      page.body.text(")")
      page.body.markup("</bdi></p><p>Why it is not known: <bdi>")
      page.body.text(operation["reason"]?.string ?? "")
      page.body.markup("</bdi></p>")
      if (operation["candidates"]?.array ?? []).isEmpty {
        page.body.element("p", "What was found: no row that may be its effect.")
      }
      for row in operation["candidates"]?.array ?? [] {
        page.body.markup("<p>What was found: <bdi>")
        let values = (row["values"]?.array ?? []).map { HTML.shown($0) }.joined(separator: ", ")
        page.body.text(
          "\(row["entity"]?.string ?? "") \(row["key"]?.string ?? ""): \(values)")
        page.body.markup("</bdi></p>")
      }
      page.body.markup(#"<form method="post" action="outcomes" class="decide">"#)
      page.hidden("csrf", reader.csrf)
      page.hidden("id", operation["id"]?.string ?? "")
      page.field("Reason", "reason", "", [("required", ""), ("maxlength", "200")])
      page.field("Key in the business system", "key")
      page.field("Word to the user, if it was not performed", "message", "", [("maxlength", "300")])
      page.body.markup(
        """
        <p class="buttons"><button name="verb" value="accepted">It was performed as this key</button>\
        <button name="verb" value="refused">It was not performed</button>\
        <button name="verb" value="again">Perform it again</button></p>\
        <p><label><input type="checkbox" name="dryRun" value="1"> Only say what would happen</label></p></form></section>
        """)
    }
    return page
  }

  private static func pairs(_ node: JSONNode?) -> String {
    (node?.object ?? []).map { "\($0.key) = \(HTML.shown($0.value))" }.joined(separator: ", ")
  }
}
