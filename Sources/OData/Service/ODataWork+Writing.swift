import FerryHTTP
import FerryOData
import FerryODataAddress

/// Answers to POST, PATCH, PUT and DELETE.
extension ODataWork {
  /// What a request leads to: a write that is still to be done, or the answer of an earlier one.
  enum Plan: Sendable {
    case write(ODataWrite)
    case answer(HTTPResponse)
  }

  func write() async throws(ODataRefusal) -> HTTPResponse {
    switch try await plan() {
    case .answer(let response): return response
    case .write(let write): return try await response(source.write(write), to: write)
    }
  }

  /// Looks at everything that can be said without doing it.
  func plan() async throws(ODataRefusal) -> Plan {
    let method = call.request.method
    if method != .delete { try checkMediaType() }
    if let (set, key, navigation) = try referencePlace() {
      return try await planReference(navigation, of: set, key)
    }
    let (set, key) = try place()
    guard let key else {
      try call.allow([.get, .head, .post])
      var write = ODataWrite(.create, set)
      write.properties = try properties(set, key: nil, isNew: true)
      write = try prepared(write)
      if let response = try await repeated(write) { return .answer(response) }
      return .write(write)
    }
    try call.allow(
      [.get, .head, .patch, .put, .delete] + (call.version < .v4 ? [.merge] : []))
    var write = ODataWrite(method == .delete ? .delete : method == .put ? .replace : .update, set)
    write.key = key
    write.condition = condition()
    if method != .delete { write.properties = try properties(set, key: key, isNew: false) }
    write = try prepared(write)
    // A repeated request finds the entity as the first one has left it.
    if let response = try await repeated(write) { return .answer(response) }
    guard let known = try await source.entry(set, key: key) else {
      // Nobody has promised that it is there: PATCH and PUT make it.
      guard method != .delete, write.condition == .none || hasNoneMatch else {
        throw .notFound("\(set.name)(\(keyText(key)))")
      }
      var new = ODataWrite(.create, set)
      new.properties = try properties(set, key: key, isNew: true)
      return .write(try prepared(new))
    }
    if hasNoneMatch {
      throw ODataRefusal(
        412, "preconditionFailed",
        "\(set.name)(\(keyText(key))) is there already. Send If-Match with its ETag to change it.",
        target: "If-None-Match")
    }
    try check(write.condition, known)
    return .write(write)
  }

  var hasNoneMatch: Bool {
    call.request.headers.values("If-None-Match").contains { $0.trimmedBlanks == "*" }
  }

  /// The set, and the key of the entity that is meant.
  func place() throws(ODataRefusal) -> (EdmEntitySet, ODataProperties?) {
    guard let resolved = call.resolved, let first = resolved.steps.first, first.kind == .entitySet,
      case .name(let name)? = call.address.path.first, let set = metadata.entitySet(name)
    else { throw .notOffered("a change of anything but an entity of a set") }
    guard resolved.steps.count > 1 else { return (set, nil) }
    guard resolved.steps.dropFirst().allSatisfy({ $0.kind == .key }) else {
      throw .notOffered("a change of a part of an entity; change the entity itself. It")
    }
    guard let key = try key(upTo: resolved.steps.count - 1, of: set, resolved) else {
      throw .notFound("The address")
    }
    return (set, key)
  }

  private func checkMediaType() throws(ODataRefusal) {
    let type = call.request.headers["Content-Type"] ?? ""
    let bare = type.prefix { $0 != ";" }.lowercased()
    var known = ["application/json"]
    if call.version < .v4 { known += ["application/atom+xml", "application/xml", "text/xml"] }
    guard known.contains(String(bare).trimmedBlanks) else {
      throw ODataRefusal(
        415, "unsupportedMediaType",
        "A body of \(type.isEmpty ? "no type" : type) is not read. Send Content-Type: \(known[0]).",
        target: "Content-Type")
    }
  }

  func condition() -> ODataWrite.Condition {
    let values = call.request.headers.values("If-Match")
    guard !values.isEmpty else { return .none }
    let tags = values.flatMap { $0.split(separator: ",") }.map { String($0).trimmedBlanks }
    return tags.contains("*") ? .any : .tags(tags)
  }

