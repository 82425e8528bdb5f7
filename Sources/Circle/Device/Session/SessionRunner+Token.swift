import FerryHTTPClient

/// Requests that carry a token of the company's own login.
extension SessionRunner {
  /// Asks the app's token source first, where the request is a login or a renewal.
  func perform(_ call: TransportRequest, for request: SessionRequest) async {
    guard let use = request.tokenUse, let source = profile.tokenSource else {
      await perform(call, of: request, on: request.lane)
      return
    }
    var request = request
    do {
      request.add(issuerToken: try await source.token(for: use))
    } catch {
      world.log.info("the token source has no token", ("reason", "\(error)"))
      guard use == .renewal else {
        await hasNoToken(error, request.lane)
        return
      }
    }
    guard !Task.isCancelled, !isStopped else { return }
    var call = call
    call.body = request.body
    await perform(call, of: request, on: request.lane)
  }

  private func hasNoToken(_ cause: any Error, _ lane: SessionMachine.Lane) async {
    guard !Task.isCancelled, !isStopped else { return }
    do throws(FerryError) {
      try session.hasNoToken(
        // A source that knows why says it, such as an issuer that is away.
        cause as? FerryError
          ?? FerryError(
            .notLoggedIn, "the token source gave no token: \(cause)", hint: "Log in again.",
            cause: cause))
    } catch {
      world.log.error("the session cannot go on", ("reason", error.description))
    }
    finished(lane)
  }
}
