import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import FerryWorld
import Foundation
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// The service on its own thread, with those who wait for it.
@Suite(.timeLimit(.minutes(60))) struct HostTests {
  /// The highest version that a channel has brought.
  private final class Watched: Sendable {
    private let version = Mutex<Int64>(0)

    var seen: Int64 { version.withLock { $0 } }

    func take(_ bytes: [UInt8]) throws {
      for frame in try FrameReader.frames(of: bytes) {
        if case .checkpoint(let checkpoint) = try Message(frame) {
          version.withLock { $0 = max($0, checkpoint.version) }
        }
      }
    }
  }

  @Test("A channel that is just about to wait misses no change", .reference("sync/M26"))
  func nothingMissed() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ferry-host-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = World.system()
    let host = try await ServiceHost(world: world) { () throws(ServerError) in
      try Service(package: Shop.package, folder: folder, world: world, synchronous: .normal)
    }
    try await load(host, "first")
    let identity = Identity(
      user: "anna", device: nil, claims: ["employee": ["1"]],
      expires: world.clock.now.advanced(by: .seconds(600)))
    let opening = try await host.open(
      HostTests.hello, by: identity, isChannel: true, until: identity.expires)
    let id = try #require(opening.id)
    let watched = Watched()
    try watched.take(opening.bytes)
    // As the loop of the network asks: with an executor of its own.
    let reader = Task(executorPreference: Lane()) {
      while let bytes = await host.next(of: id) { try watched.take(bytes) }
    }
    try await wait(watched, for: 1)
    for number in 1...400 {
      let ticket = try await host.beginLoad()
      try HostTests.feed(host, ticket, "Oslo \(number)")
      let before = watched.seen
      // Now a little earlier, now a little later: once in a while between two steps of the reader.
      for _ in 0..<number % 40 { await Task.yield() }
      while try await host.endLoad(ticket) == .again {}
      try await wait(watched, for: before + 1)
    }
    await host.stop()
    _ = await reader.result
  }

  private func wait(_ watched: Watched, for version: Int64) async throws {
    let patience = Patience()
    while watched.seen < version {
      try #require(!patience.hasEnded, "version \(version) did not come")
      await Task.yield()
    }
  }

  private func load(_ host: ServiceHost, _ text: String) async throws {
    let ticket = try await host.beginLoad()
    try HostTests.feed(host, ticket, text)
    while try await host.endLoad(ticket) == .again {}
  }

  private static func feed(_ host: ServiceHost, _ ticket: LoadTicket, _ text: String) throws {
    var feed = LoadFeed(host, ticket)
    try feed.add(Shop.order, [image(text)])
    try feed.finish()
  }

  private static func image(_ text: String) -> RowImage {
    RowImage(entity: "Order", key: ObjectKey([.integer(10)]), values: Shop.order(10, 1, text))
  }

  private static let hello: [UInt8] = {
    let hello = Hello(
      server: nil, package: Shop.package.id, device: "phone", incarnation: "phone-1", groups: [],
      partitions: [], open: [])
    let pulls = Shop.package.groups.map { Message.pull(Pull(group: $0.name, staged: [], at: 0)) }
    return ([Message.hello(hello)] + pulls).flatMap { $0.frame.encoded() }
  }()
}

/// Runs the tasks that prefer it one after the other.
private final class Lane: TaskExecutor {
  private let queue = DispatchQueue(label: "ferry-host-tests")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
