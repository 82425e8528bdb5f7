import FerryHTTP
import FerryJSON
import FerryModel
import FerryText

/// How a service writes the values of one attribute in JSON.
struct ValueForm: Sendable, Equatable {
  enum Form: String, Sendable, CaseIterable {
    /// As JSON has it: numbers as numbers, dates as ISO 8601, bytes as Base64.
    case plain
    /// Numbers and truth values in quotes.
    case text
    /// A date and time in UTC, with a `Z`; one with another distance is read too.
    case utc
    /// A date and time without a zone.
    case local
    case epochSeconds
    case epochMilliseconds
    /// `20130131`.
    case compact
    /// As HTTP writes dates.
    case httpDate
  }

  /// Where the value is in the object.
  let path: JSONPath
  let type: AttributeType
  let form: Form
  /// Of a boolean: what stands for true and for false; nil where JSON's own words do.
  let words: (yes: String, no: String)?
  /// What is around the value, as in `/customers/7`; nil where it is written alone.
  let address: (before: String, after: String)?
  /// Whether devices may change it.
  let isReadOnly: Bool

  static func == (one: ValueForm, other: ValueForm) -> Bool {
    one.path == other.path && one.type == other.type && one.form == other.form
      && one.words?.yes == other.words?.yes && one.words?.no == other.words?.no
      && one.address?.before == other.address?.before && one.isReadOnly == other.isReadOnly
  }

  /// In the canonical form of the attribute; nil where the service's value is none.
  func attribute(_ node: JSONNode) -> AttributeValue? {
    switch node.content {
    case .null: return .null
    case .boolean(let value):
      return type == .boolean && words == nil ? .boolean(value) : nil
    case .number(let text): return words == nil ? number(text) : word(text)
    case .string(let text): return words == nil ? self.text(text) : word(text)
    case .array, .object:
      guard type.hasElements else { return nil }
      return type.canonical(.text(String(decoding: JSONDraft(node).bytes, as: UTF8.self)))
    }
  }

  private func word(_ text: String) -> AttributeValue? {
    text == words?.yes ? .boolean(true) : text == words?.no ? .boolean(false) : nil
  }

  private func number(_ text: String) -> AttributeValue? {
    switch type {
    case .boolean: return Int64(text).flatMap { type.canonical(.integer($0)) }
    case .byte, .short, .int, .long:
      let whole = Int64(text) ?? ValueForm.whole(text)
      return whole.flatMap { type.canonical(.integer($0)) }
    case .integer, .decimal: return type.canonical(.text(text))
    case .float, .double:
      guard let number = Double(text), number.isFinite else { return nil }
      return type.canonical(.double(number))
    case .string: return address == nil ? .text(text) : nil
    case .dateTime, .date:
      guard form == .epochSeconds || form == .epochMilliseconds, let number = Double(text),
        (-1e15...1e15).contains(number)
      else { return nil }
      let scale: Double = form == .epochSeconds ? 1_000 : 1
      return Int64(exactly: (number * scale).rounded()).flatMap { moment($0) }
    default: return nil
    }
  }

  /// `5.0` and `1e3` are whole numbers too.
  private static func whole(_ text: String) -> Int64? {
    guard case .text(let digits)? = AttributeType.integer.canonical(.text(text)) else {
      guard case .text(let decimal)? = AttributeType.decimal.canonical(.text(text)) else {
        return nil
      }
      return Int64(decimal)
    }
    return Int64(digits)
  }

