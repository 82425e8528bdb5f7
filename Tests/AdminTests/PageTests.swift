import FerryHTTP
import FerryJSON
import FerryModel
import FerryText
import FerryWire
import Foundation
import Testing

@testable import FerryAdmin
@testable import FerryConsole

@Suite("Pages of the control center", .timeLimit(.minutes(60)))
struct PageTests {
  @Test("A text of others is shown, never run, and steers nothing")
  func escaped() {
    let text = "<a href='x' onclick=\"y\">&\u{7}\u{202E}\u{2028}\u{200B}é😀"
    #expect(
      HTML.escaped(text)
        == "&lt;a href=&#39;x&#39; onclick=&quot;y&quot;&gt;&amp;\\u{7}\\u{202E}\\u{2028}\\u{200B}é😀"
    )
    var page = Page("<t>", Operator(name: "<n>", role: .viewer), csrf: "\"c")
    page.notice = "<w>"
    page.field("Label", "name", "\"><v>")
    page.hidden("<h>", "'\"")
    page.cell("<c>")
    for mark in ["<t>", "<n>", "<w>", "<v>", "<h>", "<c>", "\"\"c"] {
      #expect(!page.html.contains(mark), "\(mark)")
    }
  }

  @Test("Every page forbids scripts and styles in the text, and other sites around it")
  func headers() throws {
    let headers = Page("x", nil).response.headers
    let policy = try #require(headers["Content-Security-Policy"])
    for part in [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
    ] {
      #expect(policy.contains(part))
    }
    #expect(!policy.contains("unsafe"))
    #expect(!Page("x", Operator(name: "n", role: .viewer)).html.contains(" style="))
  }

  @Test(
    "A login leads to a page of this address only",
    arguments: [
      ("operation?id=3f", "operation?id=3f"), ("//evil.example", "overview"),
      ("https://evil.example", "overview"), ("javascript:x", "overview"), ("\\\\evil", "overview"),
      ("a\r\nSet-Cookie: x", "overview"), ("", "overview"),
    ])
  func place(_ next: String, _ wanted: String) {
    #expect(LoginPage.place(next) == wanted)
  }

  @Test(
    "Times are written in UTC",
    arguments: [
      (Int64(1), "1970-01-01 00:00:00"), (951_782_400_000, "2000-02-29 00:00:00"),
      (1_795_820_399_000, "2026-11-27 22:59:59"),
    ])
  func times(_ milliseconds: Int64, _ wanted: String) {
    #expect(HTML.utc(milliseconds) == wanted)
  }

  @Test("A form becomes one request, and the values that it carries come back as they were")
  func form() throws {
    let seen = #"{"note":"a\r\n\u0007\u202e","quantity":5}"#
    let fields = [
      ("id", "3f"), ("verb", "release"), ("reason", "r & s"), ("message", ""),
      ("seen", Base64.encode(Array(seen.utf8))), ("choice.note", "theirs"), ("value.note", ""),
      ("choice.quantity", "other"), ("value.quantity", "10"), ("choice.customer", "mine"),
      ("choice.date", "empty"),
    ]
    let body = fields.map { "\(PercentEncoding.encode($0))=\(PercentEncoding.encode($1))" }
      .joined(separator: "&")
    let request = HTTPRequest(
      method: .post, path: "/operation",
      headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(body.utf8))
    let form = try #require(FormBody(request))
    let deed = try #require(Deed("operation", form))
    #expect(deed.path == ["operations", "3f", "correction"])
    let node = try JSONNode.parse(deed.body)
    #expect(node["reason"]?.string == "r & s")
    #expect(node["changed"]?["note"]?.string == "a\r\n\u{7}\u{202E}")
    #expect(node["changed"]?["quantity"]?.string == "10")
    #expect(node["changed"]?["date"]?.isNull == true)
    #expect(node["changed"]?["customer"] == nil)
    #expect(node["seen"]?["quantity"]?.integer == 5)
  }

  @Test("Each path of the API has a role, and each schema is JSON")
  func described() throws {
    for name in AdminSchemas.all.keys {
      let text = try #require(AdminSchemas.named(name))
      let schema = try JSONNode.parse(Array(text.utf8))
      #expect(schema["title"]?.string == name && schema["required"]?.array?.isEmpty == false)
    }
    for path in AdminAPI.paths where path.method != "GET" {
      #expect(path.audit != nil, "\(path.path) leaves no line")
    }
  }

  @Test(
    "The documentation has each action with role, terminal, audit line and undo; none is missing")
  func actions() throws {
    let page = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Documentation/Console.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").drop { !$0.hasPrefix("| action | role |") }
      .dropFirst(2).prefix { $0.hasPrefix("|") }.map(String.init)
    #expect(rows == AdminAction.all.map(\.row))
    for path in AdminAPI.paths where path.method != "GET" || path.audit != nil {
      let found = AdminAction.all.filter { $0.method == path.method && $0.path == path.path }
      #expect(!found.isEmpty, "\(path.method) \(path.path)")
      let noted = Set(found.flatMap(\.audit).map(\.rawValue))
      let said = Set((path.audit ?? "").split(separator: ", ").map(String.init))
      #expect(said.isSubset(of: noted) && said.isEmpty == noted.isEmpty, "\(path.path)")
      #expect(found.allSatisfy { ($0.role ?? .viewer) == path.role }, "\(path.path)")
    }
    for action in AdminAction.all {
      #expect(
        AdminAPI.paths.contains { $0.method == action.method && $0.path == action.path },
        "\(action.name)")
    }
  }

  @Test(
    "A cause has the words of a refusal without its values",
    arguments: [
      ("412", "stock \"A7\" has 12 left", "412 stock … has … left"),
      ("422", "no", "422 no"),
    ])
  func cause(_ code: String, _ message: String, _ wanted: String) throws {
    let record = LogRecord(
      component: "Order", entityKey: "1", code: try #require(Int(code)), message: message,
      operation: .update, requestID: try #require(OperationID(String(repeating: "a", count: 32))),
      timestamp: 1, level: .error)
    #expect(AdminAPI.cause(of: record) == wanted)
  }
}
