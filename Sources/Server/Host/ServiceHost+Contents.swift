import FerryModel
import FerryWire

/// Contents that devices send and ask for.
extension ServiceHost {
  func take(
    _ piece: ContentPiece, from identity: Identity
  ) throws(ServerError) -> Result<(progress: ContentProgress, isTaken: Bool), ContentRefusal> {
    guard !isStopped else { throw ServiceHost.stopped }
    try service.check(identity)
    let arrived = service.arrivedOperations
    let result = try service.take(piece, from: identity)
    if service.arrivedOperations != arrived { wakeWorkers() }
    return result
  }

  func reference(
    _ question: ContentQuestion, for identity: Identity
  ) throws(ServerError) -> Result<(BigReference, Entity, Int), ContentRefusal> {
    try service.check(identity)
    return try service.reference(question, for: identity)
  }
}
