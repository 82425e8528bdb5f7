import FerryHTTP
import FerryHTTPClient
import FerryProxy
import FerryTestSupport
import FerryWorld
import Foundation
import Synchronization
import Testing

@Suite("Callers do not hold up each other", .serialized)
struct ShareTests {
  private static func backEnd(
    _ port: Int, connections: Int = 6, own: Int? = nil, turn: Duration = .seconds(600)
  ) -> BackEnd {
    var limits = BackEnd.Limits.patient
    limits.connections = connections
    limits.connectionsPerUser = own
    limits.turn = turn
    return BackEnd(
      name: "flights", address: "http://127.0.0.1:\(port)/odata/", limits: limits,
      networks: [.loopback])
  }

  /// Answers a path that begins with `slow` once `isOpen` is set.
  private static func makeService(_ isOpen: Mutexed<Bool>) -> RawService {
    RawService { socket, next in
      while let head = next() {
        let isSlow = head.contains(" /odata/slow")
        let patience = Patience()
        while isSlow, !isOpen.value.withLock({ $0 }), patience.lasts() {}
        write(socket, "HTTP/1.1 204 No Content\r\n\r\n")
      }
    }
  }

  private static func wait(until isSo: () -> Bool) async {
    let patience = Patience()
    while !isSo(), await patience.lasts() {}
  }

  @Test("A caller with slow requests keeps its share of the connections, and no more")
  func share() async throws {
    let isOpen = Mutexed(false)
    let service = Self.makeService(isOpen)
    let door = try LiveDoor([Self.backEnd(service.port)])
    // A third of six, as the file names no number.
    let slow = (0..<2).map { _ in Task { try await door.send("/flights/slow").status } }
    await Self.wait { service.requests.count == 2 }
    let third = try await door.send("/flights/x")
    #expect(third.status == 429 && third.headers["Retry-After"] == "2")
    #expect(try await door.send("/flights/x", as: LiveDoor.berta).status == 204)
    isOpen.value.withLock { $0 = true }
    for task in slow { #expect(try await task.value == 204) }
    // What has ended does not count.
    for _ in 0..<5 { #expect(try await door.send("/flights/x").status == 204) }
    door.live.stop()
    service.end()
  }

  @Test("A caller who disconnects gives its share back")
  func disconnected() async throws {
    let isOpen = Mutexed(false)
    let service = Self.makeService(isOpen)
    let door = try LiveDoor([Self.backEnd(service.port, own: 1)])
    let socket = LiveDoor.connect(door.port)
    write(
      socket,
      "GET /flights/slow HTTP/1.1\r\nHost: a\r\nAuthorization: \(LiveDoor.anna)\r\n\r\n")
    await Self.wait { service.requests.count == 1 }
    #expect(try await door.send("/flights/x").status == 429)
    close(socket)
    var status = 429
    let patience = Patience()
    while status == 429, await patience.lasts() {
      status = try await door.send("/flights/x").status
    }
    #expect(status == 204)
    isOpen.value.withLock { $0 = true }
    door.live.stop()
    service.end()
  }

  @Test("Who finds all connections in use is answered 503 after the time of the file")
  func turn() async throws {
    let isOpen = Mutexed(false)
    let service = Self.makeService(isOpen)
    let backEnd = Self.backEnd(service.port, connections: 1, own: 1, turn: .milliseconds(200))
    let door = try LiveDoor([backEnd])
    let slow = Task { try await door.send("/flights/slow").status }
    await Self.wait { service.requests.count == 1 }
    let other = try await door.send("/flights/x", as: LiveDoor.berta)
    #expect(other.status == 503 && other.headers["Retry-After"] != nil)
    isOpen.value.withLock { $0 = true }
    #expect(try await slow.value == 204)
    door.live.stop()
    service.end()
  }

  /// A clock that a test moves.
  private final class Hands: WorldClock {
    private let time = Atomic<Int64>(1_000_000)
    var now: Timestamp { Timestamp(milliseconds: time.load(ordering: .relaxed)) }
    var uptime: Duration { .milliseconds(time.load(ordering: .relaxed)) }
    func pass(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
  }

  @Test("A service that is away is not asked for some seconds, then by one request")
  func breaker() async throws {
    let hands = Hands()
    let world = World(clock: hands, chance: SystemChance(), log: SilentLog())
    let absent = RawService { _, _ in }
    absent.end()
    let door = try LiveDoor([Self.backEnd(absent.port)], world: world)
    for _ in 0..<5 { #expect(try await door.send("/flights/x").status == 502) }
    let refused = try await door.send("/flights/x")
    #expect(refused.status == 503 && refused.headers["Retry-After"] == "5")
    hands.pass(5_000)
    #expect(try await door.send("/flights/x").status == 502)
    #expect(try await door.send("/flights/x").status == 503)
    door.live.stop()
  }
}
