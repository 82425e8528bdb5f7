extension EdmMetadata {
  /// How many annotations there are, those on annotations too.
  package var annotationCount: Int {
    func count(_ annotations: [EdmAnnotation]) -> Int {
      annotations.reduce(0) { $0 + 1 + count($1.annotations) + count($1.value) }
    }
    func count(_ value: EdmExpression) -> Int {
      switch value {
      case .record(_, let properties, let annotations):
        properties.reduce(count(annotations)) { $0 + count($1.annotations) + count($1.value) }
      case .collection(let elements), .apply(_, let elements), .operation(_, _, let elements):
        elements.reduce(0) { $0 + count($1) }
      default: 0
      }
    }
    var total = 0
    for schema in schemas {
      total += count(schema.annotations)
      for target in schema.targetedAnnotations { total += count(target.annotations) }
      for type in schema.entityTypes + schema.complexTypes {
        total += count(type.annotations)
        for property in type.properties { total += count(property.annotations) }
        for property in type.navigationProperties { total += count(property.annotations) }
      }
      for type in schema.enumTypes {
        total += count(type.annotations)
        for member in type.members { total += count(member.annotations) }
      }
      for type in schema.typeDefinitions { total += count(type.annotations) }
      for term in schema.terms { total += count(term.annotations) }
      for operation in schema.functions + schema.actions {
        total += count(operation.annotations) + count(operation.returnType?.annotations ?? [])
        for parameter in operation.parameters { total += count(parameter.annotations) }
      }
      for container in schema.containers {
        total += count(container.annotations)
        for set in container.entitySets { total += count(set.annotations) }
        for singleton in container.singletons { total += count(singleton.annotations) }
        for item in container.functionImports { total += count(item.annotations) }
        for item in container.actionImports { total += count(item.annotations) }
      }
    }
    return total
  }
}
