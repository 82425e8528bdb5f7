import FerryModel
import FerryWire

/// What cache groups have to do with the requests of devices.
extension ServiceCore {
  /// Asks the groups for what a device pulls: the loads to wait for; nil where no group has any of it.
  func ask(_ pulls: [Pull]) -> NeededGroups? {
    guard !pulls.isEmpty, !cacheGroups.isEmpty, store.leads else { return nil }
    let pulled = Set(pulls.map(\.group))
    let entities = package.entities.filter { pulled.contains($0.group) }.map(\.name)
    return cacheGroups.ask(entities, at: world.clock.uptime)
  }

  /// What a checkpoint says of itself; `followed`: what it says of the entities of no group, nil where
  /// nobody asked.
  func currency(_ followed: Currency?, _ needed: NeededGroups?) -> Currency? {
    guard followed == .current, let needed else { return followed }
    return cacheGroups.currency(needed)
  }
}
