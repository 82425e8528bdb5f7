import FerryJSON
import FerryModel

/// Roles and claims as they are kept with an operation, and as values of an attribute's type.
package enum ClaimText {
  package static func encode(roles: [String]) -> String {
    var writer = JSONWriter()
    writer.array(roles) { $0.string($1) }
    return writer.text
  }

  package static func decodeRoles(_ text: String) -> [String] {
    (try? JSONNode.parse(Array(text.utf8)))?.array?.compactMap(\.string) ?? []
  }

  /// Nil: all.
  package static func encode(packages: [String]?) -> String? {
    packages.map { encode(roles: $0) }
  }

  /// What cannot be read allows nothing.
  package static func decodePackages(_ text: String?) -> [String]? {
    text.map { decodeRoles($0) }
  }

  package static func encode(_ claims: [String: [String]]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, values) in claims.sorted(by: { $0.key < $1.key }) {
      writer.key(name)
      writer.array(values) { $0.string($1) }
    }
    writer.endObject()
    return writer.text
  }

  package static func decode(_ text: String) -> [String: [String]] {
    guard let node = try? JSONNode.parse(Array(text.utf8)) else { return [:] }
    return decode(node)
  }

  /// A claim is one value or a list of them: strings, numbers or booleans.
  static func decode(_ node: JSONNode?) -> [String: [String]] {
    var claims: [String: [String]] = [:]
    for member in node?.object ?? [] {
      claims[member.key] = (member.value.array ?? [member.value]).compactMap(text)
    }
    return claims
  }

  private static func text(_ node: JSONNode) -> String? {
    switch node.content {
    case .string(let text): text
    case .number(let number): number
    case .boolean(let flag): flag ? "true" : "false"
    default: nil
    }
  }
}
