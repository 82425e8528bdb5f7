import FerryConnector
import FerryModel
import FerryOData
import FerryODataClient

/// Loading, and the changes of others.
extension ODataConnector {
  public func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    let entities = scope.entities.filter { !$0.isOperation && self.scope(of: $0) != .none }
    var first = 0
    var from: FeedPlace?
    if let place {
      let parts = place.text.split(separator: "\n", maxSplits: 1)
      guard let found = entities.firstIndex(where: { $0.name == parts.first.map(String.init) })
      else {
        throw ConnectorError(
          "The place of the load is none of the model", hint: "The load begins anew.",
          isTransient: false)
      }
      first = found
      from = parts.count > 1 ? FeedPlace(text: parts[1]) : nil
    }
    for index in entities.indices.dropFirst(first) {
      let entity = entities[index]
      let behind = index + 1 < entities.count ? LoadPlace(entities[index + 1].name) : nil
      let form = try requiredForm(of: entity)
      let reader = FeedReader(
        FeedLine(try connection.service()), form, from: from, tracks: !compares)
      from = nil
      try chunks(reader) { chunk throws(ConnectorError) in
        var images: [RowImage] = []
        for image in chunk.rows {
          if let row = image.rejected { rejected(row) } else { images.append(image) }
        }
        let next =
          chunk.isLast ? behind : chunk.place.map { LoadPlace("\(entity.name)\n\($0.text)") }
        if !images.isEmpty { try each(LoadPage(entity: entity, rows: images, next: next)) }
      }
      guard !compares else { continue }
      connection.keepLoadLink(Bridge.wait({ await reader.deltaLink }), of: form.linkName)
    }
    return LoadEnd(isComplete: true, isSnapshot: false)
  }

  /// While some rows are worked on, the next ones are on their way.
  private func chunks(
    _ reader: FeedReader, _ body: (FeedReader.Chunk) throws(ConnectorError) -> Void
  ) throws(ConnectorError) {
    var ahead = Bridge.begin { await reader.next() }
    while true {
      let chunk = try noted(ahead.wait())
      if !chunk.isLast { ahead = Bridge.begin { await reader.next() } }
      try body(chunk)
      if chunk.isLast { return }
    }
  }

  private func noted<Value>(_ result: Result<Value, FeedFailure>) throws(ConnectorError) -> Value {
    do throws(FeedFailure) {
      let value = try result.get()
      connection.memory.noteReached(true)
      return value
    } catch {
      if error.kind == .unauthorized { connection.noteRejected() }
      connection.memory.noteReached(error.kind != .away)
      throw error.error
    }
  }

  // MARK: Changes of others

  public func changedByOthers() throws(ConnectorError) -> Bool {
    try !changes(since: nil).hints.isEmpty
  }

  public func follow(_ entities: Set<String>) { followed = entities }

  public func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    let start = connection.memory.clock.uptime
    defer { comparison.took(connection.memory.clock.uptime - start) }
    let given = DeltaLinks(cursor)
    var links = DeltaLinks()
    var hints: [ChangeHint] = []
    do throws(ConnectorError) {
      for entity in package.entities
      where !entity.isOperation && scope(of: entity) != .none
        && followed?.contains(entity.name) ?? true
      {
        let form = try requiredForm(of: entity)
        let known = given[form.linkName] ?? connection.loadLink(form.linkName)
        if let link = known, let found = try changes(at: link, form) {
          hints += ODataConnector.hints(found, entity)
          if let next = found.link {
            links[form.linkName] = next
            lostLinks[entity.name] = nil
            continue
          }
        }
        guard compares else {
          connection.keepLoadLink(nil, of: form.linkName)
          hints.append(.entity(entity.name))
          continue
        }
        if let link = try compare(form) {
          links[form.linkName] = link
          // What was changed before the link was given only a load can bring.
          hints.append(.entity(entity.name))
        }
        connection.track(form.set.name, links[form.linkName] != nil)
      }
    } catch {
      comparison.abandon()
      throw error
    }
    return BusinessChanges(cursor: links.text, hints: hints + comparison.takeHints())
  }

  /// Nil where the link leads nowhere any more.
  private func changes(
    at link: String, _ form: EntityForm
  ) throws(ConnectorError) -> DeltaReader.Changes? {
    let reader = DeltaReader(FeedLine(try connection.service()), form)
    let result = Bridge.wait { await reader.read(link) }
    if case .failure(let failure) = result, failure.kind == .refused || failure.kind == .late {
      lostLinks[form.entity.name, default: 0] += 1
      return nil
    }
    return try noted(result)
  }

  private static func hints(_ found: DeltaReader.Changes, _ entity: Entity) -> [ChangeHint] {
    if found.isAny { return [.entity(entity.name)] }
    var hints: [ChangeHint] = []
    if !found.rows.isEmpty { hints.append(.rows(found.rows)) }
    if !found.keys.isEmpty { hints.append(.objects(entity: entity.name, keys: found.keys)) }
    return hints
  }

  /// Links that lead nowhere in succession, beyond which the set is compared and its links are left.
  private static let lostLinkLimit = 3

  /// Compares all rows of a set with those of the time before. Where the service gives a link to later
  /// changes, the next question follows it.
  private func compare(_ form: EntityForm) throws(ConnectorError) -> String? {
    let line = FeedLine(try connection.service())
    let tracks = lostLinks[form.entity.name, default: 0] < ODataConnector.lostLinkLimit
    // Those links know no condition.
    if tracks, form.scope == .all, let link = Bridge.wait({ await line.newestLink(form) }) {
      comparison.forget(form.entity)
      return link
    }
    let reader = FeedReader(line, form, tracks: tracks)
    comparison.begin(form.entity)
    try chunks(reader) { chunk throws(ConnectorError) in comparison.see(chunk.rows) }
    comparison.end()
    guard tracks, let link = Bridge.wait({ await reader.deltaLink }) else { return nil }
    comparison.forget(form.entity)
    return link
  }
}

extension FeedLine {
  /// The last link of `DeltaLinksOf<Set>`, where SAP Gateway keeps them; nil where there is none.
  func newestLink(_ form: EntityForm) async -> String? {
    let name = "DeltaLinksOf\(form.set.name)"
    guard service.metadata.version < .v4, service.metadata.entitySet(name) != nil else {
      return nil
    }
    var newest: (made: String, link: String)?
    do throws(ODataClientError) {
      var entries = service.entries(name).makeAsyncIterator()
      while let entry = try await entries.next() {
        let own = entry.editLink ?? entry.selfLink ?? entry.id
        guard
          let link = entry.relatedLink("ChangesAfter")?.href ?? own.map({ $0 + "/ChangesAfter" })
        else { continue }
        let made = entry.properties.compactMap { property -> String? in
          if case .dateTime(let value) = property.value { value.description } else { nil }
        }.max()
        if newest == nil || made ?? "" >= newest?.made ?? "" { newest = (made ?? "", link) }
      }
    } catch {
      return nil
    }
    return newest.map { ODataURL.resolved($0.link, base: service.root) }
  }
}
