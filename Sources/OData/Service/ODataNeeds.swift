import FerryOData
import FerryODataAddress

/// Which related entities a condition or an order looks at, so that they are there when it is evaluated.
struct ODataNeeds: Sendable {
  /// A navigation property with those behind it.
  indirect enum Tree: Sendable {
    case node([String: Tree])

    static let leaf = Tree.node([:])
    var children: [String: Tree] {
      switch self {
      case .node(let children): children
      }
    }

    func adding(_ path: ArraySlice<String>) -> Tree {
      guard let first = path.first else { return self }
      var children = self.children
      children[first] = (children[first] ?? .leaf).adding(path.dropFirst())
      return .node(children)
    }
  }

  private let work: ODataWork
  private let set: EdmEntitySet
  private let tree: Tree
  /// Whether no related entity is looked at.
  var isEmpty: Bool { tree.children.isEmpty }

  /// Without `options` those of the whole answer.
  init(
    _ work: ODataWork, _ set: EdmEntitySet, _ options: ODataQueryOptions? = nil
  ) throws(ODataRefusal) {
    let options = options ?? work.options
    self.work = work
    self.set = set
    var gathering = Gathering(metadata: work.metadata)
    let expressions = [options.filter].compactMap(\.self) + options.orderBy.map(\.expression)
    for expression in expressions + work.options.aliases.map(\.value) {
      gathering.gather(expression, Scope(type: set.entityType))
    }
    tree = gathering.paths.reduce(.leaf) { $0.adding($1[...]) }
  }

  /// The entries with what is needed inside their links; those of the answer itself are made later.
  func filled(_ entries: [ODataEntry]) async throws(ODataRefusal) -> [ODataEntry] {
    var count = 0
    return try await Self.fill(entries, set, tree, work, &count)
  }

  private static func fill(
    _ entries: [ODataEntry], _ set: EdmEntitySet, _ tree: Tree, _ work: ODataWork,
    _ count: inout Int
  ) async throws(ODataRefusal) -> [ODataEntry] {
    guard !entries.isEmpty else { return [] }
    var entries = entries
    for (name, inner) in tree.children.sorted(by: { $0.key < $1.key }) {
      let (navigation, target) = try work.navigation(name, from: set)
      let related = try await work.source.related(
        entries, of: set, by: navigation, limit: work.limits.expandedRows)
      // Each level may multiply what the level before it found.
      count += related.reduce(0) { $0 + $1.count }
      guard count <= work.limits.expandedRows else {
        throw ODataRefusal(
          501, "tooMuch",
          "More than \(work.limits.expandedRows) entities of \(name) would have to be looked at. Ask "
            + "for less with a narrower $filter, or for \(target.name) itself.", target: name)
      }
      try work.budget.check("$filter or $orderby")
      // One call for all of them, and back to where each belongs.
      let flat = try await fill(related.flatMap(\.self), target, inner, work, &count)
      var rest = flat[...]
      for (index, found) in related.enumerated() {
        let own = Array(rest.prefix(found.count))
        rest = rest.dropFirst(found.count)
        entries[index].links.removeAll { $0.navigation == name }
        entries[index].links.append(
          .related(
            name,
            inline: navigation.type?.isCollection == true
              ? .feed(ODataFeed(own)) : .entry(own.first)))
      }
    }
    return entries
  }

  /// What names mean.
  private struct Scope {
    /// Of the entity itself.
    let type: String
    /// Variables of lambdas: the way to their collection, and its type.
    var variables: [String: (path: [String], type: String)] = [:]
  }

  /// Walks expressions and keeps the ways that lead through navigation properties.
  private struct Gathering {
    let metadata: EdmMetadata
    var paths: [[String]] = []

    /// The way of a path to its last entity, and the type there.
    mutating func follow(_ path: ODataPath, _ scope: Scope) -> (path: [String], type: String)? {
      var way: [String] = []
      var type: String? = scope.type
      var steps = path.steps[...]
      if path.start == .entry, case .name(let name)? = steps.first,
        let variable = scope.variables[name]
      {
        (way, type) = (variable.path, variable.type)
        steps = steps.dropFirst()
      }
      for step in steps {
        switch step {
        case .name(let name):
          guard let known = type.flatMap({ metadata.structuredType($0) }) else { break }
          if let navigation = metadata.navigationProperty(name, of: known) {
            way.append(name)
            paths.append(way)
            type = navigation.type?.name
          } else if let property = metadata.property(name, of: known) {
            type = property.type.name
          }
        case .filter(let condition):
          gather(condition, Scope(type: type ?? "", variables: scope.variables), at: way)
        case .count(let options):
          if let filter = options.filter {
            gather(filter, Scope(type: type ?? "", variables: scope.variables), at: way)
          }
        default: break
        }
      }
      return type.map { (way, $0) }
    }

    /// A condition that is asked of entities behind a way.
    private mutating func gather(_ expression: ODataExpression, _ scope: Scope, at way: [String]) {
      let before = paths.count
      gather(expression, scope)
      for index in paths.indices.dropFirst(before) { paths[index] = way + paths[index] }
    }

    mutating func gather(_ expression: ODataExpression, _ scope: Scope) {
      switch expression {
      case .literal: break
      case .path(let path): _ = follow(path, scope)
      case .list(let items), .array(let items), .and(let items), .or(let items):
        for item in items { gather(item, scope) }
      case .object(let members): for member in members { gather(member.value, scope) }
      case .not(let inner), .negate(let inner): gather(inner, scope)
      case .compare(_, let left, let right), .arithmetic(_, let left, let right):
        gather(left, scope)
        gather(right, scope)
      case .call(_, let arguments): for argument in arguments { gather(argument, scope) }
      case .cast(let value, _), .isOf(let value, _): if let value { gather(value, scope) }
      case .choice(let choices):
        for choice in choices {
          gather(choice.condition, scope)
          gather(choice.value, scope)
        }
      case .lambda(let lambda):
        let collection = follow(lambda.collection, scope)
        guard let predicate = lambda.predicate else { return }
        var inner = scope
        if let variable = lambda.variable, let collection { inner.variables[variable] = collection }
        gather(predicate, inner)
      }
    }
  }
}
