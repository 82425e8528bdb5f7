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

  @Test(
    "What was written otherwise than sent is told again to a copy of the device that confirmed it")
  func writtenAgain() throws {
    let change = ship("bergen")
    try send(change)
    let row = RowImage(
      entity: "Order", key: ten, values: [.integer(10), .integer(1), .text("BERGEN")])
    bench.business.put(Shop.order, row.values ?? [])
    bench.business.next = .done([.accepted(key: ten, isRepeated: false)], touched: [row])
    try bench.replay()
    try device.exchange()
    let answer = try #require(device.answers[change.0])
    for _ in 0..<2 { try device.exchange() }
    #expect(device.checkpoint?.answers == [])
    device.open = [change.0]
    try device.exchange()
    #expect(device.checkpoint?.answers == [answer])
    #expect(answer.written == ["ship": .text("BERGEN")])
  }

  @Test("A conflict on several attributes gives one record for each, in the order of the model")
  func conflicts() throws {
    let key = ObjectKey([.integer(10), .integer(1)])
    bench.business.put(Shop.line, [.integer(10), .integer(1), .text("x"), .text("theirs")])
    let operation = bench.operation(
      Shop.line, .update, key, changed: [2: .text("y"), 3: .text("mine")],
      base: [2: .text("10-1"), 3: .text("a")])
    try send(operation)
    try bench.replay()
    try device.exchange()
    let records = try #require(device.answers[operation.0]?.logRecords)
    #expect(records.map(\.attribute) == ["code", "text"])
    #expect(records.map(\.baseValue) == [.text("10-1"), .text("a")])
    #expect(records.map(\.currentValue) == [.text("x"), .text("theirs")])
    #expect(records.allSatisfy { $0.code == 412 && $0.requestID == operation.0 })
    #expect(records.map { $0.message.hasPrefix("code was changed") } == [true, false])
  }
}
