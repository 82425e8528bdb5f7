import FerryModel
import FerryWire

/// Contents that devices send and ask for.
extension ServiceHost {
  func take(
    _ piece: ContentPiece, from claimed: TokenIdentity
  ) throws(ServerError) -> Result<(progress: ContentProgress, isTaken: Bool), ContentRefusal> {
    let identity = try check(claimed).identity
    let arrived = service.arrivedOperations
    let result = try service.take(piece, from: identity)
    if service.arrivedOperations != arrived { wakeWorkers() }
    return result
  }

  func reference(
    _ question: ContentQuestion, for claimed: TokenIdentity
  ) throws(ServerError) -> Result<(BigReference, Entity, Int), ContentRefusal> {
    try service.reference(question, for: try check(claimed).identity)
  }

  /// Whether a piece of a content that is being given may leave now: the token and its session are
  /// good, the row is within the user's rights, and still names this content.
  func mayLeave(
    _ reference: BigReference, _ question: ContentQuestion, to claimed: TokenIdentity
  )
    -> Bool
  {
    do throws(ServerError) {
      return try service.mayLeave(reference, question, to: try check(claimed).identity)
    } catch {
      return false
    }
  }
}
