import FerryWorld

/// The four readings of one request and its answer, in the words of the reference, and times
/// derived from them.
public struct TraceReadings: Sendable, Equatable {
  /// From the app's call until its answer.
  public let endToEnd: Duration
  /// From the request's arrival in the client library until the answer reaches it.
  public let online: Duration
  /// From sending until the answer reaches the library.
  public let forwarded: Duration
  /// From the last byte sent until the first byte of the answer.
  public let network: Duration

  public init(endToEnd: Duration, online: Duration, forwarded: Duration, network: Duration) {
    self.endToEnd = endToEnd
    self.online = online
    self.forwarded = forwarded
    self.network = network
  }

  /// The time inside the client library: `online` minus `forwarded`.
  public var messagingClientTime: Duration { online - forwarded }
  /// The time inside the app's own code: `endToEnd` minus `online`.
  public var proxyClientTime: Duration { endToEnd - online }

  /// Four lines of a log, as `E2E:RR 17`, in whole milliseconds.
  public var lines: [String] { fields.map { "\($0.0) \($0.1)" } }

  var fields: [(String, String)] {
    [("E2E", endToEnd), ("ODP", online), ("IMO", forwarded), ("Network", network)].map {
      ("\($0.0):RR", String(milliseconds($0.1)))
    }
  }
}

/// Measures a duration.
public struct TraceTimer: Sendable {
  private let clock: any WorldClock
  private var begin: Duration?

  public init(world: World) { clock = world.clock }

  /// Starts the timer; a second call starts it again from zero.
  public mutating func start() { begin = clock.uptime }

  /// Stops the timer; the time is zero until the next start.
  public mutating func reset() { begin = nil }

  /// The time since the start; zero if the timer was not started.
  public var elapsed: Duration { begin.map { clock.uptime - $0 } ?? .zero }

  /// Whole milliseconds since the start.
  public var elapsedMilliseconds: UInt64 { UInt64(max(0, milliseconds(elapsed))) }
}

func milliseconds(_ duration: Duration) -> Int64 {
  duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
}
