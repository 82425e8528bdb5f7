import FerryCrypto
import FerryJSON
import FerryModel
import FerryWire
import FerryWorld

/// Where an operator looks at operations, and says what is to become of refused ones.
///
/// A refused operation has been answered, and its change is pending on its device again. Only the
/// device knows what the app has done since, so the device makes the new form: the desk writes down
/// what is wanted, each welcome brings it until the device says what became of it.
final class Desk: ServiceRoom {
  let core: ServiceCore

  init(core: ServiceCore) { self.core = core }

  func list(
    _ filter: DeskFilter, before sequence: Int64?, count: Int
  ) throws(ServerError) -> DeskPage {
    try reading { () throws(StoreError) in
      let found = try store.deskOperations(filter, before: sequence, count: count + 1)
      let shown = Array(found.prefix(count))
      let corrections = try store.corrections(of: shown.map(\.id))
      return DeskPage(
        operations: shown, isLast: found.count <= count,
        corrections: Dictionary(grouping: corrections, by: \.operation))
    }
  }

  func counts() throws(ServerError) -> DeskCounts {
    try reading { () throws(StoreError) in try store.deskCounts() }
  }

  func deviceCounts() throws(ServerError) -> DeviceCounts {
    let yesterday = world.clock.now.milliseconds - 86_400_000
    return try reading { () throws(StoreError) in try store.deviceCounts(since: yesterday) }
  }

  /// What devices wrote into their logs, the newest first.
  func reports(
    _ question: DeviceReport.Question, before number: Int64?
  ) throws(ServerError) -> [DeviceReport] {
    try reading { () throws(StoreError) in try store.reports(question, before: number) }
  }

  /// All that is known of an operation; nil: the package has none of this id.
  func entry(_ id: OperationID) throws(ServerError) -> DeskEntry? {
    try reading { () throws(StoreError) -> DeskEntry? in
      var filter = DeskFilter()
      filter.id = id
      guard let operation = try store.deskOperations(filter, before: nil, count: 1).first else {
        return nil
      }
      var entry = DeskEntry(operation: operation, package: package)
      entry.corrections = try store.corrections(of: [id])
      if operation.count > 1 {
        var chain = DeskFilter()
        chain.chain = operation.chain
        entry.chain = try store.deskOperations(chain, before: nil, count: Desk.mostRelated)
          .filter { $0.id != id }
      }
      if let key = operation.newKey ?? operation.key {
        var same = DeskFilter()
        (same.entity, same.key) = (operation.entity, key)
        entry.sameObject = try store.deskOperations(same, before: nil, count: Desk.mostRelated)
          .filter { $0.id != id }
        if let entity = rules.position(of: operation.entity),
          let row = try cache.row(RowName(entity, ObjectKey(text: key))), !row.isDeleted
        {
          entry.theirs = try cache.values(of: row)
        }
      }
      return entry
    }
  }

  private static let mostRelated: Int = 100

  // Corrections.

  /// What an open channel sends where an operator has corrected something.
  static let stir: [UInt8] = {
    var stir = Stir(finished: [])
    stir.hasCorrections = true
    return Message.stir(stir).frame.encoded()
  }()

  /// Writes down what an operator wants done with a refused operation. `isTrial`: only says whether it
  /// could be. Throws `badRequest` where it cannot.
  func correct(_ order: CorrectionOrder, isTrial: Bool) throws(ServerError) -> StoredCorrection {
    guard let entry = try entry(order.operation) else {
      throw Desk.refused("there is no operation \(order.operation)", "The list shows all.")
    }
    let operation = entry.operation
    guard operation.state == .refused, entry.sent != nil else {
      throw Desk.refused(
        operation.state == .refused
          ? "the operation was refused more than \(limits.refusedDays) days ago"
          : "the operation is \(operation.state.rawValue), and only a refused one can be corrected",
        "Look at it again: somebody may have been faster.")
    }
    guard !CallerDevice.isOne(operation.owner.device.text) else {
      throw Desk.refused(
        "a program sent the operation, and no device has it pending",
        "Correct it in the program, or send another one.")
    }
    if let open = entry.corrections.first(where: { $0.state == .open }) {
      throw Desk.refused(
        "\(open.madeBy) has already decided: \(open.verb.rawValue)",
        "Take that back first, or wait until the device has done it.")
    }
    let done = entry.corrections.last { $0.state == .taken }
    if order.verb == .restore {
      try checkRestore(entry, done)
    } else if let done, done.verb != .restore {
      throw Desk.refused(
        "the device has done what \(done.madeBy) decided: \(done.verb.rawValue)",
        done.verb == .discard
          ? "Restore it first." : "Look at the operation that came of it.")
    }
    if let later = entry.sameObject.first(where: {
      $0.sequence > operation.sequence && $0.owner == operation.owner
    }) {
      throw Desk.refused(
        "the device has sent a newer change of this object since", "Look at operation \(later.id).")
    }
    var correction = StoredCorrection(
      id: newID(), operation: operation.id, owner: operation.owner, verb: order.verb)
    if order.verb == .release {
      (correction.changed, correction.seen) = try values(order, entry)
    }
    correction.message = order.message
    correction.madeBy = order.by
    correction.reason = order.reason
    correction.made = world.clock.now.milliseconds
    guard !isTrial else { return correction }
    let made = correction
    guard try guarded({ () throws(StoreError) in try store.add(made) }) else {
      throw Desk.refused("another operator has just decided", "Look at the operation again.")
    }
    core.tell(.corrected(operation.owner))
    return correction
  }

