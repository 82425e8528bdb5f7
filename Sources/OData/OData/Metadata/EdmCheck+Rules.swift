/// What names and types alone do not show: rules of V1 to V3 for containers and their functions,
/// names that are taken, and complex types without an end.
extension EdmCheck {
  private static let methods: Set<String> = ["GET", "POST", "PUT", "MERGE", "PATCH", "DELETE"]

  mutating func defaultContainer() {
    guard metadata.version < .v4, !metadata.edmxVersion.isEmpty else { return }
    let containers = metadata.schemas.flatMap(\.containers)
    let standard = containers.filter(\.isDefault)
    if standard.isEmpty, let first = containers.first {
      report("no container is the default", [first.qualifiedName], "the first is used as default")
    }
    for other in standard.dropFirst() {
      report(
        "\(standard[0].qualifiedName) is the default container as well", [other.qualifiedName],
        "the first is used as default")
    }
  }

  mutating func alias(_ alias: String?, of namespace: String) {
    guard let alias, EdmNames.reserved.contains(alias) else { return }
    report(
      "the alias \(alias) is reserved", [namespace], "names that begin with it are not resolved")
  }

  mutating func parameters(_ parameters: [EdmParameter], _ path: [String]) {
    var names: Set<String> = []
    for parameter in parameters where !names.insert(parameter.name).inserted {
      report("the parameter \(parameter.name) is declared twice", path, "both are kept")
    }
  }

  /// A function that a service of V1 to V3 offers by name.
  mutating func serviceFunction(_ item: EdmFunctionImport, _ path: [String]) {
    parameters(item.parameters, path)
    guard item.function == nil else { return }
    if let method = item.method, !Self.methods.contains(method) {
      report("\(method) is not a method that calls a function", path, "it is kept as the method")
    }
    guard let type = item.returnType?.type else { return }
    let isEntity = metadata.entityType(type.name) != nil
    if isEntity, type.isCollection, item.entitySet == nil, metadata.version < .v3 {
      report("\(item.name) returns entities of no set", path, "results have no set")
    }
    if let set = item.entitySet, isKnown(type.name), !isElsewhere(type.name), !isEntity {
      report(
        "\(item.name) names the set \(set) and returns \(type)", path, "the set means nothing")
    }
  }

  /// A complex type that must hold a value of its own type can have no value.
  mutating func endlessTypes() {
    enum State { case open, done }
    var states: [String: State] = [:]
    let types = metadata.schemas.flatMap(\.complexTypes)
    for type in types where states[type.qualifiedName] == nil {
      // A way down of its own: chains may be longer than a stack is deep.
      var way = [(name: type.qualifiedName, rest: needed(by: type)[...])]
      states[type.qualifiedName] = .open
      while let last = way.last {
        guard let next = last.rest.first else {
          states[last.name] = .done
          way.removeLast()
          continue
        }
        way[way.count - 1].rest.removeFirst()
        switch states[next.qualifiedName] {
        case .done?: break
        case .open?:
          report(
            "\(next.qualifiedName) contains itself", [next.qualifiedName],
            "it is kept, and no value of it can be complete")
        case nil:
          states[next.qualifiedName] = .open
          way.append((next.qualifiedName, needed(by: next)[...]))
        }
      }
    }
  }

  private func needed(by type: EdmStructuredType) -> [EdmStructuredType] {
    metadata.properties(of: type).compactMap { property in
      property.facets.isNullable || property.type.isCollection
        ? nil : metadata.complexType(property.type.name)
    }
  }
}