  func check(
    _ condition: ODataWrite.Condition, _ known: ODataEntry
  ) throws(ODataRefusal) {
    guard let etag = known.etag else { return }
    switch condition {
    case .none:
      throw ODataRefusal(
        428, "preconditionRequired",
        "The request does not say which state it changes. Send If-Match with the ETag of the entity "
          + "that you have read.", target: "If-Match")
    case .tags(let tags):
      guard matches(tags, etag) else {
        var refusal = ODataRefusal(
          412, "preconditionFailed",
          "The entity was changed since \(tags.joined(separator: ", ")): its ETag is \(etag) now. Read "
            + "it again and repeat the change if it still holds.", target: "If-Match")
        refusal.headers["ETag"] = etag
        throw refusal
      }
    case .any: break
    }
  }

  /// With what the headers say of a write.
  func prepared(_ write: ODataWrite) throws(ODataRefusal) -> ODataWrite {
    var write = write
    write.requestID = call.request.headers["Repeatability-Request-ID"]?.trimmedBlanks
    write.firstSent = call.request.headers["Repeatability-First-Sent"]?.trimmedBlanks
    if call.preference("respond-async") != nil {
      write.patience = .seconds(0)
    }
    if let wait = call.preference("wait") {
      guard let seconds = Int(wait), seconds >= 0 else {
        throw ODataRefusal(
          400, "badPreference", "wait=\(wait) is no number of seconds.", target: "Prefer")
      }
      write.patience = .seconds(min(seconds, 60))
    }
    return write
  }

  func repeated(_ write: ODataWrite) async throws(ODataRefusal) -> HTTPResponse? {
    guard write.requestID != nil, let earlier = try await source.repeated(write) else {
      return nil
    }
    var response = try await service.writeResponse(
      earlier.result, call, created: earlier.isCreated, write.set, work: self)
    response.headers["Repeatability-Result"] = "accepted"
    return response
  }

  /// The answer to a write that was done.
  func response(
    _ result: ODataWriteResult, to write: ODataWrite
  ) async throws(ODataRefusal) -> HTTPResponse {
    var response = try await service.writeResponse(
      result, call, created: write.kind == .create, write.set, work: self)
    if write.requestID != nil { response.headers["Repeatability-Result"] = "accepted" }
    return response
  }
}

extension ODataService {
  /// The answer to a write. Without `set` it is that of a status address.
  func writeResponse(
    _ result: ODataWriteResult, _ call: ODataCall, created: Bool, _ set: EdmEntitySet? = nil,
    work: ODataWork? = nil
  ) async throws(ODataRefusal) -> HTTPResponse {
    switch result {
    case .pending(let name):
      return HTTPResponse(
        status: 202,
        headers: [
          "Location": call.root + ODataCall.pendingPath + name, "Retry-After": "2",
          "Preference-Applied": "respond-async", "Cache-Control": "no-store",
        ])
    case .done(let entry, let key):
      guard let set, let work else {
        return HTTPResponse(status: 204, headers: ["AsyncResult": "204"])
      }
      let place = work.address(of: key, in: set)
      var headers: HTTPHeaders = [:]
      if created { headers["Location"] = place }
      if let etag = entry?.etag { headers["ETag"] = etag }
      let wanted = call.preference("return")
      if let wanted, ["minimal", "representation"].contains(wanted) {
        headers["Preference-Applied"] = "return=\(wanted)"
      }
      let isWhole = wanted == "representation" || created && wanted != "minimal"
      guard isWhole, let entry else {
        // What the answer does not show is named, so that the client knows it.
        if created { headers["OData-EntityId"] = place }
        return HTTPResponse(status: 204, headers: headers)
      }
      let form = try call.form()
      headers["Content-Type"] = form.contentType(.entry)
      let shaped = try await work.shape([entry], set, work.options, form)
      return HTTPResponse(
        status: created ? 201 : 200, headers: headers,
        body: .bytes(try work.body(shaped[0], set, form)))
    }
  }
}
