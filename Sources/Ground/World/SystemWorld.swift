#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

extension World {
  /// The machine's own clock and chance.
  public static func system(log: any Log = SilentLog()) -> World {
    World(clock: SystemClock(), chance: SystemChance(), log: log)
  }
}

/// The machine's own clocks.
public struct SystemClock: WorldClock {
  private let start: ContinuousClock.Instant = ContinuousClock.now

  public init() {}

  public var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  public var uptime: Duration { start.duration(to: .now) }
}

/// The system's generator of random numbers.
public struct SystemChance: Chance {
  public init() {}

  public func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}
