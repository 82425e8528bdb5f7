/// Looks for changes of others, as the host that makes them reports them.
extension ServiceHost {
  func beginLook() -> Int64 { service.beginLook() }

  func endLook(_ look: Int64, needsLoad: Bool) { service.endLook(look, needsLoad: needsLoad) }

  func failLook(_ look: Int64) { service.failLook(look) }
}

extension ServiceHost {
  /// Entities whose rows are judged before a device's change is written.
  var judgedEntities: [String] {
    let rules = service.rules
    return service.package.entities.filter { rules.isJudged($0) }.map(\.name)
  }
}
