import FerryConnector
import FerryHTTP
import FerryModel
import FerryOData
import FerryODataBatch
import FerryODataClient
import FerryTrace
import FerryWorld

/// Sends the requests of one chain, as one user.
struct RequestDesk: Sendable {
  let connection: ODataConnection
  let service: ODataService
  let user: String?
  private let known: [String: EntityForm]
  private let technicalSession: ODataSession
  private let composer: ODataComposer

  init(
    _ connection: ODataConnection, _ service: ODataService, user: String?,
    forms: [String: EntityForm]
  ) throws(ConnectorError) {
    self.connection = connection
    self.service = service
    self.user = user
    known = forms
    technicalSession = try connection.session(of: nil)
    composer = ODataComposer(
      service.format, version: service.metadata.version, metadata: service.metadata)
  }

  /// Nil where the service does not have the entity.
  func forms(_ entity: Entity) -> EntityForm? {
    if let form = known[entity.name], form.entity == entity { return form }
    guard case .success(let form) = EntityForm.make(entity, service.metadata) else { return nil }
    return form
  }

  /// As the user who made the changes where the connection says so, and never as another one then.
  func acting(for group: [ConnectorOperation]) throws(ConnectorError) -> RequestDesk {
    guard connection.sendsAsUser else { return self }
    guard let user = group.first?.user, group.allSatisfy({ $0.user == user }) else {
      throw ConnectorError(
        "nobody knows whose change this is", hint: "It is sent as no other user.",
        isTransient: false)
    }
    return try RequestDesk(connection, service, user: user, forms: known)
  }

  /// What goes to devices is read as the technical user: a user may be shown less.
  func asTechnical() throws(ConnectorError) -> RequestDesk {
    user == nil ? self : try RequestDesk(connection, service, user: nil, forms: known)
  }

  // MARK: Sending

  /// With a credential, which is asked for once more where the service does not accept it.
  private func send(_ given: ODataRequest) -> ServiceAnswer {
    var rejected: Credential?
    for _ in 0..<2 {
      var request = given
      let session: ODataSession
      do throws(ConnectorError) {
        guard let found = try connection.headers(of: user, insteadOf: rejected) else {
          return .needsCredential
        }
        for field in found.headers.fields { request.headers[field.name] = field.value }
        rejected = found.credential
        if let user {
          connection.renewSession(of: user, for: found.credential)
          session = try connection.session(of: user)
        } else {
          session = technicalSession
        }
      } catch {
        return .notDone(error.message)
      }
      let ready = request
      let answer = Bridge.wait { await ServiceAnswer.of(ready, session) }
      guard case .needsCredential = answer, rejected != nil else {
        note(answer)
        return answer
      }
    }
    return .needsCredential
  }

  private func note(_ answer: ServiceAnswer) {
    switch answer {
    case .notDone: return
    case .lost, .faulty: return
    default: connection.memory.noteReached(true)
    }
  }

  // MARK: Reading

  enum Read {
    case there(ODataEntry, RowImage)
    case absent
    case failed(ServiceAnswer)
  }

  func read(_ form: EntityForm, _ key: ObjectKey) -> Read {
    guard let address = form.address(key, service) else { return .absent }
    let url = service.root + address
    let answer = send(ODataRequest(url, headers: service.readHeaders))
    switch answer {
    case .done(let response, true):
      guard let entry = entry(in: response, form) else {
        return .failed(.notDone("the answer to GET \(address) is no object"))
      }
      return .there(entry, form.image(entry))
    case .absent: return .absent
    case .done(_, false): return .failed(.notDone("the answer to GET \(address) is empty"))
    default: return .failed(answer)
    }
  }

  func entry(in response: ServiceBody, _ form: EntityForm) -> ODataEntry? {
    let options = ODataReadOptions(
      metadata: service.metadata, type: form.set.entityType, base: response.address,
      version: service.metadata.version)
    guard var entry = try? ODataEntry.read(response.body, options) else { return nil }
    if entry.etag == nil { entry.etag = response.headers["ETag"] }
    return entry
  }

