import FerryHTTP
import FerryOData
import FerryODataAddress

/// Answers to GET and HEAD.
extension ODataWork {
  func read() async throws(ODataRefusal) -> HTTPResponse {
    try refuseUnknownOptions()
    let (target, ending) = try await walk()
    if let token = options.deltaToken {
      guard call.version >= .v4, case (.set(let set), .none) = (target, ending) else {
        throw .notOffered("$deltatoken at this address")
      }
      return try await changes(set, since: token)
    }
    switch (target, ending) {
    case (.set(let set), .none): return try await feed(set)
    case (.set(let set), .count): return try await count(set)
    case (.entities(let entries, let set), .none):
      return try await feed(entries, set)
    case (.entities(let entries, let set), .count):
      return try plain(String(try matching(entries, set).count))
    case (.entity(let entry?, let set), .none): return try await single(entry, set)
    case (.entity(nil, _), .none) where call.version < .v4: throw .notFound("The related entity")
    case (.entity(nil, _), .none),
      (.value(_, _, _, _), .none) where call.version >= .v4 && isNothing(target):
      return HTTPResponse(status: 204)
    case (.value(let property, let path, let entry, let set), .none):
      return try value(property, path, entry, set)
    case (.value(let property, _, _, _), .value): return try raw(property)
    case (.value(let property, _, _, _), .count):
      guard let values = property.value.collection else { throw .notOffered("$count of a value") }
      return try plain(String(values.count))
    case (.entity(let entry?, let set), .reference): return try reference(entry, set)
    case (.entities(let entries, let set), .reference):
      return try references(try matching(entries, set), set)
    case (.set(let set), .reference) where call.version >= .v4:
      return try await references(set)
    default: throw .notOffered("this address with GET")
    }
  }

  private func isNothing(_ target: Target) -> Bool {
    switch target {
    case .entity(let entry, _): entry == nil
    case .value(let property, _, _, _): property.value.isNull
    default: false
    }
  }

  private func refuseUnknownOptions() throws(ODataRefusal) {
    if options.id != nil { throw .notOffered("$id") }
    if options.index != nil { throw .notOffered("$index") }
    if !options.compute.isEmpty { throw .notOffered("$compute") }
    if let custom = options.custom.first(where: { $0.name.hasPrefix("$") }) {
      throw .notOffered(custom.name)
    }
  }

  // One entity.

  private func single(
    _ entry: ODataEntry, _ set: EdmEntitySet
  ) async throws(ODataRefusal) -> HTTPResponse {
    let form = try call.form()
    var headers: HTTPHeaders = ["Content-Type": form.contentType(.entry)]
    if let etag = entry.etag {
      headers["ETag"] = etag
      if matches(call.request.headers.values("If-None-Match"), etag) {
        return HTTPResponse(status: 304, headers: ["ETag": etag])
      }
    }
    let shaped = try await shape([entry], set, options, form)
    return HTTPResponse(
      status: 200, headers: headers, body: .bytes(try body(shaped[0], set, form)))
  }

  /// Whether one of the tags that a header names is this one; weak ones are compared too.
  func matches(_ values: [String], _ etag: String) -> Bool {
    let own = etag.hasPrefix("W/") ? String(etag.dropFirst(2)) : etag
    return values.flatMap { $0.split(separator: ",") }.contains { item in
      let tag = String(item).trimmedBlanks
      return tag == "*" || (tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag) == own
    }
  }

  /// An entity as a document of its own.
  func body(
    _ entry: ODataEntry, _ set: EdmEntitySet, _ form: ODataForm
  ) throws(ODataRefusal) -> [UInt8] {
    var entry = entry
    if form.metadata != .none {
      entry.context = call.root + "$metadata#" + set.name + contextColumns + "/$entity"
    }
    if form.metadata == .none { entry = bare(entry) }
    do throws(ODataError) {
      return try service.composer(form).body(entry, .archive)
    } catch { throw ODataRefusal(error) }
  }

  /// Without what only a client needs that reads the controls.
  func bare(_ entry: ODataEntry) -> ODataEntry {
    var entry = entry
    entry.etag = nil
    entry.id = nil
    for index in entry.links.indices {
      entry.links[index].href = ""
      switch entry.links[index].inline {
      case .entry(let inner?): entry.links[index].inline = .entry(bare(inner))
      case .feed(var feed):
        feed.items = feed.entries.map { .entry(bare($0)) }
        entry.links[index].inline = .feed(feed)
      default: break
      }
    }
    return entry
  }