  private func text(_ text: String) -> AttributeValue? {
    var text = text
    if let address {
      guard text.hasPrefix(address.before), text.hasSuffix(address.after),
        text.utf8.count > address.before.utf8.count + address.after.utf8.count,
        let inner = PercentEncoding.decode(
          text.utf8.dropFirst(address.before.utf8.count).dropLast(address.after.utf8.count))
      else { return nil }
      text = inner
    }
    switch type {
    case .boolean: return text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    case .byte, .short, .int, .long: return Int64(text).flatMap { type.canonical(.integer($0)) }
    case .float, .double:
      return Double(text).flatMap { $0.isFinite ? type.canonical(.double($0)) : nil }
    case .binary: return Base64.decode(text).map { .bytes($0) }
    case .date where form == .compact:
      guard text.utf8.count == 8 else { return nil }
      let year = text.prefix(4), month = text.dropFirst(4).prefix(2), day = text.suffix(2)
      return type.canonical(.text("\(year)-\(month)-\(day)"))
    case .date:
      // A service may write the midnight with it.
      let day = text.prefix { $0 != "T" && $0 != " " }
      guard day.utf8.count == text.utf8.count || ServiceTime.isMidnight(text) else { return nil }
      return type.canonical(.text(String(day)))
    case .dateTime:
      if form == .httpDate { return HTTPDate.seconds(text).flatMap { moment(Int64($0) * 1_000) } }
      return ServiceTime.utc(text).flatMap { type.canonical(.text($0)) }
    default: return type.canonical(.text(text))
    }
  }

  private func moment(_ milliseconds: Int64) -> AttributeValue? {
    ServiceTime.text(milliseconds: milliseconds).flatMap { text in
      type.canonical(.text(type == .date ? String(text.prefix(10)) : text))
    }
  }

  /// As the service wants it; nil where it has no such value.
  func draft(_ value: AttributeValue) -> JSONDraft? {
    switch value {
    case .null: return .null
    case .boolean(let value):
      if let words { return ValueForm.guessed(value ? words.yes : words.no) }
      return form == .text ? .string(value ? "true" : "false") : .boolean(value)
    case .integer(let number): return wrapped(String(number), isNumber: true)
    case .double(let number):
      guard number.isFinite else { return nil }
      return wrapped(number.description, isNumber: true)
    case .bytes(let bytes): return .string(Base64.encode(bytes))
    case .text(let text):
      switch type {
      case .integer, .decimal: return wrapped(text, isNumber: true)
      case .list, .complex:
        return (try? JSONNode.parse(Array(text.utf8))).map { JSONDraft($0) }
      case .date, .dateTime: return date(text)
      default: return wrapped(text, isNumber: false)
      }
    }
  }

  /// A word of the mapping that looks like a number is one.
  private static func guessed(_ word: String) -> JSONDraft {
    Int64(word) != nil ? .number(word) : .string(word)
  }

  private func wrapped(_ text: String, isNumber: Bool) -> JSONDraft {
    if let address {
      return .string(address.before + PercentEncoding.encode(text) + address.after)
    }
    return isNumber && form != .text ? .number(text) : .string(text)
  }

  private func date(_ text: String) -> JSONDraft? {
    switch form {
    case .compact: return .string(text.filter { $0 != "-" })
    case .epochSeconds, .epochMilliseconds:
      guard let milliseconds = ServiceTime.milliseconds(text) else { return nil }
      guard form == .epochSeconds else { return .number(String(milliseconds)) }
      return milliseconds % 1_000 == 0 ? .number(String(milliseconds / 1_000)) : nil
    case .httpDate: return ServiceTime.milliseconds(text).map { .string(ServiceTime.httpDate($0)) }
    case .local: return .string(text)
    default: return .string(type == .dateTime ? text + "Z" : text)
    }
  }

  /// As an address or a header has it.
  func plain(_ value: AttributeValue) -> String? {
    switch draft(value) {
    case .number(let text)?, .string(let text)?: text
    case .boolean(let value)?: value ? "true" : "false"
    default: nil
    }
  }
}

/// A value as JSON has it by itself, in no form of a mapping.
package enum PlainValue {
  /// In the canonical form of the attribute; nil where it is none. A date and time with a zone becomes
  /// UTC.
  package static func read(_ node: JSONNode, _ type: AttributeType) -> AttributeValue? {
    ValueForm(
      path: .whole, type: type, form: .utc, words: nil, address: nil, isReadOnly: false
    ).attribute(node)
  }
}
