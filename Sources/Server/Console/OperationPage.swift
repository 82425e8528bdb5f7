import FerryAdmin
import FerryJSON
import FerryModel
import FerryText

/// One operation: its history, its values side by side, and what can be done with it.
enum OperationPage {
  static func page(_ reader: Reader, _ query: [String: String]) async throws(AdminError) -> Page {
    let id = query["id"] ?? ""
    let showsValues = query["values"] == "1" && reader.person.role >= .operator
    let node = try await reader.get(
      "operations", id, query: showsValues ? ["values": "1"] : [:])
    var page = Page(
      "\(node["kind"]?.string ?? "") \(node["entity"]?.string ?? "") "
        + "\(node["key"]?.string ?? "(no key yet)")", reader.person, csrf: reader.csrf)
    facts(node, &page)
    records(node, &page)
    values(node, showsValues: showsValues, &page)
    history(node, &page)
    if node["state"]?.string == "refused", reader.person.role >= .operator {
      decide(node, showsValues: showsValues, &page)
    }
    for (name, caption) in [
      ("chainMembers", "The others of its chain, which are performed together or not at all"),
      ("sameObject", "Other operations of the same object"),
    ] as [(String, StaticString)] {
      let others = node[name]?.array ?? []
      if !others.isEmpty { OperationsPage.table(others, caption, &page) }
    }
    return page
  }

  private static func facts(_ node: JSONNode, _ page: inout Page) {
    page.body.markup("<dl>")
    for (name, field) in [
      ("State", "state"), ("User", "user"), ("Device", "device"), ("Package", "package"),
      ("Operation", "id"),
    ] as [(StaticString, String)] {
      page.body.markup("<dt>")
      page.body.markup(name)
      page.body.markup("</dt><dd><bdi>")
      page.body.text(node[field]?.string ?? "")
      page.body.markup("</bdi></dd>")
    }
    page.body.markup("<dt>Answered</dt><dd>")
    page.body.time(node["time"]?.integer)
    page.body.markup("</dd></dl><p>")
    page.link("Timeline", HTML.link("timeline", [("id", node["id"]?.string)]))
    page.body.markup("</p>")
  }

  private static func records(_ node: JSONNode, _ page: inout Page) {
    let records = node["records"]?.array ?? []
    guard !records.isEmpty else { return }
    page.body.markup("<h2>What the business system said</h2><ul class=\"records\">")
    for record in records {
      page.body.markup("<li><bdi>")
      let attribute = record["attribute"]?.string.map { " (\($0))" } ?? ""
      page.body.text(
        "\(HTML.shown(record["code"]))\(attribute): \(record["message"]?.string ?? "")")
      for name in ["detail", "hint"] {
        if let text = record[name]?.string { page.body.text(" \(text)") }
      }
      page.body.markup("</bdi></li>")
    }
    page.body.markup("</ul>")
  }

  private static func values(_ node: JSONNode, showsValues: Bool, _ page: inout Page) {
    guard node["attributes"] != nil else {
      page.body.element("p", "What was sent is kept no longer.")
      return
    }
    if showsValues { return }
    page.body.markup("<h2 id=\"values\">Values</h2>")
    page.body.element(
      "p", "Values of business rows are hidden. Showing them leaves a line in the audit log.")
    page.body.open("p")
    page.body.element(
      "a", "Show the values",
      [
        ("class", "button"), ("id", "show-values"),
        ("href", HTML.link("operation", [("id", node["id"]?.string), ("values", "1")])),
      ])
    page.body.markup("</p>")
  }

  private static func history(_ node: JSONNode, _ page: inout Page) {
    let corrections = node["corrections"]?.array ?? []
    guard !corrections.isEmpty else { return }
    page.beginTable(
      "Decisions of operators", ["When", "Who", "What", "State", "Reason", "Ended", "Became"])
    for correction in corrections {
      page.body.markup("<tr>")
      page.cell(time: correction["made"]?.integer)
      page.cell(correction["by"]?.string)
      let names = (correction["attributes"]?.array ?? []).compactMap(\.string)
      page.cell(
        (correction["verb"]?.string ?? "")
          + (names.isEmpty ? "" : ": \(names.joined(separator: ", "))"))
      page.cell(state(correction))
      page.cell(correction["reason"]?.string)
      page.cell(time: correction["ended"]?.integer)
      if let became = correction["became"]?.string {
        page.cell(link: String(became.prefix(8)), to: HTML.link("operation", [("id", became)]))
      } else {
        page.cell("")
      }
      page.body.markup("</tr>")
    }
    page.endTable()
  }

  private static func state(_ correction: JSONNode) -> String {
    let text =
      switch correction["state"]?.string {
      case "open": "waits for the device"
      case "taken": "done by the device"
      case "kept": "not done: the app has changed or sent the object meanwhile, and its change wins"
      case "absent": "not done: nothing of it is pending on the device any more"
      case "invalid": "not done: the device cannot do it"
      case "withdrawn": "taken back"
      case let other?: other
      case nil: ""
      }
    return text + (correction["detail"]?.string.map { ": \($0)" } ?? "")
  }

