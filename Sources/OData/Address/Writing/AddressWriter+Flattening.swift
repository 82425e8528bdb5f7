import FerryOData

/// Options inside of `$expand`, as V2 and V3 write them: paths in the options of the address.
extension AddressWriter {
  func flattened(_ options: ODataQueryOptions) throws(AddressFault) -> ODataQueryOptions {
    guard options.expand.contains(where: { !$0.options.isEmpty }) else { return options }
    var flat = options
    flat.expand = []
    flat.select = []
    let needsStar = options.select.isEmpty && hasSelect(options.expand)
    try flatten(options, [], needsStar, into: &flat)
    return flat
  }

  private func hasSelect(_ items: [ODataExpandItem]) -> Bool {
    items.contains { !$0.options.select.isEmpty || hasSelect($0.options.expand) }
  }

  private func flatten(
    _ options: ODataQueryOptions, _ prefix: [String], _ needsStar: Bool,
    into flat: inout ODataQueryOptions
  ) throws(AddressFault) {
    if needsStar { flat.select.append(ODataSelectItem(prefix + ["*"])) }
    for item in options.select {
      flat.select.append(
        ODataSelectItem(prefix + item.path, parameters: item.parameters, options: item.options))
    }
    let selects = needsStar || !options.select.isEmpty
    for item in options.expand {
      var rest = item.options
      (rest.select, rest.expand) = ([], [])
      guard rest.isEmpty else {
        throw unwritable(
          "V\(version.rawValue) has only $select and $expand inside of $expand",
          "ask for the related entities by themselves")
      }
      let path = prefix + item.path
      if item.options.expand.isEmpty {
        flat.expand.append(ODataExpandItem(path, content: item.content))
      }
      // What is selected at all must name what is expanded.
      if selects, item.options.select.isEmpty, !hasSelect(item.options.expand) {
        flat.select.append(ODataSelectItem(path))
      }
      let inner = item.options.select.isEmpty && selects && hasSelect(item.options.expand)
      try flatten(item.options, path, inner, into: &flat)
    }
  }
}
