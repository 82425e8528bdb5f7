import FerryJSON
import FerryModel

/// Tells of values only their types and lengths, also where a message quotes them.
///
/// Lengths are in characters of the canonical text, of binary values in bytes.
struct HiddenValues {
  /// The model of the database, where it can be read.
  let model: Package?

  /// Values under the names of attributes, as an operation keeps them.
  func members(of entity: String, _ json: String, _ writer: inout JSONWriter) {
    let entity = model?.entity(named: entity)
    writer.beginObject()
    for member in (try? JSONNode.parse(Array(json.utf8)))?.object ?? [] {
      writer.key(member.key)
      let type = entity?.position(of: member.key).map { entity?.attributes[$0].type }
      value(member.value, type ?? nil, &writer)
    }
    writer.endObject()
  }

  /// The values of a key, in its order.
  func key(of entity: String, _ text: String, _ writer: inout JSONWriter) {
    let entity = model?.entity(named: entity)
    let types = entity.map { entity in entity.key.map { entity.attributes[$0].type } } ?? []
    let nodes = (try? JSONNode.parse(Array("[\(text)]".utf8)))?.array ?? []
    writer.beginArray()
    for (index, node) in nodes.enumerated() {
      value(node, types.indices.contains(index) ? types[index] : nil, &writer)
    }
    writer.endArray()
  }

  /// A value whose entity is not known by its attributes.
  func value(_ value: AttributeValue, _ type: AttributeType?, _ writer: inout JSONWriter) {
    let name = type?.rawValue
    switch value {
    case .null: writer.null()
    case .boolean: hidden(name ?? "boolean", 1, &writer)
    case .integer(let number): hidden(name ?? "long", String(number).count, &writer)
    case .double(let number): hidden(name ?? "double", number.description.count, &writer)
    case .text(let text): hidden(name ?? "string", text.count, &writer)
    case .bytes(let bytes): hidden(name ?? "binary", bytes.count, &writer)
    }
  }

  private func value(_ node: JSONNode, _ type: AttributeType?, _ writer: inout JSONWriter) {
    let name = type?.rawValue
    switch node.content {
    case .null: writer.null()
    case .boolean: hidden(name ?? "boolean", 1, &writer)
    case .number(let text): hidden(name ?? "number", text.count, &writer)
    case .string(let text):
      // Four letters of Base64 are three bytes.
      let length = type == .binary ? text.filter { $0 != "=" }.count * 3 / 4 : text.count
      hidden(name ?? "string", length, &writer)
    case .array(let elements): hidden(name ?? "list", elements.count, &writer)
    case .object(let members): hidden(name ?? "complex", members.count, &writer)
    }
  }

  private func hidden(_ type: String, _ length: Int, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("type", type)
    writer.field("length", length)
    writer.endObject()
  }

  // Messages.

  /// The message with `<n characters>` instead of what may be a value: what stands in quotes, what
  /// has a digit, and each of `values`.
  static func message(_ text: String, hiding values: [String]) -> String {
    var characters = Array(text)
    var isHidden = [Bool](repeating: false, count: characters.count)
    for value in Set(values) where !value.isEmpty { mark(Array(value), characters, &isHidden) }
    markQuoted(characters, &isHidden)
    markNumbers(characters, &isHidden)
    var shown = ""
    characters.append(" ")
    var count = 0
    for (index, character) in characters.enumerated() {
      if index < isHidden.count, isHidden[index] {
        count += 1
        continue
      }
      if count > 0 { shown += "<\(count) character\(count == 1 ? "" : "s")>" }
      count = 0
      if index < isHidden.count { shown.append(character) }
    }
    return shown
  }

  /// Whole words only: a value "a" is not in every "a" of a message.
  private static func mark(_ value: [Character], _ text: [Character], _ isHidden: inout [Bool]) {
    guard value.count <= text.count else { return }
    for start in 0...(text.count - value.count)
    where text[start] == value[0] && text[start..<(start + value.count)].elementsEqual(value) {
      let end = start + value.count
      let isInWord =
        (start > 0 && isWord(text[start - 1]) && isWord(value[0]))
        || (end < text.count && isWord(text[end]) && isWord(value[value.count - 1]))
      if !isInWord { for place in start..<end { isHidden[place] = true } }
    }
  }

  private static let quotes: [Character: Character] = [
    "\"": "\"", "'": "'", "`": "`", "“": "”", "„": "“", "‘": "’", "«": "»", "»": "«",
  ]

  /// What stands between quotes; an apostrophe inside a word is none.
  private static func markQuoted(_ text: [Character], _ isHidden: inout [Bool]) {
    var start = 0
    while start < text.count {
      guard let closing = quotes[text[start]], start == 0 || !isWord(text[start - 1]) else {
        start += 1
        continue
      }
      let end = text.indices.dropFirst(start + 1).first { place in
        text[place] == closing && (place + 1 == text.count || !isWord(text[place + 1]))
      }
      guard let end else {
        start += 1
        continue
      }
      for place in (start + 1)..<end { isHidden[place] = true }
      start = end + 1
    }
  }

  /// Words that have a digit, with the points, colons and signs inside them: amounts, dates, keys.
  private static func markNumbers(_ text: [Character], _ isHidden: inout [Bool]) {
    let inner: Set<Character> = [".", ",", ":", "-", "/", "@", "_", "+"]
    var start = 0
    while start < text.count {
      guard isWord(text[start]) else {
        start += 1
        continue
      }
      var end = start
      while end < text.count,
        isWord(text[end])
          || (inner.contains(text[end]) && end + 1 < text.count && isWord(text[end + 1]))
      {
        end += 1
      }
      if text[start..<end].contains(where: \.isNumber) {
        for place in start..<end { isHidden[place] = true }
      }
      start = end
    }
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber
  }
}
