import FerryOData

extension AddressChecker {
  /// Options of what has a type; nothing is known of the rest.
  func options(
    _ options: ODataQueryOptions, _ type: EdmTypeReference?, _ around: String
  ) throws(AddressFault) {
    let element = type?.element
    let outer = computed
    defer { computed = outer }
    for item in options.compute {
      part = around + "$compute"
      _ = try self.type(of: item.expression, element, nil)
      computed.insert(item.name)
    }
    if let filter = options.filter {
      part = around + "$filter"
      try condition(filter, element, nil)
    }
    for order in options.orderBy {
      part = around + "$orderby"
      let found = try self.type(of: order.expression, element, nil)
      if let found, found.isCollection || metadata.structuredType(found.name) != nil {
        throw fault(
          .typeMismatch, "\(found) has no order", at: column(of: order.expression),
          "sort by one of its properties")
      }
    }
    for alias in options.aliases {
      part = around + "@" + alias.name
      _ = try self.type(of: alias.value, element, nil)
    }
    guard let element, let structure = structure(element) else { return }
    for item in options.select {
      part = around + "$select"
      let found = try items(item.path, item.columns, structure)
      try self.options(item.options, found, "\(part)=\(item.path.last ?? "")/")
    }
    for item in options.expand {
      part = around + "$expand"
      let found = try items(item.path, item.columns, structure)
      try expandable(item, found)
      if item.content == .count, found?.isCollection == false {
        throw fault(
          .typeMismatch, "\(item.path.last ?? "") is not a collection", at: item.columns[0],
          "remove /$count")
      }
      try self.options(item.options, found, "\(part)=\(item.path.last ?? "")/")
    }
  }

  /// What is expanded is a navigation property or a stream.
  private func expandable(
    _ item: ODataExpandItem, _ found: EdmTypeReference?
  ) throws(AddressFault) {
    guard let found, item.path.last?.contains(".") == false, item.path.last != "*" else { return }
    guard metadata.entityType(found.name) != nil || found.primitive == .stream else {
      throw fault(
        .typeMismatch, "\(item.path.last ?? "") leads to no entity", at: item.columns[0],
        "select it instead")
    }
  }

  /// The type at the end of a path of names; nil where it is not known.
  private func items(
    _ path: [String], _ columns: ODataColumns, _ start: EdmStructuredType
  ) throws(AddressFault) -> EdmTypeReference? {
    var type: EdmTypeReference? = EdmTypeReference(start.qualifiedName)
    for (index, name) in path.enumerated() {
      if name == "*" || name.hasSuffix(".*") || name.hasPrefix("@") || name == "$value" {
        return nil
      }
      guard let own = type, let structure = structure(own) else { return nil }
      let isCollection = own.isCollection
      if name.contains(".") {
        if metadata.structuredType(name) == nil {
          guard metadata.operations(name).isEmpty else { return nil }
          throw unknown(name, "type, function or action", columns[index], [])
        }
        try derives(name, own, columns[index])
        type = EdmTypeReference(metadata.resolve(name), isCollection: isCollection)
        continue
      }
      if computed.contains(name), index == 0 { return nil }
      if let property = metadata.property(name, of: structure) {
        type = property.type
      } else if let navigation = metadata.navigationProperty(name, of: structure) {
        type = navigation.type
      } else if metadata.isOpen(structure) {
        return nil
      } else {
        throw unknown(
          name, "property of \(structure.qualifiedName)", columns[index], names(of: structure))
      }
    }
    return type
  }

  /// A condition must be true or false where its type is known.
  func condition(
    _ expression: ODataExpression, _ element: EdmTypeReference?, _ column: Int?
  ) throws(AddressFault) {
    let found = try type(of: expression, element, column)
    if let found, metadata.primitive(found.name) != .boolean || found.isCollection {
      throw fault(
        .typeMismatch, "\(found) is not a condition", at: self.column(of: expression) ?? column,
        "compare it with something")
    }
  }
}
