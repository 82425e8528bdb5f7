/// Finds where a name of metadata stands; only asked for diagnostics, and then often.
final class EdmXMLPlaces {
  private let schemas: [XMLElement]
  /// The elements of the schemas by qualified name, gathered when the first is asked for.
  private lazy var elements: [String: XMLElement] = {
    var found: [String: XMLElement] = [:]
    for schema in schemas {
      let space = schema.attribute("Namespace") ?? ""
      found[space] = found[space] ?? schema
      for child in schema.children where child.local != "Annotation" {
        guard let name = child.attribute("Name") else { continue }
        let qualified = "\(space).\(name)"
        if found[qualified] == nil { found[qualified] = child }
      }
    }
    return found
  }()
  private var inner: [Int32: [String: XMLElement]] = [:]

  init(_ schemas: [XMLElement]) { self.schemas = schemas }

  /// The place of a path such as `NS.Type` and `Property`; as near as it can be found.
  func place(_ path: [String]) -> ODataPlace {
    guard let first = path.first, var element = elements[first] else {
      return schemas.first?.place ?? ODataPlace()
    }
    for name in path.dropFirst() {
      guard let next = child(name, of: element) else { break }
      element = next
    }
    return element.place
  }

  private func child(_ name: String, of element: XMLElement) -> XMLElement? {
    if let known = inner[element.index] { return known[name] }
    var found: [String: XMLElement] = [:]
    for child in element.children {
      if let name = child.attribute("Name"), found[name] == nil { found[name] = child }
    }
    inner[element.index] = found
    return found[name]
  }
}
