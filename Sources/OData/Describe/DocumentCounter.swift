/// Counts the elements of an XML document while it streams.
final class DocumentCounter: XMLReceiver {
  private(set) var root: (space: XMLSpace, local: String)?
  private(set) var counts: [String: Int] = [:]
  private(set) var schemas: [String] = []
  private var stack: [Int32] = []

  private func add(_ name: String) { counts[name, default: 0] += 1 }

  func start(
    _ name: Int32, attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int,
    from parser: XMLPush
  ) throws(ODataError) {
    let names = parser.names
    let own = names[name]
    if stack.isEmpty { root = (own.space, own.local) }
    let parent = stack.last.map { names[$0] }
    stack.append(name)
    if parent?.space == .metadata, parent?.local == "properties" { add("properties") }
    switch own.space {
    case .atom: atom(own.local, parent)
    case .tombstone where own.local == "deleted-entry": add("deletedEntries")
    case .edm, .none, .other: edm(own.local, parent?.local)
    default: break
    }
    guard let attributes else { return }
    for number in 0..<count {
      let base = attributes + number * 5
      guard let local = base[0], let start = base[3], let end = base[4] else { continue }
      let attribute = names[names.id(local, base[1], base[2])]
      if attribute.space == .sap { add("sapAttributes") }
      func text() -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
      }
      switch (attribute.space, attribute.local) {
      case (.metadata, "null") where text() == "true" || text() == "1": add("nullProperties")
      case (.metadata, "etag") where own.space == .atom && own.local == "entry":
        add("entriesWithETag")
      case (.none, "src") where own.space == .atom && own.local == "content":
        add("mediaEntries")
      case (.none, "Namespace") where own.local == "Schema": schemas.append(text())
      default: break
      }
    }
  }

  private func atom(_ local: String, _ parent: XMLNames.Name?) {
    switch local {
    case "link": add("links")
    case "entry":
      add("entriesIncludingInline")
      if stack.count == 1 || (stack.count == 2 && parent?.local == "feed") { add("entries") }
    case "feed" where stack.count > 1: add("inlineFeeds")
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

  func end(from parser: XMLPush) throws(ODataError) { stack.removeLast() }
  func characters(_ text: UnsafeBufferPointer<UInt8>, from parser: XMLPush) throws(ODataError) {}
  func complain(_ message: String, from parser: XMLPush) {}
}
