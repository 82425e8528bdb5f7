import FerryWire

/// What a device sent in one request, taken apart and counted. A value that any thread may make:
/// what expands is not expanded on the service's thread.
struct ExchangeRequest: Sendable {
  let hello: Hello
  private(set) var confirms: [Confirm] = []
  private(set) var replays: [Replay] = []
  private(set) var reports: [Report] = []
  private(set) var pulls: [Pull] = []

  static func read(_ bytes: [UInt8]) -> Result<ExchangeRequest, WireFailure> {
    do throws(WireError) { return .success(try ExchangeRequest(bytes)) } catch {
      return .failure(WireFailure(.badMessage, error.message, hint: error.hint))
    }
  }

  private init(_ bytes: [UInt8]) throws(WireError) {
    var counts = RequestCounts()
    var frames = FrameReader(limitBytes: WireLimits.requestBytes)
    frames.append(bytes)
    guard let first = try frames.next() else {
      try frames.finish()
      throw ExchangeRequest.noHello
    }
    let message = try Message(first)
    try counts.add(message)
    guard case .hello(let hello) = message else { throw ExchangeRequest.noHello }
    self.hello = hello
    // One at a time: a request that expands without end is refused before its next frame.
    while let frame = try frames.next() {
      let message = try Message(frame)
      try counts.add(message)
      switch message {
      case .confirm(let confirm): confirms.append(confirm)
      case .replay(let replay): replays.append(replay)
      case .report(let report): reports.append(report)
      case .pull(let pull): pulls.append(pull)
      default:
        throw WireError(
          .badMessage, "a device must not send a frame of the kind \(frame.kind)",
          hint: "Update the app.")
      }
    }
    try frames.finish()
  }

  private static let noHello = WireError(
    .badMessage, "the first frame of an exchange must be hello",
    hint: "Send hello first; see Wire.md.")
}
