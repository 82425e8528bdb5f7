import FerryModel
import FerryOData
import FerryODataService
import FerryServer
import FerryWire
import FerryWorld

/// A write is an operation of the user's own device, by the way of every other one: taken in once,
/// judged by the rights, performed by the business system, and in the log.
extension FaceSource {
  /// How long an answer is waited for where the client does not say.
  static let patience: Duration = .seconds(25)

  func write(_ write: ODataWrite) async throws(ODataRefusal) -> ODataWriteResult {
    let results = try await self.write([write])
    guard let only = results.first else { preconditionFailure("a write without a result") }
    return only
  }

  func write(_ writes: [ODataWrite]) async throws(ODataRefusal) -> [ODataWriteResult] {
    let faces = try writes.map { write throws(ODataRefusal) in try face(write.set) }
    guard Set(faces.map(\.entity.group)).count == 1 else {
      throw ODataRefusal(
        501, "notOffered",
        "The change set has entities of several groups of synchronization, which are not performed "
          + "together. Send a change set for each group.")
    }
    var ids: [OperationID] = []
    for (write, face) in zip(writes, faces) {
      guard face.entity.operations.contains(FaceSource.kind(write)) else {
        throw ODataRefusal(
          405, "methodNotAllowed",
          "\(face.set) has no \(FaceSource.kind(write).rawValue): the model does not allow it.")
      }
      try checkAge(write)
      ids.append(try operationID(write))
    }
    guard Set(ids).count == ids.count else { throw FaceSource.otherRequest }
    // What changes nothing is done already, and is no part of the chain.
    var real: [Int] = []
    var keys: Set<RowName> = []
    var planned: [Operation] = []
    for (index, write) in writes.enumerated() {
      let operation =
        write.kind == .create
        ? try create(write, faces[index], ids[index])
        : try await change(write, faces[index], FaceSource.kind(write), ids[index])
      if operation.kind == .update, operation.changed.isEmpty { continue }
      if let key = operation.key, !keys.insert(RowName(faces[index].position, key)).inserted {
        throw ODataRefusal(
          501, "notOffered",
          "A change set changes each entity once. Join the changes of one entity.")
      }
      real.append(index)
      planned.append(operation)
    }
    let chain = planned.enumerated().map { position, operation in
      Operation(
        id: operation.id, chain: planned[0].id, position: position, count: planned.count,
        entity: operation.entity, kind: operation.kind, key: operation.key,
        changed: operation.changed, base: operation.base)
    }
    let answers = try await perform(chain, writes, faces[0])
    var results: [ODataWriteResult] = []
    for (index, write) in writes.enumerated() {
      let kind = FaceSource.kind(write)
      guard let position = real.firstIndex(of: index) else {
        guard let key = objectKey(write.key, faces[index]) else {
          throw ODataRefusal(404, "notFound", "The entity is not there, or is not yours.")
        }
        results.append(try await done(faces[index], key))
        continue
      }
      guard let answers else {
        results.append(.pending("\(faces[index].set).\(ids[index].text)"))
        continue
      }
      results.append(
        try await result(of: answers[position], faces[index], chain[position].key, kind))
    }
    return results
  }

  private static func kind(_ write: ODataWrite) -> OperationKind {
    switch write.kind {
    case .create: .create
    case .update, .replace: .update
    case .delete: .delete
    }
  }

  /// The answers in the order of the chain; nil where it is still in work.
  private func perform(
    _ chain: [Operation], _ writes: [ODataWrite], _ face: FaceModel.Face
  ) async throws(ODataRefusal) -> [Answer]? {
    guard !chain.isEmpty else { return [] }
    let outcome: CallerOutcome
    do throws(ServerError) {
      outcome = try await desk.perform(
        chain, for: caller, patience: writes.compactMap(\.patience).min() ?? FaceSource.patience,
        isKept: writes.contains { $0.requestID != nil || $0.patience != nil })
    } catch { throw FaceSource.refusal(error) }
    switch outcome {
    case .inWork: return nil
    case .otherOperation: throw FaceSource.otherRequest
    case .notTaken(let why):
      var refusal = ODataRefusal(503, "notTaken", "\(why). Try again later.")
      refusal.headers["Retry-After"] = "5"
      throw refusal
    case .answered(let answers):
      // The reason is that of the one that was tried; the others were not.
      let order: [Answer.Outcome] = [.unknown, .replayFailed, .notTried]
      for kind in order {
        if let bad = answers.first(where: { $0.outcome == kind }) {
          _ = try await result(of: bad, face, nil, .delete)
        }
      }
      return answers
    }
  }

