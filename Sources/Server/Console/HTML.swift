import FerryJSON
import FerryModel

/// A page as it is written. Every text from elsewhere goes through `text`: there is no other way to put
/// one in, so that none is ever run.
struct HTML {
  private(set) var source: String = ""

  /// Markup of our own, as it is.
  mutating func markup(_ markup: StaticString) { source += "\(markup)" }

  /// A text of anybody. What steers a browser or a terminal, or turns the direction of writing, is
  /// written out.
  mutating func text(_ text: String) { source += HTML.escaped(text) }

  /// An element with a text in it, apart from the direction of writing around it.
  mutating func element(
    _ name: StaticString, _ text: String, _ attributes: [(StaticString, String)] = []
  ) {
    open(name, attributes)
    self.text(text)
    close(name)
  }

  mutating func open(_ name: StaticString, _ attributes: [(StaticString, String)] = []) {
    source += "<\(name)"
    for (key, value) in attributes { source += " \(key)=\"\(HTML.escaped(value))\"" }
    source += ">"
  }

  mutating func close(_ name: StaticString) { source += "</\(name)>" }

  mutating func append(_ other: HTML) { source += other.source }

  static func escaped(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": shown += "&amp;"
      case "<": shown += "&lt;"
      case ">": shown += "&gt;"
      case "\"": shown += "&quot;"
      case "'": shown += "&#39;"
      case "\n": shown += "\n"
      default:
        if isHarmless(scalar) {
          shown.unicodeScalars.append(scalar)
        } else {
          shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
      }
    }
    return shown
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      false
    default: true
    }
  }
}

extension HTML {
  /// A moment in UTC, which a script adds the reader's own time to.
  mutating func time(_ milliseconds: Int64?) {
    guard let milliseconds, milliseconds > 0 else { return element("span", "–") }
    let text = HTML.utc(milliseconds)
    element("time", text, [("datetime", text.replacing(" ", with: "T") + "Z")])
    markup(" UTC")
  }

  static func utc(_ milliseconds: Int64) -> String {
    let (days, second) = (milliseconds / 1_000).quotientAndRemainder(dividingBy: 86_400)
    guard let date = LocalDate(daysSince1970: days),
      let time = LocalTime(
        hour: Int(second / 3_600), minute: Int(second / 60 % 60), second: Int(second % 60))
    else { return "\(milliseconds) ms" }
    return "\(date) \(time)"
  }

  /// Seconds as people say them.
  static func age(_ seconds: Int64) -> String {
    switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7_200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3_600) h"
    default: "\(seconds / 86_400) days"
    }
  }

  /// A value of JSON for people; long ones are cut.
  static func shown(_ node: JSONNode?) -> String {
    guard let node else { return "" }
    let text =
      switch node.content {
      case .null: "(empty)"
      case .boolean(let flag): flag ? "true" : "false"
      case .number(let text), .string(let text): text
      case .array, .object: "…"
      }
    return text.utf8.count <= 4_096
      ? text : String(text.prefix(1_000)) + "… (\(text.utf8.count) bytes)"
  }

  /// A link with a query.
  static func link(_ page: StaticString, _ query: [(StaticString, String?)]) -> String {
    let pairs = query.compactMap { name, value in
      value.map { "\(name)=\(PercentText.encode($0))" }
    }
    return pairs.isEmpty ? "\(page)" : "\(page)?\(pairs.joined(separator: "&"))"
  }
}
