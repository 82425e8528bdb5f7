import FerryJSON
import FerryModel
import FerrySQLite

extension RowQuery {
  /// Rows of one table as they are, so that counting them needs no inner query.
  var isPlain: Bool {
    parts.isEmpty && groups.isEmpty && joins.isEmpty && items.isEmpty && !isDistinct
      && taken == nil && skipped == 0
  }
}

extension SelectItem {
  /// The name that an item has by itself.
  var plainName: String? {
    switch content {
    case .attribute(_, _, let name), .named(let name): name
    case .aggregate: nil
    }
  }

  /// For messages, and for columns that nobody named: `sum(total)`.
  var shown: String {
    switch content {
    case .named(let name): name
    case .attribute(let source, let entity, let name):
      (source ?? entity).map { "\($0).\(name)" } ?? name
    case .aggregate(let aggregate, let inner):
      "\(aggregate.rawValue)(\(inner.map { $0.plainName ?? $0.shown } ?? "*"))"
    }
  }
}

extension Entity {
  func attribute(named name: String) -> Attribute? { position(of: name).map { attributes[$0] } }

  /// Those whose words are in the full-text index.
  var searched: [Attribute] { attributes.filter(\.fullText) }
}

extension AttributeType {
  /// A number without a fraction that SQLite holds as one.
  var isWhole: Bool {
    switch self {
    case .byte, .short, .int, .long: true
    default: false
    }
  }

  /// The value in the form in which this type is compared; nil where the two have nothing in common.
  func comparable(_ value: AttributeValue) -> AttributeValue? {
    switch (self, value) {
    // Numbers of different kinds compare as numbers.
    case (.byte, .integer), (.short, .integer), (.int, .integer), (.long, .integer): value
    case (.byte, .double), (.short, .double), (.int, .double), (.long, .double): value
    case (.float, .text(let text)), (.double, .text(let text)):
      Double(text).map(AttributeValue.double)
    default: canonical(value)
    }
  }
}

extension SQLiteValue {
  /// The values as one JSON array; nil where one is not a number or a text.
  static func list(_ values: [SQLiteValue]) -> String? {
    var writer = JSONWriter()
    writer.beginArray()
    for value in values {
      switch value {
      case .integer(let number): writer.integer(number)
      case .text(let text): writer.string(text)
      default: return nil
      }
    }
    writer.endArray()
    return writer.text
  }
}

/// What somebody typed into a search field, as the full-text index takes it.
struct SearchWords {
  /// Each word in quotes, so that nothing in it has a meaning of its own; all must be there. A text
  /// in quotes stays together, and a star at a word's end stands for more letters.
  let expression: String

  init(_ typed: String) {
    // SQLite's text ends at a NUL; in the index it parts two words.
    let typed = String(typed.map { $0 == "\0" ? " " : $0 })
    var terms: [String] = []
    // Scalars, for a quote before a combining mark is a quote all the same.
    let scalars = typed.unicodeScalars
    for (index, piece) in scalars.split(separator: "\"", omittingEmptySubsequences: false)
      .enumerated()
    {
      if index % 2 == 1 {
        terms.append("\"\(Substring(piece))\"")
        continue
      }
      for word in piece.split(whereSeparator: \.properties.isWhitespace) {
        let isBeginning = word.last == "*"
        let letters = word.split(separator: "*").map { String($0) }.joined()
        if !letters.isEmpty { terms.append("\"\(letters)\"" + (isBeginning ? "*" : "")) }
      }
    }
    expression = terms.isEmpty ? "\"\"" : terms.joined(separator: " ")
  }
}
