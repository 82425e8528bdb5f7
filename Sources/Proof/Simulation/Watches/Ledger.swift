import Ferry
import FerryModel
import FerryWire

/// What devices have made and what the server has told them, over all lives and copies.
final class Ledger {
  /// Where an operation comes from.
  struct Birth {
    /// A device's line of history; a restored device begins a new one. 0: more than one.
    var lineage: Int
    let sequence: Int64
    let origin: Origin
    /// That it was sent in, once it was.
    var chain: OperationID
    /// Of the order that it makes.
    let reference: String?
    /// What it was when it was last looked at.
    var last: PendingOperation
    /// Whether its bytes are fixed: it is a member of its chain.
    var isSealed: Bool

    /// Whether it may be performed after `later`, which was made after it: on another row of an object
    /// that was there twice, and of other attributes, or the app has submitted it again since.
    func mayFollow(_ later: Birth) -> Bool {
      guard origin.isApart(from: later.origin) else { return false }
      let changes = [last, later.last]
      return origin.id != last.id
        || changes.allSatisfy { $0.kind == .update }
          && Set(last.changed.keys).isDisjoint(with: later.last.changed.keys)
    }
  }

  /// The row on which a change was made, as its app saw it.
  struct Origin {
    let id: OperationID
    let object: ObjectNumber
    let key: ObjectKey

    init(_ operation: PendingOperation) {
      (id, object, key) = (operation.id, operation.name, operation.key)
    }

    /// Whether these were two objects with two keys. They may turn out to be one: the business system
    /// gives the one the key of the other.
    func isApart(from other: Origin) -> Bool { object != other.object && key != other.key }
  }

  /// A change keeps its place when an answer gives it another id.
  private struct Place: Hashable {
    let lineage: Int
    let sequence: Int64
  }

  /// An answer, and the checkpoint that carried it; none for one that was given at the door.
  struct Told {
    let answer: Answer
    let checkpoint: CheckpointName?
  }

  private(set) var births: [OperationID: Birth] = [:]
  private var origins: [Place: Origin] = [:]
  private(set) var told: [OperationID: [Told]] = [:]
  private var carried: [String: [Set<OperationID>]] = [:]
  /// References of orders whose change was refused, is unknown or was made again on a copy: from
  /// then on the app may well have made two of them.
  private(set) var looseReferences: Set<String> = []
  /// Groups of which an operator decided one operation by itself.
  private(set) var looseChains: Set<OperationID> = []
  /// References of orders that a restored server has forgotten: their rows may come before it is
  /// told of them again.
  private(set) var forgottenReferences: Set<String> = []
  /// Operations that were performed when the server was restored to a state before that, or refused
  /// and their devices had not heard of it.
  private(set) var forgotten: Set<OperationID> = []
  /// Objects that were accepted and not shown to their device: nothing told it what they became.
  private(set) var outOfSight: Set<RowName> = []
  /// Values that an app had before it when it made a change, by its place and the attribute. What an
  /// import does to a change adds nothing.
  private var sights: [Place: [Int: Set<AttributeValue>]] = [:]
  /// What the operations of a device wrote, other attributes of the row too.
  private var writings: [Changed: [Int: Set<AttributeValue>]] = [:]
  /// What was refused or not tried, by the operations that stood behind it.
  private var blockers: [OperationID: Set<OperationID>] = [:]
  /// Operations that their device has no more: nothing comes to stand behind them.
  private var gone: Set<OperationID> = []
  var arrivals = Arrivals()
  /// Creates that chose a key which the business system gives.
  var choosing: Set<OperationID> = []
  /// Members of groups one of which makes no sense.
  var spoilt: Set<OperationID> = []
  private var lineages = 0

  func newLineage() -> Int {
    lineages += 1
    return lineages
  }

  /// The rows that each operation wrote in the business system.
  private var effects: [OperationID: [Effect]] = [:]

  private struct Effect {
    let name: RowName
    let values: [AttributeValue]
  }

  /// A row as one line of a device's history has changed it.
  private struct Changed: Hashable {
    let lineage: Int
    let name: RowName
  }

  /// Whether the app that made the operation had this value before it, or made it itself.
  func hasSeen(
    _ value: AttributeValue, _ position: Int, of name: RowName, _ id: OperationID
  ) -> Bool {
    guard let birth = births[id] else { return true }
    let place = Place(lineage: birth.lineage, sequence: birth.sequence)
    if sights[place]?[position]?.contains(value) ?? false { return true }
    // What two copies of a device have made both of them know.
    return [birth.lineage, 0].contains { lineage in
      writings[Changed(lineage: lineage, name: name)]?[position]?.contains(value) ?? false
    }
  }

  func noteEffect(of id: OperationID, on name: RowName, _ values: [AttributeValue]) {
    guard let birth = births[id] else { return }
    let effect = Effect(name: name, values: values)
    effects[id, default: []].append(effect)
    write(effect, lineage: birth.lineage)
  }

  private func write(_ effect: Effect, lineage: Int) {
    for (position, value) in effect.values.enumerated() {
      writings[Changed(lineage: lineage, name: effect.name), default: [:]][position, default: []]
        .insert(value)
    }
  }

  private func noteSight(_ operation: PendingOperation, lineage: Int) {
    if let last = births[operation.id]?.last, last.counter == operation.counter { return }
    let place = Place(lineage: lineage, sequence: operation.sequence)
    for (position, value) in operation.base {
      sights[place, default: [:]][position, default: []].insert(value)
    }
  }

