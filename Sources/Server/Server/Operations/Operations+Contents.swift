import FerryConnector
import FerryCrypto
import FerryHTTP
import FerryModel
import FerryWire

/// A content's piece, as a request brings it.
package struct ContentPiece: Sendable {
  package let operation: OperationID
  package let attribute: String
  package let range: ContentRange
  package let bytes: [UInt8]
  /// The `Content-Digest` that came with it; nil where none did.
  package let digest: String?

  package init(
    operation: OperationID, attribute: String, range: ContentRange, bytes: [UInt8], digest: String?
  ) {
    self.operation = operation
    self.attribute = attribute
    self.range = range
    self.bytes = bytes
    self.digest = digest
  }

  /// Of a `PUT /ferry/1/content/<operation>/<attribute>`; nil where it is none.
  package init?(_ request: HTTPRequest) {
    guard let segments = request.pathSegments, segments.count == 5,
      let operation = OperationID(segments[3]),
      let range = request.headers["Content-Range"].flatMap(ContentRange.init)
    else { return nil }
    self.init(
      operation: operation, attribute: segments[4], range: range, bytes: request.body,
      digest: request.headers["Content-Digest"])
  }
}

/// Why a request about a content is not done; `status` is HTTP's.
package struct ContentRefusal: Error, Sendable, Equatable {
  package let status: Int
  package let code: String
  package let message: String
  package let hint: String

  /// Also of a package that this user may not use.
  static let noPackage = ContentRefusal(
    status: 404, code: "notFound", message: "this server does not serve the package",
    hint: "Update the app, or deploy its package on the server.")
}

