import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Log records that apps wrote")
struct ReportTests {
  private func record(_ number: Int, _ level: LogRecord.Level = .info) -> LogRecord {
    let digits = String(number, radix: 16)
    return LogRecord(
      component: "Order", entityKey: "\(number)", code: 0, message: "note \(number)",
      operation: nil,
      requestID: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!,
      timestamp: 1, level: level)
  }

  private func send(_ records: [LogRecord], _ device: Device, _ bench: Bench) throws -> Stored? {
    let body = device.body() + Message.report(Report(records: records)).frame.encoded()
    try device.drain(bench.service.exchange(body, by: device.identity))
    return device.stored
  }

  @Test("are kept once, however often they are sent and whatever dies in between")
  func once() throws {
    let bench = try Bench()
    try bench.load()
    let device = Device(bench)
    let records = [record(1), record(2, .error)]
    let stored = try send(records, device, bench)
    #expect(stored?.ids == records.map(\.requestID))
    try bench.restart()
    // The word that they are stored was lost: the device sends them again, and one more.
    let again = try send(records + [record(3)], Device(bench), bench)
    #expect(again?.ids.count == 3)
    let kept = try DeviceReport.read(folder: bench.folder, DeviceReport.Question())
    #expect(kept.map(\.record) == records + [record(3)])
    #expect(kept.allSatisfy { $0.user == "anna" && $0.device == "phone" })
    var question = DeviceReport.Question()
    question.atLeast = .warn
    #expect(try DeviceReport.read(folder: bench.folder, question).map(\.record) == [records[1]])
    question.user = "bob"
    #expect(try DeviceReport.read(folder: bench.folder, question).isEmpty)
  }

  @Test("of one device are bounded, and the oldest go")
  func bounded() throws {
    var limits = ServiceLimits.standard
    limits.reportsPerDevice = 5
    let bench = try Bench(limits: limits)
    try bench.load()
    _ = try send((1...8).map { record($0) }, Device(bench), bench)
    _ = try send([record(9)], Device(bench, "other", bench.identity("bob")), bench)
    let kept = try DeviceReport.read(folder: bench.folder, DeviceReport.Question())
    #expect(kept.map(\.record.entityKey) == ["4", "5", "6", "7", "8", "9"])
  }

  @Test("of all devices of a user are bounded together")
  func boundedByUser() throws {
    var limits = ServiceLimits.standard
    limits.reportsPerUser = 3
    let bench = try Bench(limits: limits)
    try bench.load()
    for number in 1...5 { _ = try send([record(number)], Device(bench, "d\(number)"), bench) }
    _ = try send([record(9)], Device(bench, "other", bench.identity("bob")), bench)
    let kept = try DeviceReport.read(folder: bench.folder, DeviceReport.Question())
    #expect(kept.map(\.record.entityKey) == ["3", "4", "5", "9"])
  }
}
