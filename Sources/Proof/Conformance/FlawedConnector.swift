import FerryConnector
import FerryModel
import FerryWorld

/// Bugs of a connector that `ConnectorSuite` finds by itself.
package enum ConnectorFlaw: String, CaseIterable {
  /// Where nothing tells whether an operation was performed, it is said not to have been.
  case probeGuesses
  /// A load leaves out an entity of its scope and says that it gave every row.
  case absentOutsideScope
  /// The new place in the changes is given without what was changed before it.
  case deltaLinkBeforeRows
  /// What waits for a credential of its user is sent as the technical user.
  case userAsTechnical
}

/// A wrapper that plants bugs in a connector.
///
/// Each method does what the wrapped connector does, unless a planted bug changes it. The wrapper
/// does not ship.
package final class FlawedConnector: Connector {
  private let inner: any Connector
  private let flaws: Set<PlantedBug>
  private let ownFlaws: Set<ConnectorFlaw>
  /// Outcomes of operations whose group was performed in parts. A repeated group reuses them.
  private var parts: [OperationID: OperationOutcome] = [:]

  /// Bugs in `flaws` that do not concern a connector have no effect.
  package init(
    _ inner: any Connector, _ flaws: Set<PlantedBug>, own: Set<ConnectorFlaw> = []
  ) {
    self.inner = inner
    self.flaws = flaws
    ownFlaws = own
  }

  /// Returns the operations, without their `judge` where a planted bug removes it.
  package static func spoiled(
    _ group: [ConnectorOperation], _ flaws: Set<PlantedBug>
  ) -> [ConnectorOperation] {
    group.map { operation in
      var isUnjudged = flaws.contains(.rightsFromCache)
      if flaws.contains(.parentUnread), case .through = operation.entity.partition {
        isUnjudged = true
      }
      guard isUnjudged else { return operation }
      return ConnectorOperation(
        id: operation.id, entity: operation.entity, kind: operation.kind, key: operation.key,
        changed: operation.changed, base: operation.base, temporaryKey: operation.temporaryKey,
        contents: operation.contents, judge: nil, user: operation.user)
    }
  }

  package func perform(_ group: [ConnectorOperation]) -> PerformResult {
    let group = FlawedConnector.spoiled(group, flaws)
    let isInParts = flaws.contains(.groupInParts) && group.count > 1
    let result = isInParts ? performInParts(group) : inner.perform(group)
    if ownFlaws.contains(.userAsTechnical), case .waits = result {
      return inner.perform(FlawedConnector.withoutUser(group))
    }
    if flaws.contains(.retryUnknown), case .unknown(let reason) = result {
      return .notDone(reason: reason)
    }
    return result
  }

  private static func withoutUser(_ group: [ConnectorOperation]) -> [ConnectorOperation] {
    group.map { operation in
      ConnectorOperation(
        id: operation.id, entity: operation.entity, kind: operation.kind, key: operation.key,
        changed: operation.changed, base: operation.base, temporaryKey: operation.temporaryKey,
        contents: operation.contents, judge: operation.judge, user: nil)
    }
  }

  private func performInParts(_ group: [ConnectorOperation]) -> PerformResult {
    var outcomes: [OperationOutcome] = []
    var touched: [RowImage] = []
    for operation in group {
      switch outcomes.last {
      case .refused, .notTried, .unknown:
        outcomes.append(.notTried)
        continue
      case .accepted, nil: break
      }
      if let known = parts[operation.id] {
        outcomes.append(known)
        continue
      }
      let result = inner.perform([operation])
      guard case .done(let found, let images) = result, let outcome = found.first else {
        return result
      }
      parts[operation.id] = outcome
      outcomes.append(outcome)
      touched += images
    }
    return .done(outcomes, touched: touched)
  }

  package func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    guard !flaws.contains(.unknownAlways) else {
      throw ConnectorError(
        "the business system does not tell", hint: "It is a planted bug.", isTransient: false)
    }
    guard ownFlaws.contains(.probeGuesses) else { return try inner.recall(operations) }
    return (try? inner.recall(operations)) ?? operations.map { _ in .notPerformed }
  }

  // Calls that few planted bugs change.

  package func mismatches(with package: Package) throws(ConnectorError) -> [Mismatch] {
    try inner.mismatches(with: package)
  }

  package func abilities(of entity: Entity) -> ConnectorAbilities { inner.abilities(of: entity) }

  package func lead(_ store: String) { inner.lead(store) }

  package func takeLead(again: Bool) throws(ConnectorError) -> Bool {
    try inner.takeLead(again: again)
  }

  package func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    try inner.read(entity, keys: keys)
  }

  package func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    guard ownFlaws.contains(.absentOutsideScope) else {
      return try inner.load(scope, from: place, each: each, rejected: rejected)
    }
    let part = LoadScope(entities: Array(scope.entities.prefix(2)), parameters: scope.parameters)
    return try inner.load(part, from: place, each: each, rejected: rejected)
  }

  package func slice(
    of entity: Entity, after place: [AttributeValue]?, count: Int
  ) throws(ConnectorError) -> EntitySlice? {
    try inner.slice(of: entity, after: place, count: count)
  }

  package func rowCount(_ entities: [Entity]) throws(ConnectorError) -> Int? {
    try inner.rowCount(entities)
  }

  package func content(
    _ entity: Entity, key: ObjectKey, position: Int, offset: Int64, count: Int
  ) throws(ConnectorError) -> [UInt8]? {
    try inner.content(entity, key: key, position: position, offset: offset, count: count)
  }

  package func changedByOthers() throws(ConnectorError) -> Bool { try inner.changedByOthers() }

  package func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    let changes = try inner.changes(since: cursor)
    guard ownFlaws.contains(.deltaLinkBeforeRows), cursor != nil else { return changes }
    return BusinessChanges(cursor: changes.cursor, hints: [])
  }

  package var isUnreachable: Bool { inner.isUnreachable }
  package var looksApart: Bool { inner.looksApart }
  package var lookInterval: Duration { inner.lookInterval }
}
