import FerryConnector
import FerryHTTPClient
import FerryModel
import FerryODataConnector
import Synchronization
import Testing

/// What a service says, and what is said to it.
@Suite(.timeLimit(.minutes(60)))
struct WordsTests {
  private func bench() -> CannedBench {
    let bench = CannedBench(Bench.package)
    bench.service.answer("GET ", FakeService.document)
    bench.service.answer("GET $metadata", FakeService.metadata)
    bench.service.answer(
      "GET Items(1)", "{\"@odata.etag\":\"W/\\\"1\\\"\",\"ID\":1,\"Name\":\"one\",\"Amount\":5}")
    return bench
  }

  private func update(trace: String? = nil) -> ConnectorOperation {
    var operation = Bench().update()
    operation.traceID = trace
    return operation
  }

  private static let changed = CannedService.Answer(
    "{\"error\":{\"code\":\"412\",\"message\":\"changed\"}}", status: 412)

  @Test func theDetailsOfGatewayNameTheAttribute() async {
    let bench = bench()
    let words = """
      {"error":{"code":"ZSHOP/012","message":{"lang":"en","value":"The item was not saved."},
      "innererror":{"transactionid":"A1","errordetails":[
      {"code":"ZSHOP/001","message":"Names are short.","propertyref":"Name","severity":"warning"},
      {"code":"ZSHOP/013","message":"At most 5 of them.","propertyref":"/Items(1)/Amount","severity":"error"},
      {"code":"/IWBEP/CX_MGW_BUSI_EXCEPTION","message":"The item was not saved.","propertyref":"","severity":"error"}
      ]}}}
      """
    bench.service.answer("PATCH Items(1)", Self.changed, CannedService.Answer(words, status: 400))
    let update = update()
    let result = await bench.ask { $0.perform([update]) }
    #expect(
      result
        == .done(
          [
            .refused(
              Refusal(
                code: 412, message: "The item was not saved.", attribute: "amount",
                constraint: "ZSHOP/012", detail: "Names are short. At most 5 of them."))
          ], touched: []))
  }

  @Test func aWarningIsARecordOfTheLog() async {
    let bench = bench()
    var done = CannedService.Answer(
      "{\"@odata.etag\":\"W/\\\"2\\\"\",\"ID\":1,\"Name\":\"one\",\"Amount\":6}")
    done.headers["sap-message"] = """
      {"code":"ZSHOP/020","message":"The stock is low.","severity":"warning","target":"Amount",
      "details":[{"code":"ZSHOP/021","message":"Order some.","severity":"info"}]}
      """.replacing("\n", with: "")
    bench.service.answer("PATCH Items(1)", Self.changed, done)
    let said = Mutex<[ResultNote]>([])
    var update = update()
    update.resultNotes = ResultNotes { notes in said.withLock { $0 = notes } }
    let sent = update
    _ = await bench.ask { $0.perform([sent]) }
    #expect(
      said.withLock { $0 } == [
        ResultNote(
          .warning, "The stock is low.", attribute: "amount", businessCode: "ZSHOP/020"),
        ResultNote(.info, "Order some.", businessCode: "ZSHOP/021"),
      ])
    let lines = bench.log.lines.filter { $0.contains("says something") }
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("warn:") == true)
    #expect(lines.first?.contains("text=The stock is low.") == true)
    #expect(lines.last?.contains("code=ZSHOP/021") == true)
  }

  /// One trace from the user's action to the service, and another id for each request.
  @Test func aTraceGoesAlong() async {
    let bench = bench()
    bench.service.answer(
      "PATCH Items(1)", Self.changed,
      CannedService.Answer("{\"ID\":1,\"Name\":\"one\",\"Amount\":6}"))
    let trace = "0123456789abcdef0123456789abcdef"
    let update = update(trace: trace)
    _ = await bench.ask { $0.perform([update]) }
    let changes = bench.service.requests.filter { $0.method == .patch }
    #expect(changes.count == 2)
    for change in changes {
      #expect(change.headers["traceparent"]?.hasPrefix("00-\(trace)-") == true)
      #expect(change.headers["SAP-PASSPORT"]?.lowercased().contains(trace) == true)
      #expect(change.headers["SAP-PASSPORT"]?.count == 460)
      #expect(change.headers["X-CorrelationID"]?.count == 32)
    }
  }

  @Test func aServiceIsAskedInALanguage() async {
    let bench = CannedBench(Bench.package, language: "de")
    bench.service.answer("GET ", FakeService.document)
    bench.service.answer("GET $metadata", FakeService.metadata)
    _ = await bench.ask { $0.perform([Bench().update()]) }
    #expect(bench.service.requests.allSatisfy { $0.headers["sap-language"]?.lowercased() == "de" })
    #expect(
      bench.service.requests.allSatisfy { $0.headers["Accept-Language"]?.hasPrefix("de") == true })
  }
}