  private static func decide(_ node: JSONNode, showsValues: Bool, _ page: inout Page) {
    let id = node["id"]?.string ?? ""
    if let open = (node["corrections"]?.array ?? []).first(where: { $0["state"]?.string == "open" })
    {
      page.body.markup("<h2>Take the decision back</h2>")
      begin(id, &page, showsValues: showsValues)
      page.hidden("withdraw", open["id"]?.string ?? "")
      page.field("Reason", "reason", "", [("required", ""), ("maxlength", "200")])
      page.body.markup("<button>Take back</button></form>")
      return
    }
    guard node["attributes"] != nil else { return }
    let done = (node["corrections"]?.array ?? []).last { $0["state"]?.string == "taken" }
    if let done, done["verb"]?.string == "discard" {
      return restore(done, id, showsValues: showsValues, &page)
    }
    page.body.markup("<h2>Decide</h2>")
    begin(id, &page, showsValues: showsValues)
    let isDelete = node["kind"]?.string == "delete"
    if showsValues { table(node, canCorrect: !isDelete, &page) }
    page.field("Reason", "reason", "", [("required", ""), ("maxlength", "200"), ("id", "reason")])
    page.field("Word to the user", "message", "", [("maxlength", "300"), ("id", "message")])
    page.body.markup(#"<p class="buttons">"#)
    if showsValues, !isDelete {
      page.body.markup(
        #"<button class="primary" name="verb" value="release" id="release">Release with these values</button>"#
      )
    }
    page.body.markup(
      """
      <button name="verb" value="retry" id="retry">Retry as it is</button>\
      <button name="verb" value="discard" id="discard">Discard</button></p>\
      <p><label><input type="checkbox" name="dryRun" value="1"> Only say what would happen</label></p></form>
      """)
    page.body.element(
      "p",
      "The device makes the new form of its change with its next contact. What the app has changed "
        + "since the refusal wins over the decision, and this page says so.", [("class", "hint")])
  }

  private static func restore(
    _ done: JSONNode, _ id: String, showsValues: Bool, _ page: inout Page
  ) {
    page.body.markup("<h2>Restore</h2><p><bdi>")
    page.body.text(
      "\(done["by"]?.string ?? "") discarded the change: \(done["reason"]?.string ?? "")")
    page.body.markup("</bdi> (")
    page.body.time(done["ended"]?.integer)
    page.body.markup("). It is kept for 30 days.</p>")
    begin(id, &page, showsValues: showsValues)
    page.field("Reason", "reason", "", [("required", ""), ("maxlength", "200"), ("id", "reason")])
    page.field("Word to the user", "message", "", [("maxlength", "300"), ("id", "message")])
    page.body.markup(
      """
      <p class="buttons"><button name="verb" value="restore" id="restore">Restore</button></p>\
      <p><label><input type="checkbox" name="dryRun" value="1"> Only say what would happen</label></p></form>
      """)
    page.body.element(
      "p",
      "The change is pending on its device again, refused as it was. Then correct, retry or discard it.",
      [("class", "hint")])
  }

  private static func begin(_ id: String, _ page: inout Page, showsValues: Bool) {
    page.body.markup(#"<form method="post" action="operation" class="decide">"#)
    page.hidden("csrf", page.csrf)
    page.hidden("id", id)
    if showsValues { page.hidden("values", "1") }
  }

  private static func table(_ node: JSONNode, canCorrect: Bool, _ page: inout Page) {
    let attributes = node["attributes"]?.array ?? []
    var seen = JSONWriter()
    seen.beginObject()
    page.beginTable("Values side by side", ["Attribute", "Base", "Mine", "Theirs", "Send"])
    for attribute in attributes {
      let name = attribute["name"]?.string ?? ""
      if let theirs = attribute["theirs"] {
        seen.key(name)
        Deed.write(theirs, to: &seen)
      }
      let (base, mine, theirs) = (attribute["base"], attribute["mine"], attribute["theirs"])
      let isConflict =
        mine != nil && base != nil && theirs != nil && HTML.shown(base) != HTML.shown(theirs)
      page.body.open("tr", isConflict ? [("class", "conflict")] : [])
      page.body.markup(#"<th scope="row"><bdi>"#)
      page.body.text(name)
      page.body.markup("</bdi></th>")
      page.cell(HTML.shown(base))
      page.cell(HTML.shown(mine))
      page.cell(HTML.shown(theirs))
      page.body.markup("<td>")
      if canCorrect, attribute["isKey"]?.boolean != true { choice(name, attribute, &page) }
      page.body.markup("</td></tr>")
    }
    seen.endObject()
    page.endTable()
    page.hidden("seen", Base64.encode(seen.bytes))
  }

  private static func choice(_ name: String, _ attribute: JSONNode, _ page: inout Page) {
    let field = "choice.\(name)"
    page.body.open("select", [("name", field), ("id", field), ("aria-label", "Send for \(name)")])
    var choices = [("mine", attribute["isSent"]?.boolean == true ? "mine" : "nothing")]
    if attribute["theirs"] != nil { choices.append(("theirs", "theirs")) }
    if attribute["nullable"]?.boolean == true { choices.append(("empty", "empty")) }
    if attribute["type"]?.string != "binary" { choices.append(("other", "another value:")) }
    for (value, text) in choices { page.body.element("option", text, [("value", value)]) }
    page.body.markup("</select> ")
    guard attribute["type"]?.string != "binary" else { return }
    page.body.open(
      "input",
      [
        ("name", "value.\(name)"), ("id", "value.\(name)"),
        ("aria-label", "Another value for \(name)"), ("autocomplete", "off"),
      ])
  }
}
