import FerryConnector
import FerryJSON
import FerryModel
import FerryWorld

/// A service of REST as business system, as it is, by a mapping.
///
/// It has no transactions that span requests, so each operation is decided by `AttemptMachine`. A
/// connector blocks on its own thread. Reference: Decision 0131.
public final class RESTConnector: Connector {
  let connection: RESTConnection
  private let package: Package
  private var comparison = SetComparison()
  private var questions = ChangeQuestions()
  /// Those whose changes are asked for; nil: all.
  private var followed: Set<String>?
  /// Entities without any row so far.
  private var emptyLists: Set<String> = []
  private let sideBySide: SideBySide

  /// `package`: the model that the mapping of the connection was read for.
  public init(_ connection: RESTConnection, package: Package) {
    self.connection = connection
    self.package = package.served
    sideBySide = SideBySide(connection.requests)
  }

  private func form(of entity: Entity) throws(ConnectorError) -> RESTMapping.Form {
    if let form = connection.mapping.forms[entity.name] { return form }
    throw ConnectorError(
      "The mapping does not have \(entity.name)",
      hint: "Add it to \"entities\", or leave the entity out of the model.", isTransient: false)
  }

  /// What the mapping lacks; and of a service that answers, whether the first rows are as it says.
  public func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    var found: [Mismatch] = []
    for entity in package.served.entities {
      if let big = entity.attributes.first(where: { $0.type.isBig }) {
        found.append(
          Mismatch(
            place: "\(entity.name).\(big.name)", problem: "big values are not mapped yet",
            cure: "Leave the attribute out of the model."))
        continue
      }
      guard let form = connection.mapping.forms[entity.name] else {
        found.append(
          Mismatch(
            place: entity.name, problem: "the mapping does not have it",
            cure: "Add it to \"entities\" of \(RESTMapping.fileName(of: package))."))
        continue
      }
      if !entity.isOperation, let mismatch = firstRow(entity, form) { found.append(mismatch) }
    }
    return found
  }

  /// A service that does not answer is no mismatch: it may be away.
  private func firstRow(_ entity: Entity, _ form: RESTMapping.Form) -> Mismatch? {
    guard let path = listPath(form.list) else { return nil }
    do throws(ConnectorError) {
      var pages = ListPages(connection, form.list, path, entity, form)
      guard let row = try pages.next()?.first else { return nil }
      let rows = RowReader(entity: entity, form: form)
      guard !rows.isDeleted(row), let rejected = rows.image(row).rejected else { return nil }
      return Mismatch(
        place: "\(entity.name).\(rejected.attribute)",
        problem: "the first row of \(form.list.address.text) does not fit: \(rejected.reason)",
        cure: "Correct /entities/\(entity.name)/fields in the mapping.")
    } catch {
      guard !error.isTransient else { return nil }
      return Mismatch(
        place: "/entities/\(entity.name)/list", problem: error.message, cure: error.hint)
    }
  }

  public func abilities(of entity: Entity) -> ConnectorAbilities {
    let form = connection.mapping.forms[entity.name]
    let memory: ConnectorAbilities.Memory =
      switch form?.memory {
      case .requests(_, let window)?: .requests(window: window)
      case .marker?, .natural?: .probe
      case .some(.none), nil: .probe
      }
    return ConnectorAbilities(
      atomicGroups: false, memory: memory,
      conditionalWrites: connection.memory.proof(of: entity.table) == true,
      changes: hasCursor ? .cursor : .poll, reportsDeletes: true, snapshots: false)
  }

  public func lead(_ store: String) { connection.memory.beginLead() }

  public var isUnreachable: Bool { connection.memory.isUnreachable }

  // MARK: Operations

  public func perform(_ group: [ConnectorOperation]) -> PerformResult {
    RESTConnector.perform(group, connection)
  }

  /// On any thread.
  private static func perform(
    _ group: [ConnectorOperation], _ connection: RESTConnection
  ) -> PerformResult {
    guard !group.isEmpty else { return .done([], touched: []) }
    guard let desk = RESTDesk(connection: connection).acting(for: group) else {
      return .notDone(reason: "nobody knows whose change this is; it is sent as no other user")
    }
    var work = AttemptWork(group, desk)
    return work.perform()
  }

  public func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] {
    let connection = connection
    return sideBySide.perform(groups, while: { goesOn() && !connection.memory.isUnreachable }) {
      RESTConnector.perform($0, connection)
    }
  }

  public func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    guard let desk = RESTDesk(connection: connection).acting(for: operations) else {
      throw ConnectorError(
        "Nobody knows whose change this is", hint: "It is sent as no other user.",
        isTransient: false)
    }
    var work = AttemptWork(operations, desk)
    return try work.recall()
  }

  // MARK: Rows

  public func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    guard !entity.isOperation else {
      return keys.map { RowImage(entity: entity.name, key: $0, values: nil) }
    }
    let form = try form(of: entity)
    guard form.read != nil else { return try readByList(entity, form, keys) }
    let desk = RESTDesk(connection: connection)
    var images: [RowImage] = []
    for key in keys {
      switch desk.read(entity, key) {
      case .there(_, let image, _) where image.key == key || image.values == nil:
        images.append(image)
      case .there(_, let image, _):
        throw ConnectorError(
          "The service gave \(entity.name) \(image.key) where \(key) was asked for",
          hint: "Correct \"read\" in the mapping.", isTransient: false)
      case .absent: images.append(RowImage(entity: entity.name, key: key, values: nil))
      case .failed(let reply): throw RESTDesk.error(reply)
      }
    }
    return images
  }

  /// A service without addresses of single objects.
  private func readByList(
    _ entity: Entity, _ form: RESTMapping.Form, _ keys: [ObjectKey]
  ) throws(ConnectorError) -> [RowImage] {
    let wanted = Set(keys)
    var found: [ObjectKey: RowImage] = [:]
    try rows(entity, form) { _, image throws(ConnectorError) in
      if wanted.contains(image.key) { found[image.key] = image }
    }
    return keys.map { found[$0] ?? RowImage(entity: entity.name, key: $0, values: nil) }
  }

  private func listPath(_ list: RESTMapping.List, since: String? = nil) -> String? {
    list.address.expanded { $0 == "since" ? since : ListPages.standard($0, list) }
  }

  /// Every row of the list that is not deleted.
  private func rows(
    _ entity: Entity, _ form: RESTMapping.Form,
    _ body: (JSONNode, RowImage) throws(ConnectorError) -> Void
  ) throws(ConnectorError) {
    guard let path = listPath(form.list) else { return }
    let reader = RowReader(entity: entity, form: form)
    var pages = ListPages(connection, form.list, path, entity, form)
    while let page = try pages.next() {
      for node in page where !reader.isDeleted(node) { try body(node, reader.image(node)) }
    }
  }

  public func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    for entity in scope.entities where !entity.isOperation {
      let form = try form(of: entity)
      guard let path = listPath(form.list) else { continue }
      let reader = RowReader(entity: entity, form: form)
      var pages = ListPages(connection, form.list, path, entity, form)
      var keys: Set<ObjectKey> = []
      while let page = try pages.next() {
        var images: [RowImage] = []
        images.reserveCapacity(page.count)
        for node in page where !reader.isDeleted(node) {
          let image = reader.image(node)
          if let row = image.rejected {
            rejected(row)
          } else if keys.insert(image.key).inserted {
            // A page that moved under changes gives a row twice.
            images.append(image)
          }
        }
        if !images.isEmpty { try each(LoadPage(entity: entity, rows: images)) }
      }
    }
    return LoadEnd(isComplete: true, isSnapshot: false)
  }

  // MARK: Changes of others

  public func changedByOthers() throws(ConnectorError) -> Bool {
    try !changes(since: nil).hints.isEmpty
  }

  /// Whether the changes of every entity, deletes too, are asked for by a time.
  private var hasCursor: Bool {
    package.entities.allSatisfy { entity in
      if entity.isOperation { return true }
      guard let form = connection.mapping.forms[entity.name], form.changes != nil else {
        return false
      }
      if case .comparison = form.deletes { return false }
      return true
    }
  }

  public func follow(_ entities: Set<String>) { followed = entities }

  public func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    let start = connection.clock.uptime
    defer { comparison.took(connection.clock.uptime - start) }
    let keepsCursor = hasCursor
    if keepsCursor { questions.take(cursor) }
    var hints: [ChangeHint] = []
    do throws(ConnectorError) {
      for entity in package.entities
      where !entity.isOperation && followed?.contains(entity.name) ?? true {
        let form = try form(of: entity)
        if keepsCursor, let changes = form.changes {
          hints += try asked(entity, form, changes)
          continue
        }
        comparison.begin(entity)
        try rows(entity, form) { _, image throws(ConnectorError) in comparison.see([image]) }
        comparison.end()
      }
    } catch {
      comparison.abandon()
      throw error
    }
    return BusinessChanges(
      cursor: keepsCursor ? questions.cursor : nil, hints: hints + comparison.takeHints())
  }

  /// Rows that were changed since the highest time that was seen.
  private func asked(
    _ entity: Entity, _ form: RESTMapping.Form, _ changes: RESTMapping.Changes
  ) throws(ConnectorError) -> [ChangeHint] {
    let reader = RowReader(entity: entity, form: form)
    guard let since = questions.question(entity, changes) else {
      // The first time: from where the list ends now.
      guard let path = listPath(form.list) else { return [.entity(entity.name)] }
      var pages = ListPages(connection, form.list, path, entity, form)
      while let page = try pages.next() {
        for node in page { questions.note(node, entity, changes) }
      }
      // As long as there is no row, there is nothing to load.
      let isNews = questions.knows(entity) || emptyLists.insert(entity.name).inserted
      return isNews ? [.entity(entity.name)] : []
    }
    var rows: [RowImage] = []
    var keys: Set<ObjectKey> = []
    if let path = listPath(changes.list, since: since) {
      var pages = ListPages(connection, changes.list, path, entity, form)
      while let page = try pages.next() {
        for node in page {
          var image = reader.image(node)
          if reader.isDeleted(node) {
            guard let key = reader.key(node, at: entity.key.map { form.values[$0].path }) else {
              continue
            }
            image = RowImage(entity: entity.name, key: key, values: nil)
          }
          keys.insert(image.key)
          if questions.isNews(image, entity) { rows.append(image) }
          questions.note(node, entity, changes)
        }
      }
    }
    if case .list(let list, let paths) = form.deletes, let path = listPath(list, since: since) {
      var pages = ListPages(connection, list, path, entity, form)
      while let page = try pages.next() {
        for node in page {
          guard let key = reader.key(node, at: paths) else { continue }
          let image = RowImage(entity: entity.name, key: key, values: nil)
          keys.insert(key)
          if questions.isNews(image, entity) { rows.append(image) }
        }
      }
    }
    questions.keepOnly(keys, of: entity)
    return rows.isEmpty ? [] : [.rows(rows)]
  }

  /// Asking takes its time: replay does not wait for it.
  public var looksApart: Bool { true }

  public var lookInterval: Duration { hasCursor ? SetComparison.shortest : comparison.interval }
}
