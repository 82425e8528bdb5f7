import Ferry
import FerryReference
import FerryTestTraits
import Synchronization
import Testing

@testable import Ferry
@testable import FerryTestKit

/// Writes down what it is told of big values, on the actor that it was registered with.
final class Meter: CallbackHandler {
  private let heard = Mutex<[BigValueProgress]>([])
  private let isOnMain: Bool
  /// Progress told when the replay was.
  private let beforeReplay = Mutex<Int?>(nil)

  init(isOnMain: Bool = false) { self.isOnMain = isOnMain }

  var progress: [BigValueProgress] { heard.withLock { $0 } }
  var countAtReplay: Int? { beforeReplay.withLock { $0 } }

  func onBigValueProgress(_ progress: BigValueProgress) {
    if isOnMain { MainActor.preconditionIsolated("a callback is off the main actor") }
    heard.withLock { $0.append(progress) }
  }

  func onReplaySuccess(_ object: ReplayedObject) {
    let count = heard.withLock(\.count)
    beforeReplay.withLock { $0 = count }
  }
}

/// Stops the background as soon as a content goes up.
private final class Stopper: CallbackHandler {
  let database = Mutex<FerryDatabase?>(nil)

  func onBigValueProgress(_ progress: BigValueProgress) {
    database.withLock { $0 }?.stopBackgroundSynchronization()
  }
}

@Suite("How far a big value is", .timeLimit(.minutes(60)))
struct BigValueProgressTests {
  private static let photoBytes = 20 << 20

  private func album() async throws -> TestServer { try await TestServer(Photo.package) }

  private func open(
    _ server: TestServer, _ user: String, _ handler: any CallbackHandler,
    on actor: (any Actor)? = nil
  ) async throws -> FerryDatabase {
    let database = try await server.database(user: user, claims: ["depot": ["A"]])
    database.submitsAutomatically = false
    database.registerCallbackHandler(handler, on: actor)
    return database
  }

  @Test(
    "A photo of 20 MB going up behind its row, and coming down, is told by value, bytes done and bytes in all, at most once a percent",
    .reference("facts/1.5", "sync/P22")
  )
  func upAndDown() async throws {
    let server = try await album()
    let meter = Meter()
    let nancy = try await open(server, "nancy", meter)
    var photo = Photo("quay", in: nancy)
    try photo.create()
    let size = Int64(BigValueProgressTests.photoBytes)
    try photo.image.write([UInt8](repeating: 7, count: BigValueProgressTests.photoBytes))
    #expect(meter.progress.isEmpty, "what is not on its way is not told")
    let key = photo.record.key
    try photo.submitPending()
    try await nancy.synchronize(awaitingAnswers: true)
    check(meter.progress, size)
    let last = try #require(meter.progress.last)
    #expect(last.direction == .upload && last.entity == "Photo" && last.attribute == "image")
    #expect(last.key == key && last.surrogateKey == photo.surrogateKey)
    #expect(last.fraction == 1)
    #expect(meter.countAtReplay == meter.progress.count, "the answer comes when all is there")

    let other = Meter(isOnMain: true)
    let ada = try await open(server, "ada", other, on: MainActor.shared)
    let seen = try #require(try Photo.findAll(in: ada).first)
    let progress = try seen.image.progress
    let follower = Task {
      var told: [BigValueProgress] = []
      for await step in progress {
        told.append(step)
        if step.isWhole { break }
      }
      return told
    }
    try await seen.image.download()
    let followed = await follower.value
    #expect(followed.last?.doneBytes == size && followed.last?.direction == .download)
    #expect(followed.map(\.doneBytes) == followed.map(\.doneBytes).sorted())
    await server.stop()
    #expect(other.progress.allSatisfy { $0.direction == .download && $0.sizeBytes == size })
  }

  @Test(
    "Whoever waits for an answer has it, though the background is stopped under way",
    .reference("sync/R8"))
  func stopped() async throws {
    let server = try await album()
    let stopper = Stopper()
    let nancy = try await open(server, "nancy", stopper)
    stopper.database.withLock { $0 = nancy }
    nancy.startBackgroundSynchronization()
    var photo = Photo("quay", in: nancy)
    try photo.create()
    try photo.image.write([UInt8](repeating: 7, count: 5 << 20))
    try photo.submitPending()
    try await nancy.synchronize(awaitingAnswers: true)
    try photo.refresh()
    #expect(!photo.isPending)
    #expect(await !nancy.isBackground)
    await server.stop()
  }

  private func check(_ told: [BigValueProgress], _ size: Int64) {
    #expect(told.first?.doneBytes == 0)
    #expect(told.last?.isWhole == true)
    #expect(told.allSatisfy { $0.sizeBytes == size })
    #expect(told.count > 10 && told.count <= 101)
    let done = told.map(\.doneBytes)
    #expect(done == Array(Set(done)).sorted(), "each is further than the one before")
  }
}
