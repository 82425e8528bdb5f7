import FerryModel
import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("A group that does not come whole ends", .timeLimit(.minutes(60)))
struct IncompleteGroupTests {
  private let bench: Bench
  private let device: Device
  private let group: [(id: OperationID, bytes: [UInt8])]

  init() throws {
    let bench = try Bench()
    try bench.load()
    let chain = OperationID(bench.newID())!
    group = (0..<3).map { place in
      let key = Int64(place + 1)
      return bench.operation(
        Shop.audit, .create, ObjectKey([.integer(key)]), changed: [0: .integer(key)], chain: chain,
        position: place, count: 3)
    }
    device = Device(bench)
    self.bench = bench
  }

  private func send(_ places: Int...) throws {
    device.open += places.map { group[$0].id }
    try device.exchange(places.map { group[$0].bytes })
  }

  @Test("For 24 hours its rest is waited for; then nothing of it is tried, and it is to come again")
  func ends() throws {
    try send(0, 1)
    bench.clock.advance(86_400 - 3_600)
    try bench.replay()
    try device.exchange()
    #expect(device.answers.isEmpty)
    bench.clock.advance(3_600)
    try bench.replay()
    try device.exchange()
    #expect(Set(device.answers.keys) == [group[0].id, group[1].id])
    #expect(device.answers.values.allSatisfy { $0.outcome == .notTried && $0.isToBeSentAgain })
    #expect(bench.business.performs == 0)
    // It counts no more against the room of its device.
    let owner = Owner(device: "phone", user: "anna")
    #expect(bench.service.queue.load(of: owner) == ReplayQueue.Load())
  }

  @Test("What comes of it later is answered at the door, also after a start of the server")
  func late() throws {
    try send(0)
    bench.clock.advance(86_400)
    try bench.replay()
    try send(1)
    let answer = try #require(device.stored?.refused.first)
    #expect(answer.id == group[1].id)
    #expect(answer.outcome == .notTried && answer.isToBeSentAgain)
    try device.exchange()
    try device.exchange()
    try bench.restart()
    try send(2)
    #expect(device.stored?.refused.map(\.id) == [group[2].id])
    #expect(device.stored?.refused.first?.isToBeSentAgain == true)
    #expect(device.stored?.ids == [])
    try bench.replay()
    #expect(bench.business.performs == 0)
  }

  @Test("Each part of it that comes begins the 24 hours anew")
  func slow() throws {
    for place in 0..<3 {
      try send(place)
      bench.clock.advance(80_000)
      try bench.replay()
    }
    try device.exchange()
    #expect(device.answers.count == 3)
    #expect(device.answers.values.allSatisfy { $0.outcome == .replayResult })
  }

  @Test("Where the business system cannot say that it did nothing of it, nobody calls it not tried")
  func unknown() throws {
    try send(0, 1)
    bench.business.remembers = false
    bench.clock.advance(86_400)
    try bench.replay()
    try device.exchange()
    #expect(device.answers.values.allSatisfy { $0.outcome == .unknown })
    #expect(device.answers.count == 2)
  }
}
