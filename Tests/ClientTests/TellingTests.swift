import Ferry
import FerryModel
import FerryWire
import Testing

@testable import Ferry

@Suite("What a device tells the server of what it has")
struct TellingTests {
  private let shop: Stocked

  init() throws { shop = try Stocked() }

  private func messages(of request: SessionRequest?) throws -> [Message] {
    try FrameReader.frames(of: try #require(request).body).map { try Message($0) }
  }

  private func put(_ ids: ClosedRange<Int64>) {
    for id in ids {
      shop.shore.put(Order.entity, [.integer(id), .text("ALFKI"), .text("Bremen"), .null])
    }
  }

  private func hear(_ messages: [Message], on lane: SessionMachine.Lane) throws {
    for message in messages {
      try shop.device.session.received(message.frame.encoded(), on: lane)
    }
  }

  @Test("Cut off in a download it names the state that its pages are of, and not the one it shows")
  func halfStaged() throws {
    let shown = shop.shore.clock
    put(4...9)
    let request = try #require(try shop.device.request())
    let answer = try shop.shore.respond(to: request.body)
    let page = try #require(
      answer.firstIndex { if case .rows = $0 { true } else { false } })
    shop.device.session.received(status: 200, on: .exchange)
    try hear(Array(answer[...page]), on: .exchange)
    let broken = FerryError(.offline, "the line broke", hint: "none", isTransient: true)
    try shop.device.session.ended(.exchange, broken)
    shop.device.clock.advance(3_600_000)
    guard case .hello(let hello)? = try messages(of: try shop.device.request()).first else {
      Issue.record("an exchange begins with a hello")
      return
    }
    #expect(try shop.device.orders().count == 3)
    #expect(hello.groups.map(\.version) == [shop.shore.clock] && shop.shore.clock > shown)
    // A server that was restored to a state between the two says so, and nothing of the pages stays.
    let restored = Shore(Shop.package)
    for id in 1...3 as ClosedRange<Int64> {
      restored.put(Order.entity, [.integer(id), .text("ALFKI"), .text("Ulm"), .text("1.5")])
    }
    restored.resets = [1]
    try shop.device.session.ended(.exchange, broken)
    shop.device.clock.advance(3_600_000)
    for _ in 0..<2 { try shop.device.exchange(restored) }
    #expect(try shop.device.orders().map(\.city) == ["Ulm", "Ulm", "Ulm"])
  }

  @Test("An answer that the channel brought is confirmed, by an exchange of its own")
  func confirmed() throws {
    shop.device.session.setBackground(true)
    while case .send(let request) = try shop.device.session.next() {
      let answer = try shop.shore.respond(to: request.body)
      shop.device.session.received(status: 200, on: request.lane)
      try hear(answer, on: request.lane)
      if request.lane == .exchange { try shop.device.session.ended(.exchange, nil) }
    }
    var order = try #require(try shop.device.order(1))
    order.city = "Kiel"
    try order.update()
    try order.submitPending()
    let request = try #require(try shop.device.request())
    try shop.device.take(try shop.shore.respond(to: request.body))
    let place = PartitionCursor(partition: 1, cursor: .end(of: shop.shore.clock))
    let id = try #require(shop.shore.stored.keys.first)
    shop.shore.accept(id)
    let pull = Pull(group: "default", staged: [place], at: 0)
    try hear(try shop.shore.download(pull, fromStart: []), on: .channel)
    #expect(try shop.device.operations().isEmpty)
    guard case .send(let next) = try shop.device.session.next() else {
      Issue.record("nothing tells the server that the answer came")
      return
    }
    let confirms = try messages(of: next).compactMap { message -> [OperationID]? in
      if case .confirm(let confirm) = message { confirm.answers } else { nil }
    }
    #expect(next.lane == .exchange && confirms == [[id]])
  }
}