/// Contents of big values: what devices send after their operations.
extension Operations {
  /// Takes a piece, or tells how far the content is. `progress` is where the device goes on; with
  /// `isTaken` false the piece began elsewhere and was not kept.
  func take(
    _ piece: ContentPiece, from identity: Identity
  ) throws(ServerError) -> Result<(progress: ContentProgress, isTaken: Bool), ContentRefusal> {
    guard accounts.mayUsePackage(identity) else { return .failure(.noPackage) }
    switch try wanted(piece, identity) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let reference): return try take(piece, reference, identity.user)
    }
  }

  private func take(
    _ piece: ContentPiece, _ reference: BigReference, _ user: String
  ) throws(ServerError) -> Result<(progress: ContentProgress, isTaken: Bool), ContentRefusal> {
    guard piece.range.sizeBytes == reference.sizeBytes,
      piece.range.count == Int64(piece.bytes.count)
    else {
      return .failure(
        ContentRefusal(
          status: 400, code: "badRequest",
          message: "\(piece.range.text) does not fit \(piece.bytes.count) bytes of a content of "
            + "\(reference.sizeBytes)", hint: "Send the piece again."))
    }
    var entry = try guarded { () throws(StoreError) in try arrived.begin(user, reference) }
    var isTaken = true
    if let start = piece.range.start, entry.state == .arriving {
      if start != entry.stored {
        isTaken = false
      } else {
        if let refusal = try refusal(of: piece, user) { return .failure(refusal) }
        let known = entry
        entry = try guarded { () throws(StoreError) in
          try arrived.append(piece.bytes, to: known, of: reference)
        }
      }
    }
    if entry.state != .arriving {
      queue.arrived(reference, of: ExactText(user))
      // Whoever replays looks again.
      core.arrivedOperations += 1
      if !store.leads {
        try guarded { () throws(StoreError) in
          let owner = try store.operation(piece.operation).owner
          try store.tell([piece.operation], of: owner, hasNews: true)
        }
      }
    }
    let offset = entry.state == .arriving ? entry.stored : reference.sizeBytes
    return .success((ContentProgress(offset: offset, sizeBytes: reference.sizeBytes), isTaken))
  }

  private func refusal(
    of piece: ContentPiece, _ user: String
  ) throws(ServerError) -> ContentRefusal? {
    if let digest = piece.digest, digest != ContentDigest.text(of: piece.bytes) {
      return ContentRefusal(
        status: 400, code: "tornPiece", message: "the piece was damaged on its way",
        hint: "Send it again.")
    }
    let held = try guarded { () throws(StoreError) in try arrived.storedBytes(of: user) }
    guard held + Int64(piece.bytes.count) <= limits.contentBytesPerUser else {
      return ContentRefusal(
        status: 429, code: "tooMuchContent",
        message: "this user has \(held) bytes of big values that wait to be replayed",
        hint: "The device keeps the others and sends them when some of these are answered.")
    }
    return nil
  }

  /// The reference that the operation names for the attribute, while the operation waits.
  private func wanted(
    _ piece: ContentPiece, _ identity: Identity
  ) throws(ServerError) -> Result<BigReference, ContentRefusal> {
    let state = try guarded { () throws(StoreError) in
      try store.state(of: piece.operation, user: identity.user)
    }
    guard let state else {
      return .failure(
        ContentRefusal(
          status: 404, code: "unknownOperation",
          message: "there is no operation \(piece.operation) of this user",
          hint: "Send the operation first; its contents come after it."))
    }
    guard state == .stored || state == .claimed else {
      return .failure(
        ContentRefusal(
          status: 410, code: "answered", message: "the operation \(piece.operation) was answered",
          hint: "Its contents are not needed any more; the answer comes with an exchange."))
    }
    let received = try guarded { () throws(StoreError) in
      try store.operation(piece.operation)
    }
    let operation = received.operation
    let reference = package.entity(named: operation.entity)?.position(of: piece.attribute)
      .flatMap { operation.changed[$0]?.bigReference }
    guard let reference else {
      return .failure(
        ContentRefusal(
          status: 404, code: "unknownAttribute",
          message: "the operation \(piece.operation) names no content for \(piece.attribute)",
          hint: "Send only what the operation's values refer to."))
    }
    return .success(reference)
  }

  /// The contents that an operation needs before it can be performed.
  func references(of operation: Operation) -> Set<BigReference> {
    guard let entity = package.entity(named: operation.entity) else { return [] }
    return Set(entity.bigPositions.compactMap { operation.changed[$0]?.bigReference })
  }

  /// Those of them that have not come yet.
  func missing(_ received: ReceivedOperation) throws(StoreError) -> Set<BigReference> {
    var missing: Set<BigReference> = []
    for reference in references(of: received.operation)
    where try !arrived.hasArrived(received.user, reference) {
      missing.insert(reference)
    }
    return missing
  }

  /// What a connector gets; an operation that was answered before may lack some.
  func contents(
    of operation: Operation, user: String
  ) throws(ServerError) -> [Int: ConnectorContent] {
    guard let entity = package.entity(named: operation.entity) else { return [:] }
    var contents: [Int: ConnectorContent] = [:]
    for position in entity.bigPositions {
      guard let reference = operation.changed[position]?.bigReference else { continue }
      let entry = try guarded { () throws(StoreError) in try arrived.entry(user, reference) }
      guard let entry, entry.state == .whole else { continue }
      contents[position] = arrived.connectorContent(reference, entry)
    }
    return contents
  }

  /// The first operation of the open ones with a content that is not what its reference says.
  func wrongContent(
    _ operations: [ConnectorOperation], open: Set<Int>, user: String
  ) throws(StoreError) -> (Int, Refusal)? {
    for (index, operation) in operations.enumerated() where open.contains(index) {
      for position in operation.entity.bigPositions {
        guard let reference = operation.changed[position]?.bigReference,
          try arrived.entry(user, reference)?.state == .wrong
        else { continue }
        let name = operation.entity.attributes[position].name
        return (
          index,
          Refusal(
            code: 422,
            message: "The content of \(name) is not the one that the change names: it was damaged "
              + "on the device, or the device was set back to an earlier state.", attribute: name)
        )
      }
    }
    return nil
  }

  /// A device sent another form of an operation that waits for its contents: it was set back since,
  /// and has them no longer. What was never tried is refused, so that nothing waits for ever.
  func giveUpContents(of id: OperationID, _ user: String) throws(ServerError) {
    try guarded { () throws(StoreError) in
      guard try store.state(of: id, user: user) == .stored else { return }
      let name = ReplayQueue.Name(try store.operation(id))
      try giveUp(queue.missing(of: name), of: user)
    }
  }

  /// A device has some operations of a group and not the others: it was set back since it sent them,
  /// or was told of their end by a server that was. What those were to bring does not come any more:
  /// the group is refused, so that what is left of it does not wait for ever.
  func giveUpLost(_ open: [OperationID], of owner: Owner) throws(ServerError) {
    // More may be open than are told.
    guard open.count < WireLimits.operationsInFlight else { return }
    let (user, present) = (owner.user.text, Set(open))
    if queue.abandon(by: owner, having: present) { core.arrivedOperations += 1 }
    for (name, lost) in queue.lost(by: owner, having: present) {
      try guarded { () throws(StoreError) in
        var references: Set<BigReference> = []
        for id in lost {
          references.formUnion(self.references(of: try store.operation(id).operation))
        }
        try giveUp(references.intersection(queue.missing(of: name)), of: user)
      }
    }
  }

  private func giveUp(_ references: Set<BigReference>, of user: String) throws(StoreError) {
    for reference in references.sorted(by: { $0.description < $1.description }) {
      try arrived.giveUp(user, reference)
      queue.arrived(reference, of: ExactText(user))
      core.arrivedOperations += 1
    }
  }

  /// Lets go of what an answered chain brought, unless another one needs it. What was refused is
  /// kept for a while: corrected, the change needs it again.
  func releaseContents(_ replay: ActiveReplay) {
    let machine = replay.machine
    for (operation, outcome) in zip(machine.operations, machine.outcomes) {
      for position in operation.entity.bigPositions {
        guard let reference = operation.changed[position]?.bigReference,
          !queue.needs(reference, of: replay.name.owner.user)
        else { continue }
        do throws(ServerError) {
          try guarded { () throws(StoreError) in
            let user = replay.name.owner.user.text
            let state = try arrived.entry(user, reference)?.state
            var isDone = state == .wrong
            if case .accepted = outcome { isDone = true }
            if isDone { try arrived.discard(user, reference) }
          }
        } catch {
          world.log.warn("a content is thrown away later", ("reason", error.description))
        }
      }
    }
  }

  func purgeContents() throws(StoreError) {
    // Somebody may decide that what is unknown is to be performed again.
    var kept: [ExactText: Set<BigReference>] = [:]
    for id in try store.unknownOperations() {
      let received = try store.operation(id)
      kept[received.owner.user, default: []].formUnion(references(of: received.operation))
    }
    try arrived.purge(afterDays: limits.contentDays) { name, reference in
      let user = ExactText(name)
      return queue.needs(reference, of: user) || kept[user]?.contains(reference) == true
    }
  }
}
