import FerryConnector
import FerryModel
import FerryWire
import Testing

extension ReplayTests {
  @Test("An answer says what was written otherwise than sent, unless the change was done before")
  func written() throws {
    let changes = [ship("bergen"), ship("lima", base: "BERGEN")]
    for (change, isRepeated) in zip(changes, [false, true]) {
      try send(change)
      let row = RowImage(
        entity: "Order", key: ten, values: [.integer(10), .integer(1), .text("BERGEN")])
      bench.business.put(Shop.order, row.values ?? [])
      bench.business.next = .done(
        [.accepted(key: ten, isRepeated: isRepeated)], touched: [row])
      try bench.replay()
      try device.exchange()
    }
    #expect(device.answers[changes[0].0]?.written == ["ship": .text("BERGEN")])
    #expect(device.answers[changes[1].0]?.outcome == .replayResult)
    #expect(device.answers[changes[1].0]?.written == [:])
  }
}
