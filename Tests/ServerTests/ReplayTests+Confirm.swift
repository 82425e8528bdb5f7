import FerryWire
import Testing

@testable import FerryServer

extension ReplayTests {
  @Test("An answer is told until it is confirmed, and again to a restored device")
  func confirmed() throws {
    let change = ship("Bergen")
    try send(change)
    try bench.replay()
    try device.exchange()
    let saved = device.unconfirmed
    device.unconfirmed = []
    try device.exchange()
    #expect(device.checkpoint?.answers.map(\.id) == saved)
    try device.exchange()
    #expect(device.checkpoint?.answers == [])
    device.open = [change.0]
    try device.exchange()
    #expect(device.welcome?.operations == [OperationStatus(id: change.0, state: .answered)])
    #expect(device.checkpoint?.answers.map(\.id) == saved)
    #expect(device.checkpoint?.answers.first?.outcome == .replayResult)
  }
}
