import FerryHTTP
import FerryOData
import FerryODataService
import Synchronization
import Testing

/// A clock that goes on by a step each time somebody looks at it.
private final class SteppingClock: Sendable {
  private let now = Atomic<Int64>(0)
  let step: Int64

  init(milliseconds step: Int64) { self.step = step }

  var uptime: Duration {
    .milliseconds(now.add(step, ordering: .relaxed).newValue)
  }
}

@Suite("Bounds of a request's time", .timeLimit(.minutes(60)))
struct BudgetTests {
  private func service(
    _ source: ListSource, step: Int64, _ change: (inout ODataServiceLimits) -> Void = { _ in }
  ) throws -> (ODataService, ListSource) {
    var limits = ODataServiceLimits()
    change(&limits)
    let clock = SteppingClock(milliseconds: step)
    let service = try ODataService(
      ListSource.metadata, limits: limits, uptime: { clock.uptime })
    return (service, source)
  }

  private func ask(
    _ service: ODataService, _ source: ListSource, _ rest: String, _ query: String
  ) async -> (status: Int, text: String) {
    let request = HTTPRequest(method: .get, path: "/s/" + rest, query: query)
    let response = await service.answer(request, rest: rest, root: Desk.root, source: source)
    var bytes: [UInt8] = []
    switch response.body {
    case .bytes(let whole): bytes = whole
    case .stream(let stream):
      while case .bytes(let piece) = await stream.next() { bytes += piece }
    }
    return (response.status, String(decoding: bytes, as: UTF8.self))
  }

  /// A condition with so many parts that is never true.
  private func long(_ parts: Int) -> String {
    (0..<parts).map { "Number%20eq%20-\($0 + 1)" }.joined(separator: "%20or%20")
  }

  @Test("A long condition over many rows ends at the bound of time, with a next link")
  func filter() async throws {
    // One step of the clock is a hundredth of the patience; each row takes some.
    let (service, source) = try service(
      ListSource(customers: 1, orders: 400), step: 300)
    let answer = await ask(service, source, "Orders", "$filter=" + long(1_000))
    #expect(answer.status == 200, "\(answer.text.prefix(300))")
    #expect(answer.text.contains("nextLink"), "\(answer.text.prefix(300))")
  }

  @Test("What must look at all rows is refused by name at the bound of time")
  func sorting() async throws {
    let (service, source) = try service(
      ListSource(customers: 1, orders: 400), step: 300)
    let order = (0..<16).map { "Total%20add%20\($0)" }.joined(separator: ",")
    let answer = await ask(
      service, source, "Orders",
      "$orderby=\(order)&$filter="
        + long(1_000).replacing(
          "eq", with: "ne"
        ).replacing("or", with: "and"))
    #expect(answer.status == 501 && answer.text.contains("tooMuch"), "\(answer.text.prefix(300))")
  }

  @Test("Too many criteria of an order are refused") func criteria() async throws {
    let desk = try Desk()
    let order = (0..<17).map { "Total%20add%20\($0)" }.joined(separator: ",")
    let answer = await desk.get("Orders?$orderby=\(order)")
    #expect(answer.status == 501 && answer.code == "tooMuch", "\(answer.text)")
  }

  @Test(
    "$search finds words in texts, whatever their case",
    arguments: [
      ("rome", ["C0", "C2"]), ("NAME AND NOT rome", ["C1", "C3"]),
      ("%22name 1%22 OR %22name 2%22", ["C1", "C2"]), ("nothing", []),
    ]) func search(_ text: String, _ found: [String]) async throws
  {
    let desk = try Desk()
    let query = text.replacing(" ", with: "%20")
    #expect((await desk.get("Customers?$search=\(query)")).all("ID") == found)
    #expect((await desk.get("Customers/$count?$search=\(query)")).text == "\(found.count)")
    let both = await desk.get("Customers?$search=\(query)&$filter=ID%20ne%20'C2'")
    #expect(both.all("ID") == found.filter { $0 != "C2" })
  }

  @Test("The reads of a batch share one bound of time") func batch() async throws {
    let (service, source) = try service(ListSource(customers: 4, orders: 400), step: 1) {
      $0.batchPatience = .milliseconds(100)
    }
    let parts = (0..<8).map { number in
      #"{"id":"\#(number)","method":"GET","url":"Orders?$orderby=Total&$top=1"}"#
    }
    let request = HTTPRequest(
      method: .post, path: "/s/$batch",
      headers: ["Content-Type": "application/json", "Prefer": "continue-on-error"],
      body: Array("{\"requests\":[\(parts.joined(separator: ","))]}".utf8))
    let response = await service.answer(
      request, rest: "$batch", root: Desk.root, source: source)
    guard case .bytes(let bytes) = response.body else {
      Issue.record("the answer of a batch is whole")
      return
    }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("\"status\":200") && text.contains("\"status\":501"), "\(text)")
  }
}