  func result(of pending: String) async throws(ODataRefusal) -> ODataWriteResult {
    let parts = pending.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let face = model.face(ofSet: parts[0]), let id = OperationID(parts[1])
    else {
      throw ODataRefusal(404, "notFound", "There is no operation \(pending).")
    }
    let answer: Answer
    do throws(ServerError) {
      guard let known = try await desk.answer(to: id, for: caller, patience: .zero) else {
        guard try await desk.knows(id, for: caller) else {
          throw ServerError(
            .badRequest, "there is no operation \(id) of this user",
            hint: "Use the address of Location.")
        }
        return .pending(pending)
      }
      answer = known
    } catch { throw FaceSource.refusal(error) }
    return try await result(of: answer, face, nil, .delete)
  }

  func operationID(_ write: ODataWrite) throws(ODataRefusal) -> OperationID {
    guard let text = write.requestID else {
      let bytes = desk.world.chance.bytes(16)
      let digits = bytes.map { byte in
        let text = String(byte, radix: 16)
        return text.utf8.count == 1 ? "0" + text : text
      }.joined()
      guard let id = OperationID(digits) else {
        preconditionFailure("\(digits) is no id of an operation")
      }
      return id
    }
    let plain = text.lowercased().filter { $0 != "-" }
    guard let id = OperationID(plain) else {
      throw ODataRefusal(
        400, "badRequestID",
        "Repeatability-Request-ID is \(text), and not a UUID. Send one such as "
          + "6f2d1f0e-0c1b-4a65-9a0f-2c8f6a3f9d11.", target: "Repeatability-Request-ID")
    }
    return id
  }

  /// The values of a write by the positions of their attributes.
  func values(
    _ properties: ODataProperties, _ face: FaceModel.Face
  ) throws(ODataRefusal) -> [Int: AttributeValue] {
    var values: [Int: AttributeValue] = [:]
    for property in properties {
      guard let position = face.entity.position(of: property.name) else { continue }
      let attribute = face.entity.attributes[position]
      guard let value = model.values.model(property.value, attribute) else {
        throw ODataRefusal(
          400, "badValue",
          "\(property.value.text) is no value of \(property.name). $metadata tells its type.",
          target: property.name)
      }
      if case .text(let text) = value, let (problem, cure) = attribute.misfit(text) {
        throw ODataRefusal(
          422, "misfit", "\(property.name): \(problem). \(cure)", target: property.name)
      }
      if let (problem, cure) = attribute.unlisted(value) {
        throw ODataRefusal(
          422, "unlisted", "\(property.name): \(problem). \(cure)", target: property.name)
      }
      values[position] = value
    }
    return values
  }

  private func create(
    _ write: ODataWrite, _ face: FaceModel.Face, _ id: OperationID
  ) throws(ODataRefusal) -> Operation {
    let entity = face.entity
    var values = try values(write.properties, face)
    for (position, attribute) in entity.attributes.enumerated()
    where values[position] == nil && !entity.key.contains(position) {
      if let standard = attribute.defaultValue { values[position] = standard }
    }
    var key: ObjectKey?
    if entity.keyOrigin == .businessSystem {
      if let given = entity.key.first(where: { position in
        values[position] != nil
          && !entity.relationships.contains {
            $0.attributes.contains(entity.attributes[position].name)
          }
      }) {
        let name = entity.attributes[given].name
        throw ODataRefusal(
          400, "givenKey", "The business system gives \(name). Leave it out.", target: name)
      }
    } else {
      for position in entity.key where values[position] == nil {
        let name = entity.attributes[position].name
        guard entity.keyOrigin == .device, entity.key.count == 1 else {
          throw ODataRefusal(400, "noKey", "\(name) is missing. Send the key.", target: name)
        }
        values[position] = .text(uuid())
      }
      key = ObjectKey(entity.key.map { values[$0] ?? .null })
    }
    return Operation(
      id: id, chain: id, entity: entity.name, kind: .create, key: key, changed: values, base: [:])
  }

