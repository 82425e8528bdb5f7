import FerryHTTP
import FerryOData
import FerryODataBatch

/// Several requests in one, in both forms.
///
/// They are done one after the other. The changes of a change set, or of an atomicity group, are done
/// together or not at all.
extension ODataService {
  func batch(
    _ call: ODataCall, _ source: any ODataSource
  ) async throws(ODataRefusal) -> HTTPResponse {
    try call.allow([.post])
    let type = call.request.headers["Content-Type"] ?? ""
    guard let format = ODataBatchFormat(contentType: type) else {
      throw ODataRefusal(
        415, "unsupportedMediaType",
        "A batch is multipart/mixed with a boundary, or application/json; this is "
          + "\(type.isEmpty ? "neither" : type).", target: "Content-Type")
    }
    let requests: [ODataBatchPart]
    do throws(ODataError) {
      var bounds = ODataLimits.standard
      bounds.parts = limits.batchParts
      requests = try ODataBatch.read(call.request.body, contentType: type, limits: bounds).parts
    } catch { throw ODataRefusal(error, isBody: true) }
    let goesOn = call.request.headers.values("Prefer").contains {
      ODataBatch.continuesOnError(prefer: $0)
    }
    let groups = Dictionary(grouping: requests.filter { $0.group != nil }) { $0.group ?? "" }
    var batch = ODataBatch()
    var done: [String: Done] = [:]
    var bytes = 0
    var seen: Set<String> = []
    var rest = limits.batchPatience
    for part in requests {
      // A group is answered where its first request is.
      if let group = part.group, seen.contains(group) { continue }
      let answers: [ODataBatchPart]
      if let group = part.group, let members = groups[group], members.count > 1 {
        seen.insert(group)
        answers = await changeSet(members, call, source, done)
      } else {
        let begin = uptime()
        let patience = min(limits.patience, rest)
        answers = [await self.answer(part, call, source, done, Batch(patience: patience))]
        // A write waits for the business system, and takes nothing from the others meanwhile.
        if part.method == "GET" { rest = max(.zero, rest - (uptime() - begin)) }
      }
      for (index, answer) in answers.enumerated() {
        let own = answers.count > 1 ? groups[part.group ?? ""]?[index] ?? part : part
        for id in [own.id, own.group].compactMap(\.self) {
          done[id] = Done(status: answer.status ?? 500, location: answer.header("Location"))
        }
      }
      batch.parts += answers
      bytes += answers.reduce(0) { $0 + $1.body.count }
      guard bytes <= limits.batchBytes else {
        throw ODataRefusal(
          413, "tooMuch",
          "The answers of the batch have more than \(limits.batchBytes) bytes. Send fewer requests, "
            + "or read with $top.")
      }
      if answers.contains(where: { ($0.status ?? 500) >= 400 }), !goesOn { break }
    }
    return try Self.response(batch, format, call.version)
  }

  /// What became of an earlier part.
  struct Done: Sendable {
    let status: Int
    let location: String?
  }

  private static func response(
    _ batch: ODataBatch, _ format: ODataBatchFormat, _ version: ODataVersion
  ) throws(ODataRefusal) -> HTTPResponse {
    var own = format
    if case .multipart = format { own = .multipart(boundary: batch.freeBoundary) }
    do throws(ODataError) {
      return HTTPResponse(
        // V2 says that it has accepted a batch, whatever became of its parts.
        status: version < .v4 ? 202 : 200, headers: ["Content-Type": own.contentType],
        body: .bytes(try batch.body(own)))
    } catch { throw ODataRefusal(error) }
  }

  static func part(
    _ refusal: ODataRefusal, of request: ODataBatchPart, _ call: ODataCall
  ) -> ODataBatchPart {
    // A change set that failed is answered by one response without a set around it.
    let headers = HTTPHeaders(
      request.headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) })
    let answer = response(
      refusal, call.version, to: HTTPRequest(method: .get, path: "/", headers: headers))
    guard case .bytes(let body) = answer.body else { preconditionFailure("a refusal is whole") }
    return .response(
      refusal.status, headers: answer.headers.fields.map { .init(name: $0.name, value: $0.value) },
      body: body, id: request.id)
  }

  private func answer(
    _ part: ODataBatchPart, _ call: ODataCall, _ source: any ODataSource, _ done: [String: Done],
    _ batch: Batch
  ) async -> ODataBatchPart {
    let request: (HTTPRequest, rest: String)
    switch Self.request(part, call, done) {
    case .success(let made): request = made
    case .failure(let refusal): return Self.part(refusal, of: part, call)
    }
    let response = await answer(
      request.0, rest: request.rest, root: call.root, source: source, batch: batch)
    return await self.part(response, of: part, call)
  }

  func part(
    _ response: HTTPResponse, of part: ODataBatchPart, _ call: ODataCall
  ) async -> ODataBatchPart {
    guard let body = await Self.whole(response.body, atMost: limits.batchBytes) else {
      return Self.part(
        ODataRefusal(
          413, "tooMuch", "The answer has more than \(limits.batchBytes) bytes. Read with $top."),
        of: part, call)
    }
    return .response(
      response.status,
      headers: response.headers.fields.map { .init(name: $0.name, value: $0.value) }, body: body,
      id: part.id, group: response.status < 400 ? part.group : nil)
  }

  private static func whole(_ body: HTTPBody, atMost limit: Int) async -> [UInt8]? {
    switch body {
    case .bytes(let bytes): return bytes.count <= limit ? bytes : nil
    case .stream(let source):
      var bytes: [UInt8] = []
      while true {
        switch await source.next() {
        case .bytes(let piece):
          bytes += piece
          guard bytes.count <= limit else { return nil }
        case .end: return bytes
        case .abort: return nil
        }
      }
    }
  }
}
