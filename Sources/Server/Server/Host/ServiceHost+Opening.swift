import FerryWire
import FerryWorld

/// How requests come to the service's thread.
extension ServiceHost {
  /// How the answer to a request begins.
  package struct Opening: Sendable {
    package let bytes: [UInt8]
    /// Where `next` goes on; nil when the bytes are the whole answer.
    package let id: ExchangeID?
  }

  /// Takes a request's body and returns the beginning of what answers it: all of it where that is
  /// short, so that a device with nothing to hear costs one visit to this thread. Throws where the
  /// store failed before anything was answered.
  package func open(
    _ body: [UInt8], by identity: Identity, isChannel: Bool, until: Timestamp
  ) throws(ServerError) -> Opening {
    guard !isStopped else { throw ServiceHost.stopped }
    try service.requireRecentView()
    try service.check(identity)
    return try begin(
      ExchangeRequest.read(body), by: identity, isChannel: isChannel, until: until)
  }

  /// The same, of a body that was read on another thread.
  func open(
    _ request: Result<ExchangeRequest, WireFailure>, by claimed: TokenIdentity, isChannel: Bool
  ) throws(ServerError) -> Opening {
    let identity = try check(claimed).identity
    return try begin(request, by: identity, isChannel: isChannel, until: identity.expires)
  }
}