  /// Of many objects one answer that fails is no reason to read all of them again.
  private func readPatiently(_ form: EntityForm, _ key: ObjectKey) -> Read {
    for _ in 0..<RequestDesk.readings {
      let found = read(form, key)
      guard case .failed(let answer) = found else { return found }
      switch answer {
      case .notDone, .lost, .faulty: continue
      default: return found
      }
    }
    return read(form, key)
  }

  private static let readings = 2

  /// One after the other; throws where one cannot be read at present.
  ///
  /// A row for which the condition of the form does not hold is none.
  func read(_ form: EntityForm, _ keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    var images: [RowImage] = []
    for key in keys {
      switch form.scope {
      case .all: break
      case .none:
        images.append(RowImage(entity: form.entity.name, key: key, values: nil))
        continue
      case .filtered(let condition):
        let found = try form.scopedAddress(key, condition, service).map {
          address throws(ConnectorError) in try find(form, at: address, limit: 1)
        }
        images.append(
          found?.first ?? RowImage(entity: form.entity.name, key: key, values: nil))
        continue
      }
      switch readPatiently(form, key) {
      case .there(_, let image): images.append(image)
      case .absent:
        images.append(RowImage(entity: form.entity.name, key: key, values: nil))
      case .failed(let answer): throw RequestDesk.error(answer)
      }
    }
    return images
  }

  /// The rows with these values, at most a page of them.
  func find(
    _ form: EntityForm, _ wanted: [(position: Int, value: AttributeValue)]
  ) throws(ConnectorError) -> [RowImage] {
    guard let address = form.searchAddress(wanted, service) else { return [] }
    return try find(form, at: address, limit: 100)
  }

  private func find(
    _ form: EntityForm, at address: String, limit: Int
  ) throws(ConnectorError) -> [RowImage] {
    let service = service
    return try Bridge.get { () async -> Result<[RowImage], ConnectorError> in
      do throws(ODataClientError) {
        var found: [RowImage] = []
        var rows = service.entries(address).makeAsyncIterator()
        while found.count < limit, let entry = try await rows.next() {
          found.append(form.image(entry))
        }
        return .success(found)
      } catch {
        return .failure(ConnectorError(error))
      }
    }
  }

  /// What a judge looks up.
  func lookUp(
    _ entity: Entity, _ positions: [Int], _ values: [AttributeValue]
  ) throws(ConnectorError) -> [AttributeValue]? {
    guard let form = forms(entity), !values.contains(.null) else { return nil }
    if positions == entity.key {
      var whole = form
      whole.scope = .all
      return try read(whole, [ObjectKey(values)]).first?.values
    }
    return try find(form, Array(zip(positions, values))).first?.values
  }

  static func error(_ answer: ServiceAnswer) -> ConnectorError {
    switch answer {
    case .notDone(let reason), .lost(let reason), .faulty(let reason):
      ConnectorError(reason, hint: "It is tried again.", isTransient: true)
    case .needsCredential:
      ConnectorError(
        "The service wants a credential", hint: "Give the connection one that it accepts.",
        isTransient: true)
    case .refused(_, let document):
      ConnectorError(
        "The service refuses to be read: \(document.message)",
        hint: "Give the technical user the right to read it.", isTransient: true)
    case .done, .absent, .changed:
      ConnectorError("The service gave no object", hint: "It is tried again.", isTransient: true)
    }
  }

  // MARK: Writing

