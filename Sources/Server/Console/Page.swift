import FerryAdmin
import FerryHTTP

/// A page around what it shows: the same head, navigation and rules for each.
struct Page {
  let title: String
  /// Who is logged in; nil on the page of the login.
  let person: Operator?
  var csrf: String = ""
  /// What became of what was just asked for.
  var notice: String?
  var isProblem: Bool = false
  var status: Int = 200
  var body = HTML()
  /// Whether its figures are followed while it is open.
  var isLive: Bool = false

  init(_ title: String, _ person: Operator?, csrf: String = "") {
    self.title = title
    self.person = person
    self.csrf = csrf
  }

  private static let places: [(StaticString, StaticString)] = [
    ("overview", "Overview"), ("operations?state=open", "Operations"), ("causes", "Causes"),
    ("outcomes", "Unknown outcomes"), ("devices", "Devices"), ("data", "Data"), ("why", "Why"),
    ("logs?level=warn", "Logs"), ("audit", "Audit log"),
  ]

  var html: String {
    var page = HTML()
    page.markup(
      """
      <!doctype html><html lang="en"><head><meta charset="utf-8">\
      <meta name="viewport" content="width=device-width, initial-scale=1">\
      <meta name="color-scheme" content="light dark">
      """)
    page.element("title", "\(title) – Ferry")
    page.markup(
      """
      <link rel="stylesheet" href="console.css"><link rel="icon" href="data:,">\
      <script type="module" src="console.js"></script></head><body>\
      <a class="skip" href="#main">Skip to the content</a><header>
      """)
    page.element("p", "Ferry", [("class", "brand")])
    if let person {
      page.markup(#"<nav aria-label="Pages"><ul>"#)
      for (place, name) in Page.places {
        page.open("li")
        page.open("a", [("href", "\(place)")])
        page.markup(name)
        page.close("a")
        page.close("li")
      }
      page.markup(#"</ul></nav><form method="post" action="logout" class="who">"#)
      page.element("span", "\(person.name), \(person.role.rawValue)")
      page.open("input", [("type", "hidden"), ("name", "csrf"), ("value", csrf)])
      page.markup("<button>Log out</button></form>")
    }
    page.markup("</header>")
    page.open("main", [("id", "main"), ("tabindex", "-1")])
    page.element("h1", title)
    if let notice {
      page.element(
        "p", notice,
        [
          ("class", isProblem ? "notice problem" : "notice"),
          ("role", isProblem ? "alert" : "status"),
        ])
    }
    page.append(body)
    page.markup("</main></body></html>\n")
    return page.source
  }

  var response: HTTPResponse {
    HTTPResponse(
      status: status, headers: Page.headers("text/html; charset=utf-8"),
      body: .bytes(Array(html.utf8)))
  }

  /// No script and no style but the files of this address, and no other site around or behind it.
  static func headers(_ type: String) -> HTTPHeaders {
    [
      "Content-Type": type, "Cache-Control": "no-store",
      "Content-Security-Policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
      // With "no-referrer" browsers would send no origin with a form.
      "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    ]
  }

  /// A field with its label.
  mutating func field(
    _ label: StaticString, _ name: StaticString, _ value: String = "",
    _ attributes: [(StaticString, String)] = []
  ) {
    body.markup("<label>")
    body.markup(label)
    body.markup(" ")
    body.open("input", [("name", "\(name)"), ("value", value)] + attributes)
    body.markup("</label>")
  }

  mutating func hidden(_ name: String, _ value: String) {
    body.open("input", [("type", "hidden"), ("name", name), ("value", value)])
  }

  mutating func link(_ text: String, _ address: String) {
    body.element("a", text, [("href", address)])
  }

  /// The head of a table; it scrolls by itself where it is wider than the screen.
  mutating func beginTable(_ caption: StaticString, _ columns: [StaticString]) {
    body.open(
      "div",
      [("class", "table"), ("tabindex", "0"), ("role", "region"), ("aria-label", "\(caption)")])
    body.markup("<table><caption>")
    body.markup(caption)
    body.markup("</caption><thead><tr>")
    for column in columns {
      body.markup(#"<th scope="col">"#)
      body.markup(column)
      body.markup("</th>")
    }
    body.markup("</tr></thead><tbody>")
  }

  mutating func endTable() { body.markup("</tbody></table></div>") }

  mutating func cell(_ text: String?) {
    body.markup("<td><bdi>")
    body.text(text ?? "")
    body.markup("</bdi></td>")
  }

  mutating func cell(link text: String, to address: String) {
    body.markup("<td><bdi>")
    link(text, address)
    body.markup("</bdi></td>")
  }

  mutating func cell(time: Int64?) {
    body.markup("<td>")
    body.time(time)
    body.markup("</td>")
  }
}
