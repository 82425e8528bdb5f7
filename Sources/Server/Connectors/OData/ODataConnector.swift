import FerryConnector
import FerryHTTP
import FerryModel
import FerryOData
import FerryODataClient
import FerryWorld

/// A service of OData V2 or V4 as business system, as it is: nothing is installed there.
///
/// It has no transactions that span requests, so each operation is decided by `AttemptMachine`. A
/// connector blocks on its own thread. Reference: Decision 0122.
public final class ODataConnector: Connector {
  private let connection: ODataConnection
  private let package: Package
  private var forms: [String: EntityForm] = [:]
  private var comparison = SetComparison()

  /// `package`: the model whose entities name the sets.
  public init(_ connection: ODataConnection, package: Package) {
    self.connection = connection
    self.package = package.served
  }

  public func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    let metadata = try connection.service().metadata
    return package.served.entities.compactMap { entity in
      if entity.isOperation {
        return Mismatch(
          place: entity.name, problem: "\"performs\" is SQL, and the service is not a database",
          cure: "Leave the operation out of the model.")
      }
      if let big = entity.attributes.first(where: { $0.type.isBig }) {
        return Mismatch(
          place: "\(entity.name).\(big.name)", problem: "streams are not synchronized yet",
          cure: "Leave the attribute out of the model.")
      }
      if case .failure(let misfit) = EntityForm.make(entity, metadata) { return misfit.mismatch }
      return nil
    }
  }

  public func abilities(of entity: Entity) -> ConnectorAbilities {
    ConnectorAbilities(
      atomicGroups: false, memory: .probe,
      conditionalWrites: connection.proof(of: entity.table) == true, changes: .poll,
      reportsDeletes: true, snapshots: false)
  }

  public func lead(_ store: String) { connection.beginLead() }

  public var isUnreachable: Bool { connection.isUnreachable }

  // MARK: Operations

  public func perform(_ group: [ConnectorOperation]) -> PerformResult {
    guard !group.isEmpty else { return .done([], touched: []) }
    do throws(ConnectorError) {
      var work = ChainWork(group, try desk())
      return work.perform()
    } catch {
      return .notDone(reason: error.description)
    }
  }

  public func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    var work = ChainWork(operations, try desk())
    return try work.recall()
  }

  /// As the technical user: Ferry's own rules separate the users.
  private func desk() throws(ConnectorError) -> RequestDesk {
    try RequestDesk(connection, try connection.service(), user: nil, forms: { self.form(of: $0) })
  }

  /// Nil where the service does not have the entity.
  private func form(of entity: Entity) -> EntityForm? {
    if let known = forms[entity.name], known.entity == entity { return known }
    guard let metadata = try? connection.service().metadata,
      case .success(let form) = EntityForm.make(entity, metadata)
    else { return nil }
    forms[entity.name] = form
    return form
  }

  private func requiredForm(of entity: Entity) throws(ConnectorError) -> EntityForm {
    _ = try connection.service()
    if let form = form(of: entity) { return form }
    throw ConnectorError(
      "The service does not have \(entity.name) as the model says", hint: EntityForm.cure,
      isTransient: false)
  }

  // MARK: Rows

  public func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    guard !entity.isOperation else {
      return keys.map { RowImage(entity: entity.name, key: $0, values: nil) }
    }
    let form = try requiredForm(of: entity)
    let desk = try desk()
    return try desk.read(form, keys)
  }

  public func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    for entity in scope.entities where !entity.isOperation {
      let form = try requiredForm(of: entity)
      var keys: Set<ObjectKey> = []
      try pages(of: form) { rows throws(ConnectorError) in
        var images: [RowImage] = []
        for image in rows {
          // A row that does not fit may not even have a key.
          guard image.rejected != nil || keys.insert(image.key).inserted else {
            throw ConnectorError(
              "The service gave \(entity.name) \(image.key) twice while it was read",
              hint: "It is read again.", isTransient: true)
          }
          if let row = image.rejected { rejected(row) } else { images.append(image) }
        }
        if !images.isEmpty { try each(LoadPage(entity: entity, rows: images)) }
      }
    }
    return LoadEnd(isComplete: true, isSnapshot: false)
  }

  /// All rows of a set, as many at a time as make a page of ours.
  private func pages(
    of form: EntityForm, _ body: ([RowImage]) throws(ConnectorError) -> Void
  ) throws(ConnectorError) {
    var service = try connection.service()
    service.format = service.metadata.version < .v4 ? .atom : .json
    let reader = FeedReader(service, form)
    while true {
      let page = Bridge.wait { await reader.next(FeedReader.pageRows) }
      switch page {
      case .away: connection.noteReached(false)
      case .unauthorized: connection.noteRejected()
      case .rows, .failed: connection.noteReached(true)
      }
      let rows = try page.rows()
      guard !rows.isEmpty else { return }
      try body(rows)
    }
  }

  // MARK: Changes of others

  public func changedByOthers() throws(ConnectorError) -> Bool {
    try !changes(since: nil).hints.isEmpty
  }

  public func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    let start = connection.clock.uptime
    defer { comparison.took(connection.clock.uptime - start) }
    do throws(ConnectorError) {
      for entity in package.entities where !entity.isOperation {
        let form = try requiredForm(of: entity)
        comparison.begin(entity)
        try pages(of: form) { rows throws(ConnectorError) in comparison.see(rows) }
        comparison.end()
      }
    } catch {
      comparison.abandon()
      throw error
    }
    return BusinessChanges(cursor: nil, hints: comparison.takeHints())
  }

  /// Reading all rows takes its time: replay does not wait for it.
  public var looksApart: Bool { true }

  public var lookInterval: Duration { comparison.interval }
}
