import FerryConnector
import FerryModel
import FerryWorld

/// Comparisons of all rows in slices, beside which everything goes on.
extension LoadHost {
  /// The next slice of the comparison, where it is time for one.
  func compareNext() async throws(ServerError) {
    if comparison == nil, let next = wantedComparisons.withLock({ $0.popFirst() }),
      try await service.beginComparison(of: next)
    {
      compared = next
      let entities = service.cacheGroups.followed(
        service.rules.connections.entities(service.rules.loadOrder, of: next))
      comparison = Comparison(entities, since: world.clock.uptime)
      world.log.info("all rows are compared with the business system, slice by slice")
    }
    guard var comparison, comparison.isDue(at: world.clock.uptime) else { return }
    guard let question = comparison.question else { return try await finish(comparison) }
    let start = world.clock.uptime
    let slice: EntitySlice?
    do throws(ConnectorError) {
      slice = try connectors[compared].slice(
        of: question.entity, after: question.place, count: question.count)
    } catch {
      comparisonTrouble.tell(error.description, world.log)
      service.pulse.tellBusiness(error.description, of: compared)
      comparison.pause(until: world.clock.uptime + .seconds(1))
      self.comparison = comparison
      return
    }
    comparisonTrouble.tell(nil, world.log)
    guard let slice, let batch = service.batch(question.entity, slice.rows) else {
      world.log.info("the business system gives no slices: all its rows are loaded instead")
      try await endComparison()
      return want(compared)
    }
    let found = try await service.compare(batch)
    guard let found else {
      world.log.warn("more rows differ than are read one by one: all of them are loaded")
      try await endComparison()
      return want(compared)
    }
    comparison.took(slice, differences: found, from: start, to: world.clock.uptime)
    self.comparison = comparison
    service.pulse.tellComparison(comparison.report)
  }

  private func finish(_ comparison: Comparison) async throws(ServerError) {
    let start = world.clock.uptime
    guard let missing = try await service.finishComparison() else {
      world.log.warn("more rows are missing than are read one by one: all of them are loaded")
      try await endComparison()
      return want(compared)
    }
    var report = comparison.report
    report.differences += missing
    report.time += world.clock.uptime - start
    try await endComparison()
    service.pulse.tellCompared(report)
    world.log.write(.info, "all rows were compared with the business system", report.fields)
  }

  func endComparison() async throws(ServerError) {
    guard comparison != nil else { return }
    comparison = nil
    service.pulse.tellComparison(nil)
    await service.endComparison()
  }
}
