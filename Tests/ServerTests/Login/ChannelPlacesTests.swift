import FerryWire
import FerryWorld
import Foundation
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Channels have a number of places", .timeLimit(.minutes(60)))
struct ChannelPlacesTests {
  private func open(_ bench: Bench, device: String, user: String = "anna") -> Exchange {
    let hello = Hello(
      server: nil, package: Shop.package.id, device: device, incarnation: "1", groups: [],
      partitions: [], open: [])
    let identity = Identity(
      user: user, device: nil, claims: [:], expires: bench.clock.now.advanced(by: .seconds(600)))
    return bench.service.channel(
      Message.hello(hello).frame.encoded(), by: identity, until: identity.expires)
  }

  /// What the exchange says at its end; nil while it goes on.
  private func lastWord(_ exchange: Exchange) throws -> WireFailure.Code? {
    var bytes: [UInt8] = []
    while true {
      switch exchange.next() {
      case .bytes(let more): bytes += more
      case .waiting: return nil
      case .end:
        guard case .failure(let failure)? = try FrameReader.frames(of: bytes).last.map(Message.init)
        else { return nil }
        return failure.code
      }
    }
  }

  @Test("The fifth channel of a device ends its oldest, and no other device's")
  func device() throws {
    let bench = try Bench()
    let other = open(bench, device: "tablet")
    let bobs = open(bench, device: "phone", user: "bob")
    let channels = (0..<4).map { _ in open(bench, device: "phone") }
    for channel in channels { #expect(try lastWord(channel) == nil) }
    var stirred: [ExchangeID] = []
    bench.service.listen { if case .stirred(let id) = $0 { stirred.append(id) } }
    let fifth = open(bench, device: "phone")
    #expect(stirred == [channels[0].id])
    #expect(try lastWord(channels[0]) == .replaced)
    for channel in channels.dropFirst() + [fifth, other, bobs] {
      #expect(try lastWord(channel) == nil)
    }
    #expect(bench.service.channelCount == 6)
  }

  @Test("A user has 256 channels over all devices; a further one ends the oldest")
  func user() throws {
    let bench = try Bench()
    let bobs = open(bench, device: "phone", user: "bob")
    let first = open(bench, device: "device 0")
    for number in 1..<256 { _ = open(bench, device: "device \(number)") }
    #expect(try lastWord(first) == nil)
    _ = open(bench, device: "one more")
    #expect(try lastWord(first) == .replaced)
    #expect(try lastWord(bobs) == nil)
  }
}
