import FerryServer

/// What the business tells of its changes.
extension Simulation {
  /// A server that does not run, or whose disk fails, hears nothing of it.
  func takeNotices() throws {
    guard let notices else { return }
    let moment = server.clock.moment
    notices.see(business.history, at: moment)
    let arriving = notices.arriving(at: moment)
    try withServer {
      self.server.service.advanceNotices()
      guard !arriving.isEmpty else { return }
      let (outcomes, needsLoad) = try self.server.service.take(arriving)
      if needsLoad { self.server.wantLoad() }
      for (notice, outcome) in zip(arriving, outcomes) {
        self.log.say(
          "step \(self.step): a notice of \(notice.entity.name) \(notice.key): \(outcome)")
      }
    }
  }
}