  func note(_ operation: PendingOperation, lineage: Int) {
    noteSight(operation, lineage: lineage)
    if let place = births.index(forKey: operation.id) {
      // Two copies have it, and each goes on with it by itself.
      if births.values[place].lineage != lineage, births.values[place].lineage != 0 {
        births.values[place].lineage = 0
        // What it did before the second copy was known is of both.
        for effect in effects[operation.id] ?? [] { write(effect, lineage: 0) }
      }
      if operation.isInFlight { births.values[place].chain = operation.chain }
      births.values[place].last = operation
      births.values[place].isSealed = operation.isInFlight
      return
    }
    let place = Place(lineage: lineage, sequence: operation.sequence)
    let origin = origins[place] ?? Origin(operation)
    origins[place] = origin
    births[operation.id] = Birth(
      lineage: lineage, sequence: operation.sequence, origin: origin,
      chain: operation.chain, reference: Ledger.reference(operation), last: operation,
      isSealed: operation.isInFlight)
  }

  /// It was taken back before it was sent.
  func recall(_ id: OperationID) { births[id]?.isSealed = false }

  /// Its device has it no more, or under another id.
  func leave(_ id: OperationID) { gone.insert(id) }

  /// The members of a chain as it was sent; nil where copies, an operator or a restored server had
  /// their part in it.
  func members(of chain: OperationID) -> [OperationID]? {
    guard !looseChains.contains(chain) else { return nil }
    let members = births.filter { $0.value.chain == chain && $0.value.isSealed }
    guard members.allSatisfy({ $0.value.lineage != 0 && !forgotten.contains($0.key) }) else {
      return nil
    }
    return members.keys.sorted { $0.text < $1.text }
  }

  /// What waits behind an operation that was not taken goes with it, and never by itself. A restored
  /// server may tell of one again that has left its device: what was changed since is not behind it.
  private func block(behind id: OperationID) {
    guard let first = births[id], first.lineage != 0, first.last.state != .withdrawn,
      !gone.contains(id)
    else { return }
    for (other, birth) in births where birth.lineage == first.lineage {
      guard birth.last.entity == first.last.entity, birth.last.object == first.last.object,
        birth.sequence > first.sequence
      else { continue }
      blockers[other, default: []].insert(id)
    }
  }

  /// What must be done before an operation: it was refused or not tried, and is not done. A restored
  /// server may have judged it anew, and done it, before its device heard of the refusal.
  func blocker(of id: OperationID, isDone: (OperationID) -> Bool) -> OperationID? {
    blockers[id]?.sorted { $0.text < $1.text }.first { !isDone($0) }
  }

  func tell(_ answer: Answer, in checkpoint: CheckpointName?) {
    if answer.outcome == .replayFailed || answer.outcome == .notTried { block(behind: answer.id) }
    loseForm(of: answer)
    told[answer.id, default: []].append(Told(answer: answer, checkpoint: checkpoint))
  }

  /// An answer that was confirmed is told again without the values that the business system wrote: a
  /// copy of the device does not learn in which form they are there.
  private func loseForm(of answer: Answer) {
    guard answer.outcome == .replayResult, answer.written.isEmpty, let birth = births[answer.id],
      let before = told[answer.id], before.contains(where: { !$0.answer.written.isEmpty })
    else { return }
    lose(RowName(entity: birth.last.entity, key: answer.newKey ?? birth.last.key))
  }

  /// A checkpoint leaves the server with the answers of these operations.
  func carry(_ checkpoint: Checkpoint, to device: Int) {
    let name = CheckpointName(checkpoint)
    for answer in checkpoint.answers { tell(answer, in: name) }
    let final = checkpoint.answers.filter { $0.outcome != .unknown }.map(\.id)
    carried["\(device) \(name.text)", default: []].append(Set(final))
  }

  /// What each checkpoint of this name carried to the device.
  func answers(to device: Int, in checkpoint: CheckpointName) -> [Set<OperationID>] {
    carried["\(device) \(checkpoint.text)"] ?? []
  }

  func outcomes(of id: OperationID) -> Set<Answer.Outcome> {
    Set((told[id] ?? []).map(\.answer.outcome))
  }

  /// The server is restored to an earlier state: it judges anew what it had performed or refused.
  func forget(performed: Set<OperationID>, pending: [PendingOperation]) {
    forgotten.formUnion(performed)
    for (id, told) in told {
      let outcomes = told.map(\.answer.outcome)
      guard outcomes.contains(.replayFailed) || outcomes.contains(.notTried), !gone.contains(id)
      else { continue }
      forgotten.insert(id)
    }
    forgottenReferences.formUnion(pending.compactMap(Ledger.reference))
  }

  /// It has these as they came, also where their device was told of their end.
  func forget(answersOf waiting: Set<OperationID>) { forgotten.formUnion(waiting) }

  func lose(_ name: RowName) { outOfSight.insert(name) }

  /// The business system says that it was performed before, and not what it wrote then.
  func recalled(_ id: OperationID, _ key: ObjectKey) {
    guard let birth = births[id] else { return }
    lose(RowName(entity: birth.last.entity, key: key))
  }

  func loosen(_ operation: PendingOperation) {
    if let reference = Ledger.reference(operation) { looseReferences.insert(reference) }
  }

  /// Its outcome is unknown on the server, whether its device has heard of that or not.
  func loosen(_ id: OperationID) {
    guard let birth = births[id] else { return }
    looseChains.insert(birth.chain)
    if let reference = birth.reference { looseReferences.insert(reference) }
  }

  private static func reference(_ operation: PendingOperation) -> String? {
    guard operation.entity == "Order", case .text(let reference)? = operation.changed[4] else {
      return nil
    }
    return reference
  }
}
