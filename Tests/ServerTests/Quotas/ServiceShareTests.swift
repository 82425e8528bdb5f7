import Dispatch
import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// For each limit of the service that counts something: what one user takes is not missing for others.
@Suite("Each user has a share of what the service has", .timeLimit(.minutes(60)))
struct ServiceShareTests {
  /// Who may take what a limit counts.
  private enum Owner: Equatable {
    /// It counts for one user or device: nobody else has less for it.
    case user
    /// All users have it together, and one has a share, which the test of this name shows.
    case all(test: String)
    /// The server's own work, a size, a time or a number of days.
    case nobody
  }

  private static let owners: [String: Owner] = [
    "partitionsPerSubscription": .user, "emptyPartitionsPerUser": .user,
    "emptyPartitionBytesPerUser": .user, "unaskedPartitionDays": .nobody,
    "registeredInMemory": .nobody, "devicesPerUser": .user, "sessionsPerDevice": .user,
    "inactiveDays": .nobody, "issuerRightsHours": .nobody, "leaseDays": .nobody,
    "activationHours": .nobody, "activationsPerUser": .user, "pageRows": .nobody,
    "pageBytes": .nobody, "roundRows": .nobody, "roundBytes": .nobody, "nearRows": .nobody,
    "readers": .all(test: "ServiceShareTests.readers"), "frameCacheBytes": .nobody,
    "unansweredPerDevice": .user, "unansweredPerUser": .user, "unansweredBytesPerUser": .user,
    "incompleteGroupSeconds": .nobody, "channelsPerDevice": .user, "channelsPerUser": .user,
    "channels": .all(test: "ChannelPlacesTests.user"), "heldAnswersPerUser": .user,
    "heldAnswers": .all(test: "ServiceShareTests.held"), "longestHoldSeconds": .nobody,
    "firstLoadRows": .nobody, "loadRows": .nobody, "comparisonHour": .nobody,
    "massDeletionRows": .nobody, "closureRows": .nobody, "readBackKeys": .nobody,
    "hintedObjects": .nobody, "tombstoneDays": .nobody, "tombstonesKept": .nobody,
    "operationMemoryDays": .nobody, "programAnswerDays": .nobody, "refusedDays": .nobody,
    "reportsPerDevice": .user,
    "reportsPerUser": .user,
    "reportBytesPerUser": .user, "reportDays": .nobody, "bigValueBytes": .nobody,
    "contentBytesPerUser": .user, "contentDays": .nobody, "firstRetrySeconds": .nobody,
    "longestRetrySeconds": .nobody,
  ]

  @Test("Each limit is known here, and says for whom it counts")
  func fields() {
    let fields = Mirror(reflecting: ServiceLimits.standard).children.compactMap(\.label)
    #expect(Set(fields) == Set(ServiceShareTests.owners.keys))
    for (name, owner) in ServiceShareTests.owners where name.contains("PerUser") {
      #expect(owner == .user, "\(name)")
    }
    let limits = ServiceLimits.standard
    #expect(limits.channelsPerUser * 4 <= limits.channels)
    #expect(limits.heldAnswersPerUser * 4 <= limits.heldAnswers)
  }

  private func ask(_ bench: Bench, _ user: String, _ device: String) -> Exchange {
    var hello = Hello(
      server: nil, package: Shop.package.id, device: device, incarnation: "i", groups: [],
      partitions: [], open: [])
    hello.wait = 20_000
    hello.asksCurrent = true
    return bench.service.exchange(
      Message.hello(hello).frame.encoded(), by: bench.identity(user, device: device))
  }

  @Test(
    "A user who has as many held answers as one may have gets further ones at once; another waits")
  func held() throws {
    var limits = ServiceLimits.standard
    limits.heldAnswers = 4
    limits.heldAnswersPerUser = 3
    let bench = try Bench(limits: limits)
    try bench.load()
    let annas = (0..<5).map { ask(bench, "anna", "phone \($0)") }
    #expect(annas.map { $0.state.holdUntil != nil } == [true, true, true, false, false])
    let bob = ask(bench, "bob", "tablet")
    #expect(bob.state.holdUntil != nil)
    bench.service.close(annas[0])
    #expect(ask(bench, "anna", "phone 9").state.holdUntil != nil)
  }

  @Test("The reads of a user with many devices that are far behind wait for one of another user")
  func readers() async throws {
    let threads = ReaderThreads(count: 1)
    let order = AsyncStream<String>.makeStream()
    let begun = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    threads.perform(for: ExactText("anna")) { _ in
      begun.continuation.yield()
      gate.wait()
    }
    // From now on the only thread is busy, and the others wait in their lines.
    for await _ in begun.stream { break }
    for number in 1...5 {
      threads.perform(for: ExactText("anna")) { _ in order.continuation.yield("anna \(number)") }
    }
    threads.perform(for: ExactText("bob")) { _ in order.continuation.yield("bob") }
    gate.signal()
    var seen: [String] = []
    for await who in order.stream {
      seen.append(who)
      if seen.count == 6 { break }
    }
    #expect(seen == ["anna 1", "bob", "anna 2", "anna 3", "anna 4", "anna 5"])
  }
}
