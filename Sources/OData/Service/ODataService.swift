import FerryHTTP
import FerryOData
import FerryODataAddress

/// Answers requests of OData V4, or V2 where the metadata is of V2, over a source: metadata and rows in,
/// answers out.
///
/// It knows neither users nor networks. Whoever has looked at a request hands it over with the source
/// that the caller may see.
package struct ODataService: Sendable {
  package let metadata: EdmMetadata
  package let limits: ODataServiceLimits
  let now: @Sendable () -> EdmDateTimeOffset?
  let uptime: @Sendable () -> Duration
  private let metadataText: [UInt8]
  private let metadataTag: String
  /// Of types that the context tells, so that no entry names them.
  private let plainTypes: Set<String>

  /// `now`: the time for the function of that name. `uptime`: a clock that never jumps, for the bound
  /// of time. Throws `unwritable` where the metadata cannot be written.
  package init(
    _ metadata: EdmMetadata, limits: ODataServiceLimits = ODataServiceLimits(),
    now: @escaping @Sendable () -> EdmDateTimeOffset? = { nil },
    uptime: @escaping @Sendable () -> Duration
  ) throws(ODataError) {
    self.metadata = metadata
    self.limits = limits
    self.now = now
    self.uptime = uptime
    metadataText = try metadata.xml()
    metadataTag = "W/\"\(ODataToken.hash(metadataText))\""
    let types = metadata.schemas.flatMap { $0.entityTypes + $0.complexTypes }
    let bases = Set(types.compactMap(\.baseType))
    plainTypes = Set(
      types.filter { $0.baseType == nil && !bases.contains($0.qualifiedName) }.map(\.qualifiedName))
  }

  /// The answer to a request. `root` is the absolute address of the service, with a slash at its end;
  /// `rest` what is behind it in the path, as it came. Never throws: what goes wrong is an answer.
  package func answer(
    _ request: HTTPRequest, rest: String, root: String, source: any ODataSource
  ) async -> HTTPResponse {
    await answer(request, rest: rest, root: root, source: source, batch: nil)
  }

  /// What the parts of a batch share.
  struct Batch: Sendable {
    /// How long reads of the part may last.
    var patience: Duration
  }

  func answer(
    _ request: HTTPRequest, rest: String, root: String, source: any ODataSource, batch: Batch?
  ) async -> HTTPResponse {
    var response: HTTPResponse
    let request = plain(request)
    do throws(ODataRefusal) {
      let call = try ODataCall(request, rest: rest, root: root, metadata)
      response = try await answer(call, source, batch)
    } catch {
      response = Self.response(error, metadata.version, to: request)
    }
    Self.mark(&response, metadata.version)
    if response.headers["Cache-Control"] == nil {
      response.headers["Cache-Control"] = "private, no-cache"
    }
    if request.method == .head { response.body = .bytes([]) }
    return response
  }

  static func mark(_ response: inout HTTPResponse, _ version: ODataVersion) {
    let name = version >= .v4 ? "OData-Version" : "DataServiceVersion"
    if response.headers[name] == nil { response.headers[name] = "\(version.rawValue).0" }
  }

  /// Clients of V2 whose network knows only GET and POST name the method in a header.
  func plain(_ request: HTTPRequest) -> HTTPRequest {
    guard metadata.version < .v4, request.method == .post,
      let name = request.headers["X-HTTP-Method"] ?? request.headers["X-HTTP-Method-Override"]
    else { return request }
    var plain = request
    plain.method = HTTPMethod(rawValue: name.trimmedBlanks.uppercased())
    return plain
  }

  /// A refusal as it leaves: in JSON, and in XML to a client of V2 that has not asked for JSON.
  package static func response(
    _ refusal: ODataRefusal, _ version: ODataVersion = .v4, to request: HTTPRequest? = nil
  ) -> HTTPResponse {
    let wanted = (request?.headers.values("Accept") ?? []).joined(separator: ",").lowercased()
    let isJSON =
      version >= .v4 || wanted.contains("json")
      || request?.query?.lowercased().contains("$format=json") == true
    var body = refusal.document.json(version)
    var type =
      version >= .v4
      ? "application/json;odata.metadata=minimal;charset=utf-8" : "application/json;charset=utf-8"
    if !isJSON, let xml = try? refusal.document.xml(version) {
      (body, type) = (xml, "application/xml;charset=utf-8")
    }
    var headers: HTTPHeaders = ["Content-Type": type, "Cache-Control": "no-store"]
    for (name, value) in refusal.headers.sorted(by: { $0.key < $1.key }) { headers[name] = value }
    var response = HTTPResponse(status: refusal.status, headers: headers, body: .bytes(body))
    mark(&response, version)
    return response
  }

  private func answer(
    _ call: ODataCall, _ source: any ODataSource, _ batch: Batch?
  ) async throws(ODataRefusal) -> HTTPResponse {
    if let pending = call.pending {
      try call.allow([.get, .head])
      return try await writeResponse(try await source.result(of: pending), call, created: false)
    }
    let work = ODataWork(self, call, source, patience: batch?.patience)
    guard let first = call.address.path.first else {
      try call.allow([.get, .head])
      return try serviceDocument(call)
    }
    switch first {
    case .metadata:
      try call.allow([.get, .head])
      if call.version >= .v4 { try call.accept(["application/xml"]) }
      if work.matches(call.request.headers.values("If-None-Match"), metadataTag) {
        return HTTPResponse(status: 304, headers: ["ETag": metadataTag])
      }
      return HTTPResponse(
        status: 200,
        headers: ["Content-Type": "application/xml;charset=utf-8", "ETag": metadataTag],
        body: .bytes(metadataText))
    case .batch where batch != nil:
      throw ODataRefusal(400, "badRequest", "A batch has no batch inside. Send it by itself.")
    case .batch: return try await self.batch(call, source)
    case .entity: throw .notOffered("$entity")
    case .all: throw .notOffered("$all")
    case .crossjoin: throw .notOffered("$crossjoin")
    default: break
    }
    switch call.request.method {
    case .get, .head: return try await work.read()
    case .post, .patch, .put, .delete, .merge: return try await work.write()
    default:
      var refusal = ODataRefusal(
        405, "methodNotAllowed", "\(call.request.method) is not a method of OData.")
      refusal.headers["Allow"] = "GET, HEAD, POST, PATCH, PUT, DELETE"
      throw refusal
    }
  }

  private func serviceDocument(_ call: ODataCall) throws(ODataRefusal) -> HTTPResponse {
    let document = ODataServiceDocument(of: metadata)
    let wantsXML =
      call.version >= .v4
      ? call.prefersXML
      : !call.accepted.contains { $0.type.contains("json") }
    if wantsXML {
      let type = call.version >= .v4 ? "application/xml" : "application/atomsvc+xml"
      do throws(ODataError) {
        return HTTPResponse(
          status: 200, headers: ["Content-Type": "\(type);charset=utf-8"],
          body: .bytes(try document.xml(call.version, root: call.root)))
      } catch { throw ODataRefusal(error) }
    }
    let form = try call.form()
    return HTTPResponse(
      status: 200, headers: ["Content-Type": form.contentType(.value)],
      body: .bytes(
        document.json(call.version, root: form.metadata == .none ? nil : call.root)))
  }

  /// How entries are written for a call.
  func composer(_ form: ODataForm) -> ODataComposer {
    var composer = ODataComposer(
      form.format, version: form.version, metadata: metadata,
      isIEEE754Compatible: form.isIEEE754Compatible)
    composer.unmarkedTypes = form.metadata == .full ? [] : plainTypes
    return composer
  }
}

extension HTTPMethod {
  /// PATCH, as V2 calls it.
  static let merge = HTTPMethod(rawValue: "MERGE")
}
