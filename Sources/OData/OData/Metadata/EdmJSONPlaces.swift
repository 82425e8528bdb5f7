import FerryJSON

/// Finds where a name of CSDL JSON stands; only asked for diagnostics, and then often.
final class EdmJSONPlaces {
  private let root: JSONNode
  private var members: [Int: [String: JSONNode]] = [:]

  init(_ root: JSONNode) { self.root = root }

  /// The offset of a path such as `NS.Type` and `Property`; as near as it can be found.
  func offset(of path: [String]) -> Int {
    var node = root
    for (step, name) in path.enumerated() {
      if step == 0, let dot = name.lastIndex(of: "."),
        let space = child(String(name[..<dot]), of: root)
      {
        node = child(String(name[name.index(after: dot)...]), of: space) ?? space
      } else {
        node = child(name, of: node) ?? node
      }
    }
    return node.offset
  }

  private func child(_ name: String, of node: JSONNode) -> JSONNode? {
    if let known = members[node.offset] { return known[name] }
    var found: [String: JSONNode] = [:]
    for member in node.object ?? [] { found[member.key] = member.value }
    members[node.offset] = found
    return found[name]
  }
}
