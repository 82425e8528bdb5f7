import FerryHTTP
import FerryOData
import FerryODataAddress

/// Answers to POST, PATCH, PUT and DELETE.
extension ODataWork {
  func write() async throws(ODataRefusal) -> HTTPResponse {
    let method = call.request.method
    if method != .delete { try checkMediaType() }
    let (set, key) = try place()
    guard let key else {
      try call.allow([.get, .head, .post])
      return try await create(set)
    }
    try call.allow([.get, .head, .patch, .put, .delete])
    var write = ODataWrite(method == .delete ? .delete : method == .put ? .replace : .update, set)
    write.key = key
    write.condition = condition()
    if method != .delete { write.properties = try properties(set, key: key, isNew: false) }
    write = try prepared(write)
    // A repeated request finds the entity as the first one has left it.
    if let response = try await repeated(write) { return response }
    guard let known = try await source.entry(set, key: key) else {
      // Nobody has promised that it is there: PATCH and PUT make it.
      guard method != .delete, write.condition == .none || hasNoneMatch else {
        throw .notFound("\(set.name)(\(keyText(key)))")
      }
      return try await upsert(set, key)
    }
    if hasNoneMatch {
      throw ODataRefusal(
        412, "preconditionFailed",
        "\(set.name)(\(keyText(key))) is there already. Send If-Match with its ETag to change it.",
        target: "If-None-Match")
    }
    try check(write.condition, known)
    return try await perform(write)
  }

  private var hasNoneMatch: Bool {
    call.request.headers.values("If-None-Match").contains { $0.trimmedBlanks == "*" }
  }

  /// The set, and the key of the entity that is meant.
  private func place() throws(ODataRefusal) -> (EdmEntitySet, ODataProperties?) {
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
    guard String(bare).trimmedBlanks == "application/json" else {
      throw ODataRefusal(
        415, "unsupportedMediaType",
        "A body of \(type.isEmpty ? "no type" : type) is not read. Send Content-Type: application/json.",
        target: "Content-Type")
    }
  }

  private func condition() -> ODataWrite.Condition {
    let values = call.request.headers.values("If-Match")
    guard !values.isEmpty else { return .none }
    let tags = values.flatMap { $0.split(separator: ",") }.map { String($0).trimmedBlanks }
    return tags.contains("*") ? .any : .tags(tags)
  }