  private func uuid() -> String {
    var bytes = desk.world.chance.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let digits = String(byte, radix: 16)
      text += digits.utf8.count == 1 ? "0" + digits : digits
    }
    return text
  }

  /// The base values are those of the row that the client's ETag names.
  private func change(
    _ write: ODataWrite, _ face: FaceModel.Face, _ kind: OperationKind, _ id: OperationID
  ) async throws(ODataRefusal) -> Operation {
    let entity = face.entity
    guard let key = objectKey(write.key, face), let row = try await row(face, key) else {
      throw ODataRefusal(404, "notFound", "The entity is not there, or is not yours.")
    }
    switch write.condition {
    case .tags(let tags):
      guard tags.contains(FaceSource.tag(row)) || tags.contains("\"\(row.version)\"") else {
        throw ODataRefusal(
          412, "preconditionFailed",
          "The entity was changed meanwhile: its ETag is \(FaceSource.tag(row)) now. Read it again.",
          target: "If-Match")
      }
    case .any:
      guard entity.allowsBlindWrites else {
        throw ODataRefusal(
          428, "preconditionRequired",
          "If-Match: * would write over what others wrote, which the model does not allow for "
            + "\(face.set). Send the ETag of the entity that you have read.", target: "If-Match")
      }
    case .none: break
    }
    var changed = kind == .update ? try values(write.properties, face) : [:]
    if write.kind == .replace {
      for position in face.shown where changed[position] == nil && !entity.key.contains(position) {
        changed[position] = entity.attributes[position].defaultValue ?? .null
      }
    }
    let isBlind = write.condition == .any
    var base: [Int: AttributeValue] = [:]
    if kind == .delete {
      if !isBlind {
        for position in face.shown { base[position] = row.values[position] }
      }
    } else {
      changed = changed.filter { row.values[$0.key] != $0.value || isBlind }
      for position in changed.keys {
        let attribute = entity.attributes[position]
        if changed[position] == .null, !attribute.isNullable {
          throw ODataRefusal(
            400, "notNullable", "\(attribute.name) cannot be null. Send a value.",
            target: attribute.name)
        }
        if !isBlind { base[position] = row.values[position] }
      }
    }
    return Operation(
      id: id, chain: id, entity: entity.name, kind: kind, key: key, changed: changed, base: base)
  }

  private func done(
    _ face: FaceModel.Face, _ key: ObjectKey
  ) async throws(ODataRefusal) -> ODataWriteResult {
    .done(try await row(face, key).map { entry($0, face) }, key: self.key(key, face))
  }

  func result(
    of answer: Answer, _ face: FaceModel.Face, _ key: ObjectKey?, _ kind: OperationKind
  ) async throws(ODataRefusal) -> ODataWriteResult {
    switch answer.outcome {
    case .replayResult:
      guard let key = answer.newKey ?? key else { return .done(nil, key: [:]) }
      if kind == .delete { return .done(nil, key: self.key(key, face)) }
      return try await done(face, key)
    case .replayFailed: throw FaceSource.refusal(answer)
    case .notTried:
      var refusal = ODataRefusal(503, "notTried", "The change was not tried. Send it again.")
      refusal.headers["Retry-After"] = "2"
      throw refusal
    case .unknown:
      var refusal = ODataRefusal(
        500, "outcomeUnknown",
        "It is not known whether the business system performed the change. The operator decides it; "
          + "do not send it again before.")
      refusal.innerError = ["operation": answer.id.text]
      throw refusal
    }
  }

  /// Why the business system, or the user's rights, refused it.
  static func refusal(_ answer: Answer) -> ODataRefusal {
    guard let first = answer.logRecords.first else {
      return ODataRefusal(422, "refused", "The change was refused; the reason is no longer kept.")
    }
    let known = [400, 403, 404, 405, 412, 422]
    var refusal = ODataRefusal(
      known.contains(first.code) ? first.code : 422, String(first.code), first.message,
      target: first.attribute)
    if answer.logRecords.count > 1 {
      refusal.details = answer.logRecords.map {
        ODataErrorDocument.Detail(
          code: String($0.code), message: $0.message, target: $0.attribute, severity: nil)
      }
    }
    var inner: [String: String] = ["operation": answer.id.text]
    inner["constraint"] = first.constraint
    inner["detail"] = first.detail
    inner["hint"] = first.hint
    inner["baseValue"] = first.baseValue?.shown
    inner["currentValue"] = first.currentValue?.shown
    refusal.innerError = inner
    return refusal
  }
}
