import FerryHTTP
import FerryHTTPClient
import FerryOData
import FerryODataBatch

/// Change sets of the fake service.
extension FakeService {
  /// How the service takes change sets.
  enum ChangeSets: Sendable, Equatable {
    case none
    /// All operations or none.
    case whole
    /// As many a SAP Gateway: it refuses more than one operation.
    case onlyOne
    /// Conditions are not looked at inside a batch.
    case withoutConditions
    /// What can be done is done, and what cannot is refused.
    case inParts
  }

  static func performBatch(_ request: TransportRequest, _ state: inout State) -> Reply {
    let type = request.headers["Content-Type"]
    guard state.changeSets != .none,
      let batch = try? ODataBatch.read(request.body, contentType: type)
    else { return error(404, "no batch") }
    if state.changeSets == .onlyOne, batch.parts.count > 1 {
      return reply([
        .response(
          400, headers: [.init(name: "Content-Type", value: "application/json")],
          body: Array(
            error(400, "Default changeset implementation allows only one operation").body.utf8))
      ])
    }
    var next = state
    let heeds = state.heedsConditions
    if state.changeSets == .withoutConditions { next.heedsConditions = false }
    var parts: [ODataBatchPart] = []
    for part in batch.parts {
      var one = TransportRequest(url: root + (part.url ?? ""))
      one.method = HTTPMethod(rawValue: part.method ?? "GET")
      for field in part.headers { one.headers[field.name] = field.value }
      one.body = part.body
      let answer = perform(one, &next)
      let made = ODataBatchPart.response(
        answer.status,
        headers: answer.headers.map { .init(name: $0.key, value: $0.value) }
          + [.init(name: "Content-Type", value: "application/json")],
        body: Array(answer.body.utf8), id: part.id,
        group: state.changeSets == .inParts || answer.status < 300 ? "set" : nil)
      if answer.status >= 300, state.changeSets != .inParts { return reply([made]) }
      parts.append(made)
    }
    next.heedsConditions = heeds
    state = next
    return reply(parts)
  }

  private static func reply(_ parts: [ODataBatchPart]) -> Reply {
    let batch = ODataBatch(parts)
    let format: ODataBatchFormat = .multipart(boundary: "answer_1")
    guard let body = try? batch.body(format) else { return Reply(status: 500) }
    return Reply(
      status: 200, headers: ["Content-Type": format.contentType],
      body: String(decoding: body, as: UTF8.self))
  }
}