  private func check(
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

  private func upsert(
    _ set: EdmEntitySet, _ key: ODataProperties
  ) async throws(ODataRefusal) -> HTTPResponse {
    var write = ODataWrite(.create, set)
    write.properties = try properties(set, key: key, isNew: true)
    return try await perform(try prepared(write))
  }

  private func create(_ set: EdmEntitySet) async throws(ODataRefusal) -> HTTPResponse {
    var write = ODataWrite(.create, set)
    write.properties = try properties(set, key: nil, isNew: true)
    write = try prepared(write)
    if let response = try await repeated(write) { return response }
    return try await perform(write)
  }

  /// The properties of a body, each known and of its type.
  private func properties(
    _ set: EdmEntitySet, key: ODataProperties?, isNew: Bool
  ) throws(ODataRefusal) -> ODataProperties {
    let entry: ODataEntry
    do throws(ODataError) {
      entry = try ODataEntry.read(
        call.request.body,
        ODataReadOptions(
          metadata: metadata, type: set.entityType, isStrict: true, base: call.root, version: .v4))
    } catch { throw ODataRefusal(error, isBody: true) }
    guard let type = metadata.entityType(set.entityType) else { throw .notFound("The set") }
    guard entry.links.allSatisfy({ $0.inline == nil }) else {
      throw .notOffered("a deep insert: create the entities one by one. It")
    }
    var properties: [ODataProperty] = []
    for property in entry.properties {
      guard let declared = metadata.property(property.name, of: type) else {
        throw ODataRefusal(
          400, "unknownName",
          "\(set.name) has no property \(property.name). $metadata lists all.",
          target: property.name)
      }
      guard !properties.contains(where: { $0.name == property.name }) else {
        throw ODataRefusal(
          400, "twice", "\(property.name) is in the body twice. Send it once.",
          target: property.name)
      }
      if property.value.isNull, !declared.facets.isNullable {
        throw ODataRefusal(
          400, "notNullable", "\(property.name) cannot be null. Send a value.",
          target: property.name)
      }
      guard fits(property.value, declared.type) else {
        throw ODataRefusal(
          400, "badValue",
          "The value of \(property.name) is no \(declared.type). Send one of this type.",
          target: property.name)
      }
      if let part = key?[property.name] {
        // Not a change: it names the entity once more.
        guard part == property.value || isNew == false else {
          throw ODataRefusal(
            400, "otherKey", "\(property.name) in the body is not that of the address.",
            target: property.name)
        }
        continue
      }
      properties.append(property)
    }
    try bind(entry.links, to: &properties, set)
    return ODataProperties((isNew ? key.map(Array.init) ?? [] : []) + properties)
  }

  /// Whether a value has the form of a type: the reader keeps what it cannot make one of.
  private func fits(_ value: EdmValue, _ type: EdmTypeReference) -> Bool {
    switch value {
    case .null: return true
    case .collection(let values):
      return type.isCollection && values.allSatisfy { fits($0, type.element) }
    case .complex: return !type.isCollection && metadata.complexType(type.name) != nil
    case .enumeration: return !type.isCollection && metadata.enumType(type.name) != nil
    default: return !type.isCollection && value.primitive == metadata.primitive(type.name)
    }
  }

  /// `Customer@odata.bind` sets the properties by which an entity refers to another.
  private func bind(
    _ links: [ODataLink], to properties: inout [ODataProperty], _ set: EdmEntitySet
  ) throws(ODataRefusal) {
    for link in links where link.isBinding {
      guard let name = link.navigation else { continue }
      let (navigation, target) = try self.navigation(name, from: set)
      guard navigation.type?.isCollection != true, !navigation.constraints.isEmpty else {
        throw .notOffered("\(name)@odata.bind")
      }
      let other = try keyOf(link.href, target, name)
      for constraint in navigation.constraints {
        guard let value = other[constraint.referencedProperty] else {
          throw .notOffered("\(name)@odata.bind")
        }
        properties.removeAll { $0.name == constraint.property }
        properties.append(ODataProperty(constraint.property, value))
      }
    }
  }

  private func keyOf(
    _ href: String, _ target: EdmEntitySet, _ name: String
  ) throws(ODataRefusal) -> ODataProperties {
    let path =
      href.hasPrefix(call.root)
      ? String(href.dropFirst(call.root.count)) : String(href.drop { $0 == "/" })
    let request = HTTPRequest(method: .get, path: "/" + path)
    let other = ODataWork(
      service, try ODataCall(request, rest: path, root: call.root, metadata), source)
    let (set, key) = try other.place()
    guard let key, set.name == target.name else {
      throw ODataRefusal(
        400, "badBinding",
        "\(name)@odata.bind is \(href), and not the address of an entity of \(target.name).",
        target: name)
    }
    return key
  }

  /// With what the headers say of a write.
  private func prepared(_ write: ODataWrite) throws(ODataRefusal) -> ODataWrite {
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

  private func repeated(_ write: ODataWrite) async throws(ODataRefusal) -> HTTPResponse? {
    guard write.requestID != nil, let earlier = try await source.repeated(write) else {
      return nil
    }
    var response = try service.writeResponse(
      earlier.result, call, created: earlier.isCreated, write.set, work: self)
    response.headers["Repeatability-Result"] = "accepted"
    return response
  }

  private func perform(_ write: ODataWrite) async throws(ODataRefusal) -> HTTPResponse {
    let result = try await source.write(write)
    var response = try service.writeResponse(
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
  ) throws(ODataRefusal) -> HTTPResponse {
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
      let form = try call.jsonForm()
      headers["Content-Type"] = form.contentType
      var whole = entry
      whole.links = []
      return HTTPResponse(
        status: created ? 201 : 200, headers: headers,
        body: .bytes(try work.body(whole, set, form)))
    }
  }
}
