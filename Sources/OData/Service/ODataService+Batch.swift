import FerryHTTP
import FerryOData
import FerryODataBatch

/// Several requests in one, in both forms.
///
/// They are done one after the other. A change set, or an atomicity group, of more than one change is
/// refused: nothing of it is done, as no part of it may be done alone.
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
    let groups = Dictionary(grouping: requests.compactMap(\.group), by: { $0 }).mapValues(\.count)
    var batch = ODataBatch()
    var done: [String: Done] = [:]
    var bytes = 0
    var refused: Set<String> = []
    var rest = limits.batchPatience
    for part in requests {
      // A group is answered once.
      if let group = part.group, refused.contains(group) { continue }
      let answer: ODataBatchPart
      if let group = part.group, groups[group] ?? 0 > 1 {
        refused.insert(group)
        answer = Self.part(
          .notOffered("a change set of several changes: send each in one of its own. It"), of: part)
      } else {
        let begin = uptime()
        let patience = min(limits.patience, rest)
        answer = await self.answer(part, call, source, done, Batch(patience: patience))
        // A write waits for the business system, and takes nothing from the others meanwhile.
        if part.method == "GET" { rest = max(.zero, rest - (uptime() - begin)) }
      }
      for id in [part.id, part.group].compactMap(\.self) {
        done[id] = Done(status: answer.status ?? 500, location: answer.header("Location"))
      }
      bytes += answer.body.count
      batch.parts.append(answer)
      guard bytes <= limits.batchBytes else {
        throw ODataRefusal(
          413, "tooMuch",
          "The answers of the batch have more than \(limits.batchBytes) bytes. Send fewer requests, "
            + "or read with $top.")
      }
      if (answer.status ?? 500) >= 400, !goesOn { break }
    }
    return try Self.response(batch, format)
  }

  /// What became of an earlier part.
  struct Done: Sendable {
    let status: Int
    let location: String?
  }

  private static func response(
    _ batch: ODataBatch, _ format: ODataBatchFormat
  ) throws(ODataRefusal) -> HTTPResponse {
    var own = format
    if case .multipart = format { own = .multipart(boundary: batch.freeBoundary) }
    do throws(ODataError) {
      return HTTPResponse(
        status: 200, headers: ["Content-Type": own.contentType],
        body: .bytes(try batch.body(own)))
    } catch { throw ODataRefusal(error) }
  }

  private static func part(_ refusal: ODataRefusal, of request: ODataBatchPart) -> ODataBatchPart {
    // A change set that failed is answered by one response without a set around it.
    .response(
      refusal.status,
      headers: [.init(name: "Content-Type", value: "application/json;odata.metadata=minimal")],
      body: refusal.document.json(.v4), id: request.id)
  }

  private func answer(
    _ part: ODataBatchPart, _ call: ODataCall, _ source: any ODataSource, _ done: [String: Done],
    _ batch: Batch
  ) async -> ODataBatchPart {
    guard let method = part.method, var url = part.url else {
      return Self.part(ODataRefusal(400, "badRequest", "The part is no request."), of: part)
    }
    if let failed = part.dependsOn.first(where: { (done[$0]?.status ?? 424) >= 400 }) {
      return Self.part(
        ODataRefusal(
          424, "failedDependency", "The request \(failed), on which this one depends, failed."),
        of: part)
    }
    // `$1` is the entity that the request with this id has made.
    if url.hasPrefix("$"),
      let id = done.keys.filter({ url.dropFirst().hasPrefix($0) })
        .max(by: { $0.count < $1.count }), let location = done[id]?.location
    {
      url = location + url.dropFirst(id.count + 1)
    }
    let path = HTTPAddress(call.root)?.path ?? "/"
    for prefix in [call.root, path] where url.hasPrefix(prefix) {
      url = String(url.dropFirst(prefix.count))
      break
    }
    let sides = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let request = HTTPRequest(
      method: HTTPMethod(rawValue: method), path: path + sides[0],
      query: sides.count > 1 ? String(sides[1]) : nil,
      headers: HTTPHeaders(part.headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) }),
      body: part.body)
    let response = await answer(
      request, rest: String(sides[0]), root: call.root, source: source, batch: batch)
    guard let body = await Self.whole(response.body, atMost: limits.batchBytes) else {
      return Self.part(
        ODataRefusal(
          413, "tooMuch", "The answer has more than \(limits.batchBytes) bytes. Read with $top."),
        of: part)
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