  /// What was selected and expanded, as the context tells it.
  var contextColumns: String { Self.columns(options) }

  private static func columns(_ options: ODataQueryOptions) -> String {
    var parts = options.select.map { $0.path.joined(separator: "/") }
    for item in options.expand where item.content == .entities {
      parts.append(item.path.joined(separator: "/") + inner(item.options))
    }
    return parts.isEmpty ? "" : "(\(parts.joined(separator: ",")))"
  }

  private static func inner(_ options: ODataQueryOptions) -> String {
    let text = columns(options)
    return text.isEmpty ? "()" : text
  }

  // Sets.

  private func count(_ set: EdmEntitySet) async throws(ODataRefusal) -> HTTPResponse {
    try plain(String(try await ODataScan(self, set).count()))
  }

  private func feed(_ set: EdmEntitySet) async throws(ODataRefusal) -> HTTPResponse {
    let form = try call.form()
    let scan = try ODataScan(self, set)
    let count = options.count == true ? try await scan.count() : nil
    return try await feed(try await scan.rows(), set, count: count, form)
  }

  /// Entities that are here already, such as those of a navigation property.
  private func feed(
    _ entries: [ODataEntry], _ set: EdmEntitySet
  ) async throws(ODataRefusal) -> HTTPResponse {
    let form = try call.form()
    let ready = try await ODataNeeds(self, set).filled(entries)
    let matching = try matching(ready, set)
    let bound = window(matching)
    return try await feed(
      ODataRows(ready: bound), set, count: options.count == true ? matching.count : nil, form)
  }

  /// Those that the filter holds for, in the order that is asked for.
  private func matching(
    _ entries: [ODataEntry], _ set: EdmEntitySet
  ) throws(ODataRefusal) -> [ODataEntry] {
    var query = ODataQueryOptions()
    query.filter = condition(options, set)
    query.orderBy = options.orderBy
    do throws(ODataError) { return try evaluator.apply(query, to: entries).entries } catch {
      throw refusal(error)
    }
  }

  private func window(_ entries: [ODataEntry]) -> [ODataEntry] {
    let rest = entries.dropFirst(options.skip ?? 0)
    return Array(options.top.map { rest.prefix($0) } ?? rest)
  }

  func feed(
    _ rows: ODataRows, _ set: EdmEntitySet, count: Int?, _ form: ODataForm,
    isOfReferences: Bool = false, isOfChanges: Bool = false
  ) async throws(ODataRefusal) -> HTTPResponse {
    var head = ODataFeedHead()
    if form.metadata != .none {
      head.context =
        call.root
        + (isOfReferences ? "$metadata#Collection($ref)" : "$metadata#" + set.name + contextColumns)
        + (isOfChanges ? "/$delta" : "")
    }
    head.count = count.map { String($0) }
    if form.format == .atom {
      head.id = call.root + set.name
      head.title = set.name
      head.updated = moment
      head.links = [ODataLink(relation: "self", href: set.name, title: set.name, role: .`self`)]
    }
    let body = ODataFeedBody(self, set, rows, head, form, isOfReferences: isOfReferences)
    // What is wrong with the first rows is a status, not a feed that is cut.
    let first = try await body.begin()
    var headers: HTTPHeaders = ["Content-Type": form.contentType(.feed)]
    var applied = rows.pageSize == nil ? [] : ["odata.maxpagesize"]
    if rows.mark != nil, call.preference("track-changes") != nil {
      applied.append("odata.track-changes")
    }
    if !applied.isEmpty { headers["Preference-Applied"] = applied.joined(separator: ", ") }
    return HTTPResponse(
      status: 200, headers: headers, body: first.isWhole ? .bytes(first.bytes) : .stream(body))
  }

  /// The addresses of all entities of a set.
  private func references(_ set: EdmEntitySet) async throws(ODataRefusal) -> HTTPResponse {
    let form = try call.form()
    let scan = try ODataScan(self, set)
    let count = options.count == true ? try await scan.count() : nil
    return try await feed(
      try await scan.rows(), set, count: count, form, isOfReferences: true)
  }

  /// Atom wants to know when something was changed last, which nobody has kept.
  var moment: String {
    service.now().map { EdmValue.dateTimeOffset($0).text } ?? "1970-01-01T00:00:00Z"
  }
}
