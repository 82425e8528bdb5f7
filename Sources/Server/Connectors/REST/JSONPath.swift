import FerryJSON

/// Where something is in a JSON text: a pointer of RFC 6901. The empty one is the whole text.
package struct JSONPath: Sendable, Hashable, CustomStringConvertible {
  package let steps: [String]

  static let whole = JSONPath(steps: [])

  init(steps: [String]) { self.steps = steps }

  /// `/address/city`; a name without a slash in front is a member of the text. Nil for what is none.
  package init?(_ text: String) {
    guard text.utf8.count <= 1_000 else { return nil }
    guard !text.isEmpty else {
      steps = []
      return
    }
    guard text.hasPrefix("/") else {
      steps = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      return
    }
    var steps: [String] = []
    for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      var step = ""
      var rest = part
      while let next = rest.first {
        rest.removeFirst()
        guard next == "~" else {
          step.append(next)
          continue
        }
        switch rest.first {
        case "0": step.append("~")
        case "1": step.append("/")
        default: return nil
        }
        rest.removeFirst()
      }
      steps.append(step)
    }
    self.steps = steps
  }

  package var description: String {
    steps.map { step in
      "/" + step.replacing("~", with: "~0").replacing("/", with: "~1")
    }.joined()
  }

  /// What was found at a path.
  enum Found {
    case node(JSONNode)
    case nothing
    /// An object on the way has the member twice: which one counts is not known.
    case twice(String)
  }

  func find(in node: JSONNode) -> Found {
    var node = node
    for step in steps {
      switch node.content {
      case .object(let members):
        var found: JSONNode?
        for member in members where member.key == step {
          guard found == nil else { return .twice(step) }
          found = member.value
        }
        guard let found else { return .nothing }
        node = found
      case .array(let elements):
        guard let index = Int(step), step == String(index), elements.indices.contains(index) else {
          return .nothing
        }
        node = elements[index]
      default: return .nothing
      }
    }
    return .node(node)
  }

  /// Nil where there is nothing, or something twice.
  package func node(in node: JSONNode) -> JSONNode? {
    if case .node(let found) = find(in: node) { found } else { nil }
  }
}

extension JSONNode {
  /// A text, or a number or a truth value as it was written; nil for all else.
  package var plainText: String? {
    switch content {
    case .string(let text): text
    case .number(let text): text
    case .boolean(let value): value ? "true" : "false"
    default: nil
    }
  }
}
