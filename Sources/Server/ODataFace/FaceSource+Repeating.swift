import FerryHTTP
import FerryModel
import FerryOData
import FerryODataService
import FerryServer
import FerryWire

/// Requests with an id of their own, which a client sends again when it has heard no answer.
extension FaceSource {
  static let otherRequest = ODataRefusal(
    412, "otherRequest",
    "Another request had this Repeatability-Request-ID. Send a new one with each request.",
    target: "Repeatability-Request-ID")

  func repeated(_ write: ODataWrite) async throws(ODataRefusal) -> ODataRepetition? {
    guard write.requestID != nil else { return nil }
    try checkAge(write)
    let face = try face(write.set)
    let id = try operationID(write)
    let earlier: EarlierOperation?
    do throws(ServerError) { earlier = try await desk.earlier(id, for: caller) } catch {
      throw FaceSource.refusal(error)
    }
    let operation: Operation?
    let kind: OperationKind
    let isSame: Bool
    switch earlier {
    case nil: return nil
    case .ofAnother: throw FaceSource.otherRequest
    case .whole(let first):
      (operation, kind) = (first, first.kind)
      isSame = try self.isSame(write, first, face)
    case .ended(let entity, let first):
      (operation, kind) = (nil, first)
      isSame = entity == face.entity.name && fits(write.kind, first)
    }
    guard isSame else { throw FaceSource.otherRequest }
    let key = operation?.key ?? objectKey(write.key, face)
    let answer: Answer?
    do throws(ServerError) {
      answer = try await desk.answer(
        to: id, for: caller, patience: write.patience ?? FaceSource.patience)
    } catch { throw FaceSource.refusal(error) }
    guard let answer else {
      return ODataRepetition(.pending("\(face.set).\(id.text)"), isCreated: false)
    }
    return ODataRepetition(
      try await result(of: answer, face, key, kind), isCreated: kind == .create)
  }

  private func fits(_ kind: ODataWrite.Kind, _ first: OperationKind) -> Bool {
    switch kind {
    case .create: first == .create
    // An entity that was not there was made by it.
    case .update, .replace: first == .update || first == .create
    case .delete: first == .delete
    }
  }

  /// Whether an operation is that of this request. What the request left out, or what was so already,
  /// is in the operation only where it has a default.
  private func isSame(
    _ write: ODataWrite, _ first: Operation, _ face: FaceModel.Face
  ) throws(ODataRefusal) -> Bool {
    guard first.entity == face.entity.name, fits(write.kind, first.kind) else { return false }
    if !write.key.isEmpty, first.key != objectKey(write.key, face) { return false }
    guard write.kind != .delete else { return true }
    let given = try values(write.properties, face)
    for (position, value) in first.changed {
      if let own = given[position] {
        guard own == value else { return false }
        continue
      }
      let attribute = face.entity.attributes[position]
      // A key of the address, or one that was made here.
      if face.entity.key.contains(position) { continue }
      let isWhole = write.kind == .replace || first.kind == .create
      guard isWhole, value == attribute.defaultValue ?? .null else { return false }
    }
    guard write.kind == .create else { return true }
    return given.allSatisfy { first.changed[$0.key] == $0.value }
  }

  /// A request that was first sent before anything is remembered may have been performed.
  func checkAge(_ write: ODataWrite) throws(ODataRefusal) {
    guard let text = write.firstSent else { return }
    let target = "Repeatability-First-Sent"
    guard write.requestID != nil, let sent = HTTPDate.seconds(text) else {
      throw ODataRefusal(
        400, "badFirstSent",
        "\(target) is \(text). Send a time such as Sun, 06 Nov 1994 08:49:37 GMT, together with "
          + "Repeatability-Request-ID.", target: target)
    }
    let age = desk.world.clock.now.milliseconds / 1_000 - Int64(sent)
    guard age <= CallerDesk.memoryDays * 86_400 else {
      throw ODataRefusal(
        412, "tooOld",
        "The request was first sent more than \(CallerDesk.memoryDays) days ago. Look whether it was "
          + "performed, and send a new one if not.", target: target)
    }
  }
}
