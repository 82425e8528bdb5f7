import FerryOData
import FerryODataAddress

/// What of an entity an answer has: the selected properties, and what is expanded.
extension ODataWork {
  func shape(
    _ entries: [ODataEntry], _ set: EdmEntitySet, _ options: ODataQueryOptions, _ form: ODataForm,
    level: Int = 0
  ) async throws(ODataRefusal) -> [ODataEntry] {
    guard !entries.isEmpty else { return [] }
    var shaped = entries
    for index in shaped.indices { shaped[index].links = [] }
    for item in try items(options, set) {
      try await expand(&shaped, set, item, form, level: level)
    }
    let names = selected(options, set)
    for index in shaped.indices {
      if form.hasLinks {
        link(&shaped[index], to: key(of: entries[index], in: set), set, names, form)
      }
      guard let names else { continue }
      shaped[index].properties = ODataProperties(
        shaped[index].properties.filter { names.contains($0.name) })
    }
    return shaped
  }

  /// Says where an entity is, and where its links lead that are not inside of it.
  private func link(
    _ entry: inout ODataEntry, to key: ODataProperties, _ set: EdmEntitySet, _ names: Set<String>?,
    _ form: ODataForm
  ) {
    let place = address(of: key, in: set)
    entry.id = place
    var edit = ODataLink(relation: "edit", href: place, role: .edit)
    edit.title = set.name
    entry.links.insert(edit, at: 0)
    if form.format == .atom {
      entry.title = entry.title ?? ""
      entry.updated = moment
      entry.author = ""
    }
    guard let type = metadata.entityType(set.entityType) else { return }
    for navigation in metadata.navigationProperties(of: type)
    where names?.contains(navigation.name) ?? true {
      let href = "\(place)/\(navigation.name)"
      if let index = entry.links.firstIndex(where: { $0.navigation == navigation.name }) {
        entry.links[index].href = href
        continue
      }
      var link = ODataLink.related(navigation.name, href: href)
      if form.format == .atom {
        let kind = navigation.type?.isCollection == true ? "feed" : "entry"
        link.type = "application/atom+xml;type=\(kind)"
      }
      entry.links.append(link)
    }
  }

  /// Names of the properties that are wanted; nil: all.
  private func selected(_ options: ODataQueryOptions, _ set: EdmEntitySet) -> Set<String>? {
    guard !options.select.isEmpty, !options.select.contains(where: { $0.path == ["*"] }) else {
      return nil
    }
    return Set(options.select.compactMap(\.path.first))
  }

  /// What is to be expanded, with `*` as the names that it stands for.
  private func items(
    _ options: ODataQueryOptions, _ set: EdmEntitySet
  ) throws(ODataRefusal) -> [ODataExpandItem] {
    var items: [ODataExpandItem] = []
    for item in options.expand {
      guard item.path.count == 1, let name = item.path.first else {
        throw .notOffered("$expand of a path with several names")
      }
      guard name != "*" else {
        guard let type = metadata.entityType(set.entityType) else { continue }
        for navigation in metadata.navigationProperties(of: type)
        where metadata.target(of: navigation.name, from: set) != nil {
          items.append(
            ODataExpandItem([navigation.name], content: item.content, options: item.options))
        }
        continue
      }
      items.append(item)
    }
    return items
  }

  private func expand(
    _ entries: inout [ODataEntry], _ set: EdmEntitySet, _ item: ODataExpandItem,
    _ form: ODataForm, level: Int
  ) async throws(ODataRefusal) {
    guard level < limits.expandLevels else {
      throw ODataRefusal(
        501, "tooDeep",
        "$expand goes deeper than \(limits.expandLevels) levels. Ask for the rest in a second request.",
        target: "$expand")
    }
    let name = item.path[0]
    let (navigation, target) = try self.navigation(name, from: set)
    let isCollection = navigation.type?.isCollection == true
    try refuseInner(item.options)
    let related = try await source.related(
      entries, of: set, by: navigation, limit: limits.expandedRows)
    guard budget.take(related.reduce(0) { $0 + $1.count }) else {
      throw ODataRefusal(
        501, "tooMuch",
        "More than \(limits.expandedRows) entities would come inside of others. Ask for fewer with "
          + "$top, or without $expand.", target: "$expand")
    }
    try budget.check("$expand")
    var chosen: [(entries: [ODataEntry], count: Int)] = []
    var query = item.options
    query.filter = condition(item.options, target)
    query.search = nil
    query.select = []
    query.expand = []
    query.levels = nil
    query.count = nil
    let needs = try ODataNeeds(self, target, item.options)
    let filled = try await needs.filled(related.flatMap(\.self))
    var rest = filled[...]
    for found in related {
      let own = Array(rest.prefix(found.count))
      rest = rest.dropFirst(found.count)
      do throws(ODataError) { chosen.append(try evaluator.apply(query, to: own)) } catch {
        throw refusal(error)
      }
      await budget.shareThread()
    }
    var inner = item.options
    switch inner.levels {
    case nil: break
    case .max: inner.expand.append(item)
    case .exactly(let count):
      if count > 1 {
        var next = item
        next.options.levels = .exactly(count - 1)
        inner.expand.append(next)
      }
    }
    let isLastOfMax = item.options.levels == .max && level + 1 >= limits.expandLevels
    if isLastOfMax { inner.expand.removeLast() }
    let flat = try await shape(
      chosen.flatMap(\.entries), target, inner, form, level: level + 1)
    var shaped = flat[...]
    for (index, part) in chosen.enumerated() {
      let own = Array(shaped.prefix(part.entries.count))
      shaped = shaped.dropFirst(part.entries.count)
      attach(
        own, count: part.count, to: &entries[index], item, name, target, isCollection: isCollection)
    }
  }

  private func attach(
    _ own: [ODataEntry], count: Int, to entry: inout ODataEntry, _ item: ODataExpandItem,
    _ name: String, _ target: EdmEntitySet, isCollection: Bool
  ) {
    switch item.content {
    case .entities:
      guard isCollection else {
        entry.links.append(.related(name, inline: .entry(own.first)))
        return
      }
      var feed = ODataFeed(own)
      if item.options.count == true { feed.head.count = String(count) }
      entry.links.append(.related(name, inline: .feed(feed)))
    case .references:
      let references = own.map { other in
        var reference = ODataEntry()
        reference.id = address(of: key(of: other, in: target), in: target)
        return reference
      }
      entry.links.append(
        .related(
          name,
          inline: isCollection ? .feed(ODataFeed(references)) : .entry(references.first)))
    case .count:
      entry.annotations["odata.count"] = nil
      var property = ODataProperty("\(name)@odata.count", .int32(Int32(clamping: count)))
      property.type = EdmTypeReference("Edm.Int32")
      entry.properties.append(property)
    }
  }

  private func refuseInner(_ options: ODataQueryOptions) throws(ODataRefusal) {
    if !options.compute.isEmpty { throw .notOffered("$compute in $expand") }
    if options.skipToken != nil || options.deltaToken != nil {
      throw .notOffered("a token in $expand")
    }
  }
}
