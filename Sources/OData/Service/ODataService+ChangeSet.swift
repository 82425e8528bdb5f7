import FerryHTTP
import FerryOData
import FerryODataBatch

/// Changes that are done together.
extension ODataService {
  /// The request of a part, with references to earlier parts resolved.
  static func request(
    _ part: ODataBatchPart, _ call: ODataCall, _ done: [String: Done]
  ) -> Result<(HTTPRequest, rest: String), ODataRefusal> {
    guard let method = part.method, var url = part.url else {
      return .failure(ODataRefusal(400, "badRequest", "The part is no request."))
    }
    if let failed = part.dependsOn.first(where: { (done[$0]?.status ?? 424) >= 400 }) {
      return .failure(
        ODataRefusal(
          424, "failedDependency", "The request \(failed), on which this one depends, failed."))
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
    return .success((request, String(sides[0])))
  }

  /// One answer for each change, or one for all of them where none was done.
  func changeSet(
    _ parts: [ODataBatchPart], _ call: ODataCall, _ source: any ODataSource,
    _ done: [String: Done]
  ) async -> [ODataBatchPart] {
    var failed = parts[0]
    do throws(ODataRefusal) {
      var works: [ODataWork] = []
      var plans: [ODataWork.Plan] = []
      for part in parts {
        failed = part
        guard part.method != "GET" else {
          throw ODataRefusal(
            400, "badRequest", "A change set has changes only. Read beside it, in the same batch.")
        }
        if let url = part.url, url.hasPrefix("$"),
          parts.contains(where: { other in
            other.id.map { url.dropFirst().hasPrefix($0) } ?? false
          })
        {
          throw .notOffered(
            "a reference to an entity that the same change set makes: make it first. It")
        }
        let (request, rest) = try Self.request(part, call, done).get()
        let work = ODataWork(
          self, try ODataCall(plain(request), rest: rest, root: call.root, metadata), source)
        plans.append(try await work.plan())
        works.append(work)
      }
      failed = parts[0]
      let responses = try await perform(plans, works, source)
      var answers: [ODataBatchPart] = []
      for (response, part) in zip(responses, parts) {
        var response = response
        Self.mark(&response, metadata.version)
        answers.append(await self.part(response, of: part, call))
      }
      return answers
    } catch { return [Self.part(error, of: failed, call)] }
  }

  private func perform(
    _ plans: [ODataWork.Plan], _ works: [ODataWork], _ source: any ODataSource
  ) async throws(ODataRefusal) -> [HTTPResponse] {
    var writes: [ODataWrite] = []
    var earlier: [HTTPResponse] = []
    for plan in plans {
      switch plan {
      case .write(let write): writes.append(write)
      case .answer(let response): earlier.append(response)
      }
    }
    guard !writes.isEmpty else { return earlier }
    guard earlier.isEmpty else {
      throw ODataRefusal(
        412, "otherRequest",
        "Some changes of the set were sent before, and some were not. Send a change set as it was, or "
          + "with new ids.", target: "Repeatability-Request-ID")
    }
    let results = try await source.write(writes)
    var responses: [HTTPResponse] = []
    for ((result, write), work) in zip(zip(results, writes), works) {
      responses.append(try await work.response(result, to: write))
    }
    return responses
  }
}
