import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerryServer

extension ReplayTests {
  @Test(
    "What the business system says of a change that it did reaches the device beside the success",
    .reference("sync/P14"))
  func successWithRecords() throws {
    bench.business.remarks = [
      ResultNote(.warning, "The ship is full.", attribute: "ship", businessCode: "W7"),
      ResultNote(.info, "It sails at noon."),
    ]
    let create = bench.operation(
      Shop.order, .create, nil, changed: [1: .integer(1), 2: .text("new")])
    try send(ship("Bergen"), create)
    try bench.replay()
    try device.exchange()
    #expect(device.answers.count == 2)
    for (id, answer) in device.answers {
      #expect(answer.outcome == .replayResult)
      let records = answer.logRecords
      #expect(records.map(\.message) == ["The ship is full.", "It sails at noon."])
      #expect(records.map(\.level) == [.warn, .info])
      #expect(records.allSatisfy { $0.code == LogRecord.remark && $0.requestID == id })
      #expect(records.first?.attribute == "ship" && records.first?.constraint == "W7")
      #expect(records.allSatisfy { !$0.entityKey.isEmpty && $0.component == "Order" })
    }
    // They are of that change only, and are not remembered.
    bench.business.remarks = []
    let (id, bytes) = ship("Narvik", base: "Bergen")
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    #expect(device.answers[id]?.outcome == .replayResult)
    #expect(device.answers[id]?.logRecords == [])
    #expect(bench.service.operations.notes.isEmpty)
  }

  @Test("A change that is refused has the reasons of the refusal, and no remark")
  func refusedWithRemarks() throws {
    bench.business.remarks = [ResultNote(.warning, "The ship is full.")]
    let (id, bytes) = ship("forbidden")
    try send((id, bytes))
    try bench.replay()
    try device.exchange()
    #expect(device.answers[id]?.logRecords.map(\.message) == ["a rule was broken"])
    #expect(bench.service.operations.notes.isEmpty)
  }
}
