import Ferry
import FerryWire
import Testing

@testable import Ferry

@Suite("A long download")
struct ProgressTests {
  private let device: Device
  private let shore = Shore(Shop.package)

  init() throws {
    device = try Device().loggedIn()
    shore.pageRows = 2
    for id in 1...6 {
      shore.put(Order.entity, [.integer(Int64(id)), .text("ALFKI"), .text("Bremen"), .null])
    }
  }

  private func answer() throws -> (SessionRequest, [Message]) {
    let request = try #require(try device.request())
    return (request, try shore.respond(to: request.body))
  }

  @Test("A download goes on where it was stopped, and its progress with it, over a restart too")
  func resumes() throws {
    let (request, messages) = try answer()
    device.session.received(status: 200, on: request.lane)
    for message in messages.prefix(3) {
      try device.session.received(message.frame.encoded(), on: request.lane)
    }
    #expect(device.handler.progress.map(\.receivedRows) == [2, 4])
    #expect(device.handler.progress.map(\.expectedRows) == [6, 6])
    #expect(try device.orders().isEmpty)
    try device.restart()
    try device.exchange(shore)
    #expect(device.handler.progress.map(\.receivedRows) == [2, 4, 6])
    let last = try #require(device.handler.progress.last)
    #expect(last.fraction == 1)
    #expect(last.expectedBytes == last.receivedBytes)
    #expect(try device.orders().count == 6)
  }

  @Test("What comes after an import is counted from 0, and how much it is nobody knows")
  func delta() throws {
    try device.exchange(shore)
    shore.put(Order.entity, [.integer(7), .text("ALFKI"), .text("Oslo"), .null])
    try device.exchange(shore)
    let last = try #require(device.handler.progress.last)
    #expect(last.receivedRows == 1)
    #expect(last.fraction == nil)
  }

  @Test("A server is not taken for silent while its rows are imported")
  func busy() throws {
    let (request, messages) = try answer()
    let clock = device.clock
    device.handler.whenTold.withLock { $0 = { clock.advance(60_000) } }
    device.session.received(status: 200, on: request.lane)
    for message in messages.dropLast() {
      try device.session.received(message.frame.encoded(), on: request.lane)
      guard case .wait = try device.session.next() else {
        Issue.record("the exchange was given up")
        return
      }
    }
  }
}
