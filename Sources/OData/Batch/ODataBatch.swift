import FerryOData

/// A batch that is in memory as a whole: requests, or the responses to them.
///
///     var batch = ODataBatch()
///     batch.parts.append(.request("GET", "Products", id: "1"))
///     let request = try batch.request(.json)
///
/// For batches of any size use `ODataBatchReader` and `ODataBatchWriter`.
public struct ODataBatch: Sendable, Hashable {
  /// In the order in which the service performs or answers them.
  public var parts: [ODataBatchPart]

  /// Empty unless parts are given.
  public init(_ parts: [ODataBatchPart] = []) { self.parts = parts }

  /// Reads a batch of at most `ODataLimits.recordBytes`. Throws what `ODataBatchReader` throws.
  public static func read(
    _ bytes: [UInt8], contentType: String? = nil, strict: Bool = false,
    limits: ODataLimits = .standard
  ) throws(ODataError) -> ODataBatch {
    guard bytes.count <= limits.recordBytes else {
      throw ODataError(.limit, "the batch is longer than \(limits.recordBytes) bytes")
    }
    let reader = ODataBatchReader(contentType: contentType, limits: limits, isStrict: strict)
    reader.push(bytes)
    reader.finish()
    var batch = ODataBatch()
    while let item = try reader.next() {
      switch item {
      case .part(let part): batch.parts.append(part)
      case .body(let bytes): batch.parts[batch.parts.count - 1].body += bytes
      case .end: break
      }
    }
    return batch
  }

  /// The batch as bytes. Throws `unwritable` and `reference`, as `ODataBatchWriter` says.
  public func body(_ format: ODataBatchFormat) throws(ODataError) -> [UInt8] {
    var writer = try ODataBatchWriter(format)
    for part in parts { try writer.add(part) }
    try writer.finish()
    return writer.take()
  }

  /// The POST to `$batch` that carries the requests.
  ///
  /// With `continuesOnError` the service is asked to go on behind a request that failed; V4
  /// services stop there otherwise.
  public func request(
    _ format: ODataBatchFormat, continuesOnError: Bool = false
  ) throws(ODataError) -> ODataRequestBody {
    var headers: [ODataRequestBody.Header] = [
      .init(name: "Content-Type", value: format.contentType)
    ]
    if format == .json {
      headers.append(.init(name: "OData-Version", value: "4.01"))
      headers.append(.init(name: "Accept", value: "application/json"))
    } else {
      headers.append(.init(name: "Accept", value: "multipart/mixed"))
    }
    if continuesOnError {
      // Services of V4.0 know the first word, those of V4.01 both.
      headers.append(
        .init(
          name: "Prefer",
          value: format == .json ? "continue-on-error" : "odata.continue-on-error"))
    }
    return ODataRequestBody(method: "POST", body: try body(format), headers: headers)
  }

  /// Whether the `Prefer` header of a batch asks to go on behind a request that failed.
  public static func continuesOnError(prefer: String) -> Bool {
    for preference in prefer.split(separator: ",") {
      let sides = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map {
        BatchHead.trimmed($0).lowercased()
      }
      guard let name = sides.first,
        name == "continue-on-error" || name == "odata.continue-on-error"
      else { continue }
      return sides.count == 1 || sides[1] == "true" || sides[1] == "\"true\""
    }
    return false
  }

  /// A boundary that stands in none of the bodies.
  ///
  /// It follows from them, so that the same batch gives the same bytes. Where somebody else chooses
  /// what the bodies hold, draw one by chance instead.
  public var freeBoundary: String {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    for part in parts {
      for byte in part.body { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    while parts.contains(where: { Self.holds($0.body, Self.boundary(sum)) }) { sum &+= 1 }
    return Self.boundary(sum)
  }

  private static func boundary(_ sum: UInt64) -> String { "batch_" + String(sum, radix: 16) }

  private static func holds(_ body: [UInt8], _ boundary: String) -> Bool {
    let name = Array(boundary.utf8)
    return body.firstRange(of: name) != nil
  }

  /// The response to each of the requests, in their order; nil where the service gave none because
  /// it had stopped before.
  ///
  /// Responses of JSON are found by their id. Those of multipart stand in the order of the
  /// requests; one that failed for a whole changeset is the response to each request in it.
  public func answers(to requests: ODataBatch) -> [ODataBatchPart?] {
    let ids = requests.parts.compactMap(\.id)
    if ids.count == requests.parts.count, Set(ids).count == ids.count,
      parts.allSatisfy({ $0.id != nil })
    {
      var found: [String: ODataBatchPart] = [:]
      for part in parts { if let id = part.id, found[id] == nil { found[id] = part } }
      return ids.map { found[$0] }
    }
    var answers: [ODataBatchPart?] = []
    var rest = parts[...]
    var index = 0
    while index < requests.parts.count {
      let group = requests.parts[index].group
      var end = index + 1
      while group != nil, end < requests.parts.count, requests.parts[end].group == group {
        end += 1
      }
      if group != nil, let first = rest.first, first.group == nil {
        // The changeset failed as a whole.
        answers += Array(repeating: first, count: max(0, end - index))
        rest.removeFirst()
      } else {
        let own = rest.first?.group
        for _ in index..<end {
          let isNext = rest.first.map { $0.group == own } ?? false
          answers.append(isNext ? rest.removeFirst() : nil)
        }
      }
      index = end
    }
    return answers
  }
}
