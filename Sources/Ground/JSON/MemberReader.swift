/// Reads the members of a file that people write, and names the place of what is wrong.
package protocol MemberReader {
  associatedtype Fault: Error

  /// What is wrong at a node.
  func fault(_ node: JSONNode, _ text: String) -> Fault

  /// A member that nobody reads; `what` names the object that has it.
  func unknown(_ member: JSONNode.Member, of what: String, known: [String]) -> Fault
}

extension MemberReader {
  package func unknown(_ member: JSONNode.Member, of what: String, known: [String]) -> Fault {
    fault(
      member.value,
      "\(what) has no member \"\(member.key)\"; known are \(known.joined(separator: ", "))")
  }

  /// A member that nobody reads may be a rule that its writer relies on.
  package func check(_ node: JSONNode, _ known: [String], _ what: String) throws(Fault) {
    guard let members = node.object else { throw fault(node, "\(what) is not an object") }
    var seen: Set<String> = []
    for member in members {
      guard known.contains(member.key) else { throw unknown(member, of: what, known: known) }
      guard seen.insert(member.key).inserted else {
        throw fault(member.value, "\"\(member.key)\" is there twice")
      }
    }
  }

  /// Without control characters; nil where the member is missing.
  package func text(_ node: JSONNode, _ member: String) throws(Fault) -> String? {
    guard let value = node[member] else { return nil }
    guard let text = value.string, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw fault(value, "\"\(member)\" is not a text")
    }
    return text
  }

  package func texts(_ node: JSONNode, _ member: String) throws(Fault) -> [String]? {
    guard let value = node[member] else { return nil }
    let texts = value.array?.map(\.string) ?? [nil]
    guard !texts.contains(nil) else { throw fault(value, "\"\(member)\" is not a list of texts") }
    return texts.compactMap { $0 }
  }

  package func flag(_ node: JSONNode, _ member: String) throws(Fault) -> Bool? {
    guard let value = node[member] else { return nil }
    guard let flag = value.boolean else {
      throw fault(value, "\"\(member)\" is neither true nor false")
    }
    return flag
  }

  package func number(
    _ node: JSONNode, _ member: String, _ range: ClosedRange<Int64>
  ) throws(Fault) -> Int? {
    guard let value = node[member] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw fault(
        value, "\"\(member)\" is not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(number)
  }
}
