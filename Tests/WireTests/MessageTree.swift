import FerryJSON

/// JSON of which one place can be replaced: how a test makes one member of a message too long.
indirect enum MessageTree {
  case text(String)
  case list([MessageTree])
  case table([(name: String, value: MessageTree)])
  /// A number, true, false or null.
  case other(String)

  /// A place in a message: where it is, and the words by which Wire.md names it.
  struct Place {
    let steps: [Int]
    let name: String
    let tree: MessageTree
  }

  init(_ node: JSONNode) {
    switch node.content {
    case .string(let text): self = .text(text)
    case .array(let elements): self = .list(elements.map { MessageTree($0) })
    case .object(let members): self = .table(members.map { ($0.key, MessageTree($0.value)) })
    case .number(let text): self = .other(text)
    case .boolean(let flag): self = .other(flag ? "true" : "false")
    case .null: self = .other("null")
    }
  }

  var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .text(let text): writer.string(text)
    case .list(let elements): writer.array(elements) { $1.write(to: &$0) }
    case .table(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.name)
        member.value.write(to: &writer)
      }
      writer.endObject()
    case .other(let text): writer.raw(text.utf8)
    }
  }

  /// The same with another tree at a place.
  func replacing(_ steps: some Collection<Int>, with tree: MessageTree) -> MessageTree {
    guard let step = steps.first else { return tree }
    switch self {
    case .list(var elements):
      elements[step] = elements[step].replacing(steps.dropFirst(), with: tree)
      return .list(elements)
    case .table(var members):
      members[step].value = members[step].value.replacing(steps.dropFirst(), with: tree)
      return .table(members)
    case .text, .other: return self
    }
  }

  /// Every text, list and table in it but the message itself. `isTable`: whether the members of a
  /// place are names that somebody chose, written as `*`. Of a list the first element is walked.
  func places(isTable: (String) -> Bool) -> [Place] {
    var found: [Place] = []
    walk([], "", isTable, &found)
    return found
  }

  private func walk(
    _ steps: [Int], _ name: String, _ isTable: (String) -> Bool, _ found: inout [Place]
  ) {
    switch self {
    case .text: found.append(Place(steps: steps, name: name, tree: self))
    case .other: return
    case .list(let elements):
      found.append(Place(steps: steps, name: name, tree: self))
      guard let first = elements.first else { return }
      if case .table = first, !isTable(name + "[]") {
        first.walk(steps + [0], name, isTable, &found)
      } else {
        first.walk(steps + [0], name + "[]", isTable, &found)
      }
    case .table(let members):
      let isTableHere = isTable(name)
      if isTableHere { found.append(Place(steps: steps, name: name, tree: self)) }
      for (index, member) in members.enumerated() {
        let word = isTableHere ? "*" : member.name
        member.value.walk(
          steps + [index], name.isEmpty ? word : "\(name).\(word)", isTable, &found)
      }
    }
  }
}