  /// Only what the device has discarded comes back, and only as a whole.
  private func checkRestore(
    _ entry: DeskEntry, _ done: StoredCorrection?
  ) throws(ServerError) {
    guard let done, done.verb == .discard else {
      throw Desk.refused(
        "nobody has discarded the operation", "GET /admin/1/operations?state=discarded lists them.")
    }
    if let entity = entry.entity, let sent = entry.sent,
      let position = entity.bigPositions.first(where: {
        sent.changed[$0].map { !$0.isNull } ?? false
      })
    {
      throw Desk.refused(
        "the content of \(entity.attributes[position].name) is kept no more",
        "Let the user enter the change again.")
    }
    guard entry.operation.payload?.count ?? 0 <= WireLimits.correctionBytes else {
      throw Desk.refused(
        "the operation has more than \(WireLimits.correctionBytes) bytes",
        "Let the user enter the change again.")
    }
  }

  /// The values of a correction, and those that it is based on, as JSON.
  private func values(
    _ order: CorrectionOrder, _ entry: DeskEntry
  ) throws(ServerError) -> (changed: String, seen: String) {
    guard let entity = entry.entity, entry.operation.kind != .delete else {
      throw Desk.refused("a delete has no values to correct", "Retry or discard it.")
    }
    for position in order.changed.keys.sorted() where entity.key.contains(position) {
      throw Desk.refused(
        "\(entity.attributes[position].name) is part of the key", "Discard it instead.")
    }
    for (position, value) in order.changed.sorted(by: { $0.key < $1.key }) {
      let attribute = entity.attributes[position]
      if value.isNull, !attribute.isNullable {
        throw Desk.refused("\(attribute.name) must have a value", "Enter one.")
      }
      var problem = attribute.unlisted(value)?.problem
      if case .text(let text) = value { problem = attribute.misfit(text)?.problem ?? problem }
      if let problem { throw Desk.refused("\(attribute.name): \(problem)", "Enter another value.") }
    }
    // What the operator saw must be what is there now.
    let sent = entry.sent?.changed.keys.sorted() ?? []
    let concerned = Set(sent).union(order.changed.keys)
    var seen: [Int: AttributeValue] = [:]
    if let theirs = entry.theirs, entry.operation.kind == .update {
      for position in concerned where position < theirs.count {
        seen[position] = theirs[position]
        if let known = order.seen[position], known != theirs[position] {
          throw Desk.refused(
            "\(entity.attributes[position].name) was changed in the business system meanwhile",
            "Look at the values again, and decide with them.")
        }
      }
    }
    let texts = [order.changed, seen].map { values -> String in
      var writer = JSONWriter()
      writer.values(values, of: entity)
      return writer.text
    }
    guard texts.allSatisfy({ $0.utf8.count <= WireLimits.correctionBytes }) else {
      throw Desk.refused(
        "the values have more than \(WireLimits.correctionBytes) bytes", "Correct it in the app.")
    }
    return (texts[0], texts[1])
  }

  /// Takes back what no device has done yet.
  func withdraw(
    _ id: OperationID, of operation: OperationID
  ) throws(ServerError) -> StoredCorrection {
    let now = world.clock.now.milliseconds
    let ended = try guarded { () throws(StoreError) -> StoredCorrection? in
      guard let known = try store.corrections(of: [operation]).first(where: { $0.id == id }) else {
        return nil
      }
      return try store.end(
        id, of: known.owner, as: .withdrawn, detail: "", became: nil, at: now)
    }
    guard let ended else {
      throw Desk.refused(
        "there is no open correction \(id)", "The device may have done it already.")
    }
    return ended
  }

  /// What a welcome brings.
  func open(of owner: Owner) throws(ServerError) -> [Correction] {
    try reading { () throws(StoreError) -> [Correction] in
      var open: [Correction] = []
      for correction in try store.openCorrections(of: owner, count: WireLimits.corrections) {
        var wire = correction.wire
        if correction.verb == .restore {
          var filter = DeskFilter()
          filter.id = correction.operation
          // It is kept whole while it can be restored.
          guard let operation = try store.deskOperations(filter, before: nil, count: 1).first,
            let payload = operation.payload
          else { continue }
          wire.sent = String(decoding: payload, as: UTF8.self)
          wire.records = operation.records
        }
        open.append(wire)
      }
      return open
    }
  }

  /// What a device says became of them. Each is heard once.
  func take(_ receipts: [CorrectionReceipt], from owner: Owner) throws(ServerError) {
    guard !receipts.isEmpty else { return }
    let now = world.clock.now.milliseconds
    for receipt in receipts {
      let state: StoredCorrection.State =
        switch receipt.outcome {
        case .taken: .taken
        case .kept: .kept
        case .absent: .absent
        case .invalid: .invalid
        }
      let ended = try guarded { () throws(StoreError) in
        try store.end(
          receipt.id, of: owner, as: state, detail: receipt.message, became: receipt.operation,
          at: now)
      }
      if let ended { core.tell(.correctionEnded(ended)) }
    }
  }

  private func newID() -> OperationID {
    guard let id = OperationID(hexadecimal(world.chance.bytes(16))) else {
      preconditionFailure("32 hexadecimal digits are an id")
    }
    return id
  }

  private static func refused(_ message: String, _ hint: String) -> ServerError {
    ServerError(.badRequest, message, hint: hint)
  }
}
