import FerryHTTP
import FerryOData

/// How an update is sent.
public enum ODataUpdateMethod: Sendable, Hashable, CaseIterable {
  /// The properties that the entry has: MERGE for V1 and V2, PATCH for V3 and V4; the default.
  case automatic
  /// The properties that the entry has.
  case patch
  /// The properties that the entry has, as V2 names it.
  case merge
  /// The whole entry: what it leaves out gets its default.
  case put
}

extension ODataService {
  /// Creates an object and returns it as the service made it, with its ETag.
  ///
  /// A service that answers without a body is believed: the entry comes back with the address and
  /// the ETag of the answer. Throws `call` for a set that there is not, `document` for an entry
  /// that cannot be written, `http`, `transport`. Where `requestWasSent` is true and no answer
  /// came, the object may exist: look for it before the call is made again.
  public func create(
    _ entry: ODataEntry, in set: String
  ) async throws(ODataClientError) -> ODataEntry {
    let found = try self.set(set)
    let address = root + PercentEncoding.encode(found.name)
    return try await create(entry, at: ODataTarget(address: address, type: found.entityType))
  }

  func create(
    _ entry: ODataEntry, at target: ODataTarget
  ) async throws(ODataClientError) -> ODataEntry {
    var mine = entry
    if mine.type == nil { mine.type = target.type }
    mine.etag = nil
    let url = target.address
    let composer = self.composer
    let body = try written("POST \(url)") { () throws(ODataError) in try composer.create(mine) }
    let response = try await session.sendChecked(request(url, .post, body))
    if response.body.isEmpty {
      let place = response.headers["OData-EntityId"] ?? response.headers["Location"]
      if let place { mine.id = ODataURL.resolved(place, base: url) }
      mine.etag = response.etag
      return mine
    }
    let options = options(url, type: target.type)
    do throws(ODataError) {
      var made = try ODataEntry.read(response.body, options)
      if made.etag == nil { made.etag = response.etag }
      if made.id == nil, let place = response.headers["Location"] {
        made.id = ODataURL.resolved(place, base: url)
      }
      return made
    } catch {
      throw ODataClientError(error, "POST \(url)", wasSent: true)
    }
  }

  /// Changes an object, if it is still the one with the entry's ETag, and returns the entry with
  /// its new ETag, or as the service sends it back.
  ///
  /// An entry without an ETag is written whatever the state of the object. Throws `conflict` with
  /// both states where the object has changed, otherwise as `create`.
  public func update(
    _ entry: ODataEntry, method: ODataUpdateMethod = .automatic
  ) async throws(ODataClientError) -> ODataEntry {
    let place = try place(of: entry, verb(method))
    return try await update(entry, at: ODataTarget(address: place, type: nil), method)
  }

  func update(
    _ entry: ODataEntry, at target: ODataTarget, _ method: ODataUpdateMethod
  ) async throws(ODataClientError) -> ODataEntry {
    let composer = self.composer
    let verb = verb(method)
    let url = target.address
    let body = try written("\(verb) \(url)") { () throws(ODataError) in
      method == .put ? try composer.update(entry) : try composer.patch(entry)
    }
    let response = try await change(
      request(url, verb, body), mine: entry, etag: entry.etag, type: target.type)
    if !response.body.isEmpty {
      return try self.entry(in: response, "\(verb) \(url)", type: target.type)
    }
    var changed = entry
    changed.etag = response.etag
    return changed
  }

  /// Deletes an object, if it is still the one with the entry's ETag.
  ///
  /// Throws as `update`; a conflict has no `mine`.
  public func delete(_ entry: ODataEntry) async throws(ODataClientError) {
    try await delete(at: place(of: entry, .delete), etag: entry.etag)
  }

  func delete(at address: String, etag: String?) async throws(ODataClientError) {
    var request = ODataRequest(address, method: .delete)
    if let etag { request.setETag(etag, match: .ifMatch) }
    _ = try await change(request, mine: nil, etag: etag, type: nil)
  }

  func verb(_ method: ODataUpdateMethod) -> HTTPMethod {
    switch method {
    case .automatic: metadata.version < .v3 ? .merge : .patch
    case .patch: .patch
    case .merge: .merge
    case .put: .put
    }
  }

  /// Sends a change of an object; a 412 becomes a conflict with the state at the service.
  private func change(
    _ request: ODataRequest, mine: ODataEntry?, etag: String?, type: String?
  ) async throws(ODataClientError) -> ODataResponse {
    let response = try await session.send(request)
    guard response.status == 412 else {
      guard response.isSuccess else {
        throw ODataClientError(ODataHTTPError(response), ODataSession.name(request))
      }
      return response
    }
    let theirs = try? await self.entry(at: ODataTarget(address: request.address, type: type))
    let conflict = ODataConflict(
      mine: mine, theirs: theirs, myETag: etag, theirETag: theirs?.etag)
    throw ODataClientError(
      .conflict(conflict), ODataSession.name(request),
      "choose one of both states; to write yours, send it with the ETag of theirs", wasSent: true)
  }

  private var composer: ODataComposer {
    ODataComposer(format, version: metadata.version, metadata: metadata)
  }

  private func place(
    of entry: ODataEntry, _ method: HTTPMethod
  ) throws(ODataClientError) -> String {
    guard let address = entry.editLink ?? entry.selfLink ?? entry.id else {
      throw ODataClientError(
        call: "the entry has no address", "\(method)",
        hint: "read it from the service, or give it an id such as Items(3)")
    }
    return try own(address, "\(method)")
  }

  private func request(
    _ url: String, _ method: HTTPMethod, _ body: ODataRequestBody
  ) -> ODataRequest {
    var headers = readHeaders()
    for field in body.headers { headers.add(field.name, field.value) }
    return ODataRequest(url, method: method, headers: headers, body: body.body)
  }

  func written(
    _ name: String, _ write: () throws(ODataError) -> ODataRequestBody
  ) throws(ODataClientError) -> ODataRequestBody {
    do throws(ODataError) { return try write() } catch {
      throw ODataClientError(error, name, wasSent: false)
    }
  }
}
