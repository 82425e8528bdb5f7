import FerryJSON

/// The members of one object of a model file, by key.
typealias ModelFields = [String: (node: JSONNode, place: ModelPlace)]

extension DraftReader {
  /// The known members; unknown, double and missing ones are noted.
  mutating func object(
    _ node: JSONNode, path: String, of subject: String, keys: [ModelKey]
  ) -> ModelFields? {
    let here = ModelPlace(offset: node.offset, path: path)
    guard let members = node.object else {
      findings.error(here, "\(subject) must be an object, in braces", cure: "Write { … } here.")
      return nil
    }
    var fields: ModelFields = [:]
    for member in members {
      let inner = path.isEmpty ? member.key : "\(path).\(member.key)"
      let keyPlace = ModelPlace(offset: member.keyOffset, path: inner)
      if !keys.contains(where: { $0.name == member.key }) {
        findings.error(
          keyPlace, "\(subject) has no \"\(member.key)\"",
          cure: NearestWord.cure(member.key, among: keys.map(\.name)))
      } else if fields[member.key] != nil {
        findings.error(
          keyPlace, "\"\(member.key)\" is written twice", cure: "Keep one of them.")
      } else {
        fields[member.key] = (member.value, ModelPlace(offset: member.value.offset, path: inner))
      }
    }
    for key in keys where key.isRequired && fields[key.name] == nil {
      findings.error(here, "\(subject) needs \"\(key.name)\"", cure: "Add \"\(key.name)\".")
    }
    return fields
  }

  mutating func text(_ fields: ModelFields, _ key: String) -> Placed<String>? {
    fields[key].flatMap { text($0.node, $0.place) }
  }

  mutating func text(_ node: JSONNode, _ place: ModelPlace) -> Placed<String>? {
    guard let text = node.string, !text.isEmpty else {
      findings.error(place, "a text was expected", cure: "Write it in double quotes, not empty.")
      return nil
    }
    return Placed(content: text, place: place)
  }

  mutating func flag(_ fields: ModelFields, _ key: String) -> Bool {
    guard let field = fields[key] else { return false }
    guard let flag = field.node.boolean else {
      findings.error(
        field.place, "\"\(key)\" must be true or false",
        cure: "Write true or false, without quotes.")
      return false
    }
    return flag
  }

  mutating func number(_ fields: ModelFields, _ key: String) -> Placed<Int64>? {
    guard let field = fields[key] else { return nil }
    guard let number = field.node.integer else {
      findings.error(
        field.place, "\"\(key)\" must be a whole number", cure: "Write it without quotes.")
      return nil
    }
    return Placed(content: number, place: field.place)
  }

  mutating func choice<Kind: RawRepresentable & CaseIterable>(
    _ fields: ModelFields, _ key: String, of kind: Kind.Type
  ) -> Placed<Kind>? where Kind.RawValue == String {
    guard let text = text(fields, key), let value = self.kind(text, of: kind) else { return nil }
    return Placed(content: value, place: text.place)
  }

  mutating func kind<Kind: RawRepresentable & CaseIterable>(
    _ text: Placed<String>, of kind: Kind.Type
  ) -> Kind? where Kind.RawValue == String {
    if let value = Kind(rawValue: text.content) { return value }
    findings.error(
      text.place, "\"\(text.content)\" is unknown here",
      cure: NearestWord.cure(text.content, among: Kind.allCases.map(\.rawValue)))
    return nil
  }

  mutating func texts(_ fields: ModelFields, _ key: String) -> [Placed<String>] {
    elements(fields, key).compactMap {
      text($0.node, ModelPlace(offset: $0.node.offset, path: $0.path))
    }
  }

  mutating func texts(_ node: JSONNode, _ path: String) -> [Placed<String>] {
    elements(node, path).compactMap {
      text($0.node, ModelPlace(offset: $0.node.offset, path: $0.path))
    }
  }

  mutating func elements(
    _ fields: ModelFields, _ key: String
  ) -> [(node: JSONNode, path: String)] {
    guard let field = fields[key] else { return [] }
    return elements(field.node, field.place.path)
  }

  private mutating func elements(
    _ node: JSONNode, _ path: String
  ) -> [(node: JSONNode, path: String)] {
    guard let elements = node.array else {
      findings.error(
        ModelPlace(offset: node.offset, path: path), "a list was expected, in brackets",
        cure: "Write [ … ] here.")
      return []
    }
    return elements.enumerated().map { ($1, "\(path)[\($0)]") }
  }
}
