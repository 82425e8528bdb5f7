import FerryHTTP
import FerryJSON
import FerryModel
import FerryText

/// What a form asks of the API.
struct Deed: Sendable {
  let path: [String]
  let body: [UInt8]
  /// Of the page that shows what became of it.
  let query: [String: String]
  private let isTrial: Bool

  /// Nil where no page has such a form.
  init?(_ page: String, _ form: FormBody) {
    var writer = JSONWriter()
    writer.beginObject()
    for name in ["verb", "reason", "message", "key", "password", "cause", "entity", "level"]
    where form.has(name) && !(form[name].isEmpty && (name == "cause" || name == "entity")) {
      writer.field(name, form[name].replacing("\r\n", with: "\n"))
    }
    isTrial = form.has("dryRun")
    if isTrial { writer.field("dryRun", true) }
    if form.has("withPending") { writer.field("withPending", true) }
    switch page {
    case "operation":
      query = ["id": form["id"], "values": form.has("values") ? "1" : "0"]
      if form.has("withdraw") {
        path = ["operations", form["id"], "correction", form["withdraw"], "withdraw"]
      } else {
        path = ["operations", form["id"], "correction"]
        guard Deed.writeValues(form, to: &writer) else { return nil }
      }
    case "causes": (path, query) = (["corrections"], [:])
    case "outcomes": (path, query) = (["outcomes", form["id"]], [:])
    case "device":
      path = ["devices", form["user"], form["device"]]
      query = ["user": form["user"], "device": form["device"]]
    case "data" where form.has("keys"): (path, query) = (["keys"], [:])
    case "data": (path, query) = (["packages", form["package"], "reload"], [:])
    default: return nil
    }
    writer.endObject()
    body = writer.bytes
  }

  /// What the operator chose for each attribute: as it was sent, as the business system has it, empty,
  /// or another value.
  private static func writeValues(_ form: FormBody, to writer: inout JSONWriter) -> Bool {
    let encoded = form["seen"]
    guard !encoded.isEmpty else { return true }
    guard let bytes = Base64.decode(encoded), let seen = try? JSONNode.parse(bytes) else {
      return false
    }
    writer.key("seen")
    writer.raw(bytes)
    writer.key("changed")
    writer.beginObject()
    for (name, choice) in form.named("choice.") {
      switch choice {
      case "theirs":
        guard let value = seen[name] else { continue }
        writer.key(name)
        write(value, to: &writer)
      case "empty": writer.field(name, String?.none)
      case "other":
        writer.field(name, form["value.\(name)"].replacing("\r\n", with: "\n"))
      default: continue
      }
    }
    writer.endObject()
    return true
  }

  static func write(_ value: JSONNode, to writer: inout JSONWriter) {
    switch value.content {
    case .null, .array, .object: writer.null()
    case .boolean(let flag): writer.boolean(flag)
    case .number(let text): writer.raw(text.utf8)
    case .string(let text): writer.string(text)
    }
  }

  func sentence(_ answer: JSONNode) -> String {
    let what = answer["willDo"]?.string
    if let count = answer["operations"]?.integer {
      let not = answer["notDone"]?.array?.count ?? 0
      return "\(isTrial ? "It would be done for" : "Done for") \(count) operations"
        + (not == 0 ? "." : ", and not for \(not).")
    }
    if isTrial { return "Nothing was done yet. \(what ?? "It can be done.")" }
    if path.last == "withdraw" { return "The decision was taken back." }
    return "Done. \(what ?? "")"
  }
}
