import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Small requests that inflate, and the same requests within their limits beside them.
@Suite(.timeLimit(.minutes(60))) struct RequestLimitTests {
  private func open(_ bytes: [UInt8], on bench: Bench) throws -> [Message] {
    let exchange = bench.service.exchange(bytes, by: bench.identity())
    var answer: [UInt8] = []
    while case .bytes(let more) = exchange.next() { answer += more }
    return try FrameReader.frames(of: answer).map { frame throws(WireError) in try Message(frame) }
  }

  private func hello(open: [OperationID] = []) -> Message {
    .hello(
      Hello(
        server: nil, package: Shop.package.id, device: "phone", incarnation: "phone-1", groups: [],
        partitions: [], open: open))
  }

  private func ids(_ count: Int) -> [OperationID] {
    (0..<count).compactMap { number in
      let digits = String(number, radix: 16)
      return OperationID(String(repeating: "0", count: 32 - digits.count) + digits)
    }
  }

  private func isRefused(_ messages: [Message]) -> Bool {
    if case .failure(let failure)? = messages.first { failure.code == .badMessage } else { false }
  }

  private func isWelcome(_ messages: [Message]) -> Bool {
    if case .welcome? = messages.first { true } else { false }
  }

  @Test("Frames that expand beyond 16 MB together are refused, and those within are taken")
  func expanded() throws {
    let bench = try Bench()
    // 4 MB of blanks in JSON: 4 KB on the line.
    let blank = Array("{".utf8) + [UInt8](repeating: 32, count: 4 << 20)
    let confirm = Message.confirm(Confirm(group: "", version: 0, answers: [])).frame.content
    let large = Frame(.confirm, blank + confirm.dropFirst()).encoded()
    #expect(large.count < 64 << 10)
    let head = hello().frame.encoded()
    #expect(isWelcome(try open(head + large + large + large, on: bench)))
    #expect(isRefused(try open(head + large + large + large + large + large, on: bench)))
  }

  @Test("A request that confirms more answers than a device can have is refused")
  func confirmed() throws {
    let bench = try Bench()
    let head = hello().frame.encoded()
    let half = Message.confirm(
      Confirm(group: "", version: 0, answers: ids(WireLimits.answersConfirmed / 2)))
    let one = Message.confirm(Confirm(group: "", version: 0, answers: ids(1)))
    let allowed = head + half.frame.encoded() + half.frame.encoded()
    #expect(isWelcome(try open(allowed, on: bench)))
    #expect(isRefused(try open(allowed + one.frame.encoded(), on: bench)))
  }

  @Test("A hello that names more open operations than may be on their way is refused")
  func opened() throws {
    let bench = try Bench()
    let most = ids(WireLimits.operationsInFlight + 1)
    #expect(isWelcome(try open(hello(open: Array(most.dropFirst())).frame.encoded(), on: bench)))
    #expect(isRefused(try open(hello(open: most).frame.encoded(), on: bench)))
  }

  @Test("More operations than a request may have are refused before one is stored")
  func operations() throws {
    let bench = try Bench()
    let head = hello().frame.encoded()
    let bytes = Array("{}".utf8)
    let replay = Message.replay(
      Replay(operations: Array(repeating: bytes, count: WireLimits.operationsInFlight)))
    let allowed = head + replay.frame.encoded()
    #expect(isWelcome(try open(allowed, on: bench)))
    let more = Message.replay(Replay(operations: [bytes])).frame.encoded()
    #expect(isRefused(try open(allowed + more, on: bench)))
  }
}
