import FerryOData
import FerryODataAddress

/// `$search` as a condition: a word is somewhere in one of the texts of an entity, in whatever case.
extension ODataWork {
  /// What `$filter` and `$search` of some options ask of the entities of a set.
  func condition(_ options: ODataQueryOptions, _ set: EdmEntitySet) -> ODataExpression? {
    guard let search = options.search else { return options.filter }
    let names = metadata.entityType(set.entityType).map { type in
      metadata.properties(of: type).filter { metadata.primitive($0.type.name) == .string }
        .filter { !$0.type.isCollection }.map(\.name)
    }
    let found = Self.expression(search, names ?? [])
    return options.filter.map { .and([$0, found]) } ?? found
  }

  private static func expression(_ search: ODataSearch, _ names: [String]) -> ODataExpression {
    switch search {
    case .word(let text), .phrase(let text), .incomplete(let text):
      let places = names.map { name -> ODataExpression in
        let path = ODataExpression.path(ODataPath(name))
        return .call(.contains, [.call(.toLower, [path]), .literal(.string(text.lowercased()))])
      }
      guard let first = places.first else { return .literal(.boolean(false)) }
      // A property without a value has no word, and `not` must see that.
      let any = places.count == 1 ? first : .or(places)
      return .compare(.equal, any, .literal(.boolean(true)))
    case .not(let inner): return .not(expression(inner, names))
    case .and(let parts): return .and(parts.map { expression($0, names) })
    case .or(let parts): return .or(parts.map { expression($0, names) })
    }
  }
}
