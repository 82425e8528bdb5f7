import FerryWorld

/// What the host counts for `/metrics` and the operator.
extension ServiceHost {
  /// Of a package that another host is about to serve.
  static let stopped = ServerError(
    .replacedPackage, "the package is being replaced on the server",
    hint: "Try again in a moment.", isTransient: true, retryAfterSeconds: 1)

  /// How old the news of a channel are at most, now that they leave.
  func noteDelivery(_ exchange: Exchange) {
    guard let since = exchange.state.newsSince else { return }
    exchange.state.newsSince = nil
    let age = Double(world.clock.moment.milliseconds - since.milliseconds) / 1_000
    meter.count { $0.deliverySeconds.note(max(0, age)) }
  }

  /// How many operations were taken in and have no answer yet.
  func waitingOperations() throws(ServerError) -> Int {
    try service.guarded { () throws(StoreError) in try service.store.waitingOperations() }
      ?? service.queue.count
  }
}
