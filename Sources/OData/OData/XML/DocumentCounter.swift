/// Counts the elements of an XML document while it streams.
package final class DocumentCounter {
  package private(set) var root: (space: XMLSpace, local: String)?
  package private(set) var counts: [String: Int] = [:]
  package private(set) var schemas: [String] = []
  private let parser: XMLPush
  /// Nodes of the tree that were counted.
  private var seen = 0

  package init(limits: ODataLimits) { parser = XMLPush(limits: limits) }

  /// Takes the next bytes; nothing is kept of what was counted.
  package func push(_ bytes: [UInt8]) throws(ODataError) { try parser.push(bytes) { take() } }

  package func finish() throws(ODataError) {
    try parser.finish()
    take()
  }

  private func add(_ name: String) { counts[name, default: 0] += 1 }

  /// Counts what the parser has added, and has it forgotten.
  private func take() {
    let tree = parser.tree
    let count = tree.memory.pointee.nodes.count
    for index in seen..<max(seen, count) {
      let node = tree.memory.pointee.nodes[index]
      if node.name >= 0 { self.count(node, in: tree, isRoot: index == 0) }
    }
    parser.forget()
    seen = tree.memory.pointee.nodes.count
  }

  private func count(_ node: XMLNode, in tree: XMLTree, isRoot: Bool) {
    let own = tree.names[node.name]
    if isRoot { root = (own.space, own.local) }
    var parent: XMLNames.Name?
    if node.parent >= 0 {
      parent = tree.names[tree.memory.pointee.nodes[Int(node.parent)].name]
    }
    if parent?.word == .properties { add("properties") }
    switch own.space {
    case .atom: atom(own.local, parent, isRoot: isRoot, isChildOfRoot: node.parent == 0)
    case .tombstone where own.local == "deleted-entry": add("deletedEntries")
    case .edm, .none, .other: edm(own.local, parent?.local)
    default: break
    }
    for number in Int(node.attributeStart)..<Int(node.attributeEnd) {
      let part = tree.memory.pointee.attributes[number]
      let attribute = tree.names[part.name]
      if attribute.space == .sap { add("sapAttributes") }
      switch (attribute.space, attribute.local) {
      case (.metadata, "null") where ["true", "1"].contains(tree.value(part)):
        add("nullProperties")
      case (.metadata, "etag") where own.word == .entry: add("entriesWithETag")
      case (.none, "src") where own.word == .content: add("mediaEntries")
      case (.none, "Namespace") where own.local == "Schema": schemas.append(tree.value(part))
      default: break
      }
    }
  }

  private func atom(
    _ local: String, _ parent: XMLNames.Name?, isRoot: Bool, isChildOfRoot: Bool
  ) {
    switch local {
    case "link": add("links")
    case "entry":
      add("entriesIncludingInline")
      if isRoot || (isChildOfRoot && parent?.local == "feed") { add("entries") }
    case "feed" where !isRoot: add("inlineFeeds")
    default: break
    }
  }

  private func edm(_ local: String, _ parent: String?) {
    switch local {
    case "EntityType": add("entityTypes")
    case "ComplexType": add("complexTypes")
    case "EnumType": add("enumTypes")
    case "TypeDefinition": add("typeDefinitions")
    case "Association": add("associations")
    case "EntitySet" where parent == "EntityContainer": add("entitySets")
    case "Singleton" where parent == "EntityContainer": add("singletons")
    case "FunctionImport": add("functionImports")
    case "ActionImport": add("actionImports")
    case "Function" where parent == "Schema": add("functions")
    case "Action" where parent == "Schema": add("actions")
    case "Property" where parent == "EntityType": add("entityProperties")
    case "Property" where parent == "ComplexType": add("complexProperties")
    case "NavigationProperty": add("navigationProperties")
    case "Annotation": add("annotations")
    default: break
    }
  }
}
