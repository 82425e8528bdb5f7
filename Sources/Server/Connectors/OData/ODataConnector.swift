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
  let connection: ODataConnection
  let package: Package
  private var forms: [String: EntityForm] = [:]
  private let sideBySide: SideBySide
  var comparison = SetComparison()
  /// Those whose changes are asked for; nil: all.
  var followed: Set<String>?
  /// How often in succession the link of a set led nowhere.
  var lostLinks: [String: Int] = [:]

  /// Of each set the rows that are read; nil: all rows of all sets.
  private let scopes: [String: RowScope]?
  /// Whether sets without links to changes are compared; else each look asks for a load of them.
  let compares: Bool

  /// `package`: the model whose entities name the sets. `queries`: the rows that are read; of a set that
  /// none of them names no row is read, and none is kept. Nil: all rows of all sets. `compares`: whether
  /// changes of others are found by comparing all rows, where the service does not name them. Who looks
  /// seldom needs no comparison: a load costs as many requests, and nothing is remembered for it.
  public init(
    _ connection: ODataConnection, package: Package, defining queries: [DefiningQuery]? = nil,
    compares: Bool = true
  ) {
    self.compares = compares
    scopes = queries.map { RowScope.scopes(of: $0) }
    self.connection = connection
    self.package = package.served
    sideBySide = SideBySide(connection.requests)
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
      return scope(of: entity).mismatch(of: entity, in: metadata)
    }
  }

  public func abilities(of entity: Entity) -> ConnectorAbilities {
    ConnectorAbilities(
      atomicGroups: connection.usesChangeSets, memory: .probe,
      conditionalWrites: connection.memory.proof(of: entity.table) == true,
      changes: connection.isTracked(entity.table) ? .cursor : .poll,
      reportsDeletes: true, snapshots: false)
  }

  public func lead(_ store: String) { connection.memory.beginLead() }

  public var isUnreachable: Bool { connection.memory.isUnreachable }

  // MARK: Operations

  public func perform(_ group: [ConnectorOperation]) -> PerformResult {
    guard !group.isEmpty else { return .done([], touched: []) }
    do throws(ConnectorError) {
      var work = ChainWork(group, try desk().acting(for: group))
      return scoped(work.perform())
    } catch {
      return .notDone(reason: error.description)
    }
  }

  public func perform(
    _ groups: [[ConnectorOperation]], while goesOn: () -> Bool
  ) -> [PerformResult] {
    do throws(ConnectorError) {
      let desk = try desk()
      let results = sideBySide.perform(groups, while: { goesOn() && !self.isUnreachable }) {
        group in
        guard !group.isEmpty else { return .done([], touched: []) }
        do throws(ConnectorError) {
          var work = ChainWork(group, try desk.acting(for: group))
          return work.perform()
        } catch {
          return .notDone(reason: error.description)
        }
      }
      return results.map(scoped)
    } catch {
      return [.notDone(reason: error.description)]
    }
  }

  public func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    var work = ChainWork(operations, try desk().acting(for: operations))
    return try work.recall()
  }

  /// As the technical user: Ferry's own rules separate the users.
  private func desk() throws(ConnectorError) -> RequestDesk {
    let service = try connection.service()
    for entity in package.entities { _ = form(of: entity) }
    return try RequestDesk(connection, service, user: nil, forms: forms)
  }

  /// Nil where the service does not have the entity.
  private func form(of entity: Entity) -> EntityForm? {
    if let known = forms[entity.name], known.entity == entity { return known }
    guard let metadata = try? connection.service().metadata,
      case .success(var form) = EntityForm.make(entity, metadata)
    else { return nil }
    form.scope = scope(of: entity)
    forms[entity.name] = form
    return form
  }

  func requiredForm(of entity: Entity) throws(ConnectorError) -> EntityForm {
    _ = try connection.service()
    if let form = form(of: entity) { return form }
    throw ConnectorError(
      "The service does not have \(entity.name) as the model says", hint: EntityForm.cure,
      isTransient: false)
  }

  /// As the technical user, whose row an operator has named.
  func proving(_ entity: Entity) throws(ConnectorError) -> (RequestDesk, EntityForm) {
    (try desk(), try requiredForm(of: entity))
  }

  // MARK: Rows

  func scope(of entity: Entity) -> RowScope { scopes.map { $0[entity.table] ?? .none } ?? .all }

  /// A row that was written and is outside of what is read is none. Where the service cannot be asked
  /// now, the next look does.
  private func scoped(_ result: PerformResult) -> PerformResult {
    guard scopes != nil, case .done(let outcomes, let touched) = result else { return result }
    return .done(
      outcomes,
      touched: touched.map { image in
        guard image.values != nil, let entity = package.entity(named: image.entity),
          scope(of: entity) != .all
        else { return image }
        return (try? read(entity, keys: [image.key]))?.first ?? image
      })
  }

  public func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    guard !entity.isOperation else {
      return keys.map { RowImage(entity: entity.name, key: $0, values: nil) }
    }
    let form = try requiredForm(of: entity)
    let desk = try desk()
    return try desk.read(form, keys)
  }

  /// Reading all rows takes its time: replay does not wait for it.
  public var looksApart: Bool { true }

  public var lookInterval: Duration { comparison.interval }
}
