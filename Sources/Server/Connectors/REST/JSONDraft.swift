import FerryJSON

/// A JSON value that is being put together.
indirect enum JSONDraft: Sendable, Equatable {
  case null
  case boolean(Bool)
  /// As it is written.
  case number(String)
  case string(String)
  case array([JSONDraft])
  case object([Member])

  struct Member: Sendable, Equatable {
    let key: String
    var value: JSONDraft
  }

  static let empty = JSONDraft.object([])

  init(_ node: JSONNode) {
    switch node.content {
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .number(let text): self = .number(text)
    case .string(let text): self = .string(text)
    case .array(let elements): self = .array(elements.map { JSONDraft($0) })
    case .object(let members):
      self = .object(members.map { Member(key: $0.key, value: JSONDraft($0.value)) })
    }
  }

  subscript(_ key: String) -> JSONDraft? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key == key }?.value
  }

  /// Puts a value at a path; objects that are missing on the way are made.
  mutating func set(_ value: JSONDraft, at steps: ArraySlice<String>) {
    guard let step = steps.first else {
      self = value
      return
    }
    if case .array(var elements) = self, let index = Int(step), elements.indices.contains(index) {
      elements[index].set(value, at: steps.dropFirst())
      self = .array(elements)
      return
    }
    var members: [Member] = []
    if case .object(let own) = self { members = own }
    if let place = members.lastIndex(where: { $0.key == step }) {
      members[place].value.set(value, at: steps.dropFirst())
    } else {
      var inner = JSONDraft.empty
      inner.set(value, at: steps.dropFirst())
      members.append(Member(key: step, value: inner))
    }
    self = .object(members)
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .boolean(let value): writer.boolean(value)
    case .number(let text): writer.raw(text.utf8)
    case .string(let text): writer.string(text)
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.key)
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }

  var bytes: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }
}