  /// Under a condition, where one is given. Nil where the values are none of the service's.
  func write(
    _ operation: ConnectorOperation, _ form: EntityForm, onto before: ODataEntry?, etag: String?
  ) -> ServiceAnswer {
    guard let (url, body) = body(of: operation, form, onto: before, etag) else {
      return .refused(
        status: 422,
        ODataErrorDocument(code: "", message: "The service has no such value.", language: nil))
    }
    var headers = service.readHeaders
    for field in body.headers { headers[field.name] = field.value }
    if let etag { headers["If-Match"] = etag }
    if service.metadata.version >= .v4, operation.kind != .delete {
      headers["Prefer"] = "return=representation"
    }
    headers.addTrace(operation.traceID, connection.chance)
    let answer = send(
      ODataRequest(
        url, method: HTTPMethod(rawValue: body.method), headers: headers, body: body.body))
    if case .done(let response, _) = answer {
      ServiceWarning.tell(response.headers, of: operation, form, connection.log)
    }
    return answer
  }

  func body(
    of operation: ConnectorOperation, _ form: EntityForm, onto before: ODataEntry?, _ etag: String?
  ) -> (url: String, body: ODataRequestBody)? {
    switch operation.kind {
    case .create:
      var values = operation.changed
      if let key = operation.key?.values(of: form.entity) {
        for (position, value) in zip(form.entity.key, key) { values[position] = value }
      }
      guard let entry = form.entry(values, onto: nil),
        let body = try? composer.create(entry)
      else { return nil }
      return (service.root + PercentEncoding.encode(form.set.name), body)
    case .update:
      guard let address = operation.key.flatMap({ form.address($0, service) }),
        var entry = form.entry(operation.changed, onto: before)
      else { return nil }
      entry.id = before?.id ?? service.root + address
      entry.etag = etag
      guard let body = try? composer.patch(entry) else { return nil }
      return (service.root + address, body)
    case .delete:
      guard let address = operation.key.flatMap({ form.address($0, service) }) else { return nil }
      return (service.root + address, ODataRequestBody.delete)
    }
  }
}

extension RequestDesk {
  /// Nothing of it is sent again by itself.
  func send(_ batch: ODataBatch, trace: String?) -> ServiceAnswer {
    let format: ODataBatchFormat = .multipart(boundary: batch.freeBoundary)
    guard let body = try? batch.request(format) else {
      return .notDone("the change set cannot be written")
    }
    var headers = service.readHeaders
    for field in body.headers { headers[field.name] = field.value }
    headers.addTrace(trace, connection.chance)
    return send(
      ODataRequest(service.root + "$batch", method: .post, headers: headers, body: body.body))
  }
}

extension HTTPHeaders {
  /// The trace of who asked, in the forms that services know.
  fileprivate mutating func addTrace(_ trace: String?, _ chance: any Chance) {
    guard let trace, let id = TraceID(hexadecimal: trace) else { return }
    let passport = Passport(chance, rootID: id)
    self["traceparent"] = "00-\(trace)-\(passport.correlationID.prefix(16))-01"
    self[Passport.headerName] = passport.header
    self[Passport.correlationHeaderName] = passport.correlationID
  }
}

extension ODataRequestBody {
  /// Of a request without a body.
  static let delete = ODataRequestBody(method: "DELETE", body: [], headers: [])
}

extension RequestDesk {
  /// The key of what was made, by the address that the answer names.
  func key(in response: ServiceBody, _ form: EntityForm) -> ObjectKey? {
    guard let place = response.headers["OData-EntityId"] ?? response.headers["Location"] else {
      return nil
    }
    let url = ODataURL.resolved(place, base: response.address)
    guard ODataURL.origin(url) == ODataURL.origin(service.root),
      case .done(let found, true) = send(ODataRequest(url, headers: service.readHeaders)),
      let entry = entry(in: found, form)
    else { return nil }
    return form.image(entry).key
  }
}

extension ODataService {
  /// What a request says about the answer that it wants.
  var readHeaders: HTTPHeaders {
    var headers = HTTPHeaders()
    let isNew = metadata.version >= .v4
    headers["Accept"] =
      format == .atom
      ? "application/atom+xml, application/xml;q=0.9" : "application/json;odata.metadata=minimal"
    headers[isNew ? "OData-MaxVersion" : "MaxDataServiceVersion"] =
      isNew ? "4.0" : "\(metadata.version.rawValue).0"
    return headers
  }
}
