import FerryConnector
import FerryModel
import FerryWire

/// What cache groups have to do with the requests of devices.
extension ServiceCore {
  /// Asks the groups for what a device pulls: the loads to wait for; nil where no group has any of it.
  func ask(_ pulls: [Pull]) -> NeededGroups? {
    guard !pulls.isEmpty, !cacheGroups.isEmpty, store.leads else { return nil }
    return cacheGroups.ask(pulls.map(\.group), at: world.clock.uptime) { group in
      package.entities.filter { $0.group == group }.map(\.name)
    }
  }

  /// What a checkpoint says of itself; `followed`: what it says of the entities of no group, nil where
  /// nobody asked.
  func currency(_ followed: Currency?, _ needed: NeededGroups?) -> Currency? {
    guard followed == .current, let needed else { return followed }
    return cacheGroups.currency(needed)
  }

  /// Operations have come to their outcomes: cache groups may have to be read again.
  func performed(_ operations: [ConnectorOperation], _ outcomes: [OperationOutcome?]) {
    var entities: Set<String> = []
    for (operation, outcome) in zip(operations, outcomes) {
      guard case .accepted? = outcome, operation.policy == .invalidate else { continue }
      entities.insert(operation.entity.name)
    }
    cacheGroups.invalidate(entities, at: world.clock.uptime)
  }

  /// How old the rows of synchronization groups are, in milliseconds, where a checkpoint says that they
  /// are not current.
  func ages(_ currency: Currency?, _ groups: [String]) -> [String: Int64] {
    guard let currency, currency != .current, currency != .loading else { return [:] }
    var ages: [String: Int64] = [:]
    for group in groups {
      let entities = package.entities.filter { $0.group == group }
      let followed = cacheGroups.followed(entities)
      var age: Duration? = .zero
      if followed.count < entities.count {
        age = cacheGroups.age(of: entities.map(\.name), at: world.clock.uptime)
      }
      if currency == .businessAway, !followed.isEmpty {
        let captured = capturedUpTo.map {
          Duration.milliseconds(world.clock.moment.milliseconds - $0.milliseconds)
        }
        age = age.flatMap { age in captured.map { max(age, $0) } }
      }
      // Only what is known to be older than the question is said.
      guard age != .zero else { continue }
      ages[group] = age.map { Int64($0 / .milliseconds(1)) } ?? Checkpoint.unknownAge
    }
    return ages
  }
}
