import FerryJSON
import FerryModel
import FerrySQLite
import FerryWire

/// A change that waits beside its object, from the moment it was saved until the import that shows
/// its effect.
package struct PendingOperation: Equatable, Sendable {
  package enum State: String, Sendable {
    /// Its bytes are not fixed; it is not sent.
    case waiting
    /// Its bytes are fixed; it is sent until the server has stored it, and then awaits its answer.
    case submitted
    /// The business said no; like waiting, until it is corrected and submitted again or cancelled.
    case replayFailed
    /// Nobody knows yet whether it was done; awaits a decision.
    case unknown
    /// Cancelled after it was submitted; awaits its answer, and nothing of it is visible.
    case withdrawn
  }

  /// Whether submit was asked for where that could not be done at once.
  package enum Wanted: Int64, Sendable {
    case no = 0
    /// Something must be answered first.
    case yes = 1
    /// It was sealed, and its chain lost a member: it is sealed anew before anything is sent.
    case again = 2
  }

  /// Place among all operations of the device.
  package var sequence: Int64
  /// Born with the change; a new one only after an answer that used it up.
  package var id: OperationID
  package let entity: String
  package let object: Int64
  package var kind: OperationKind
  /// The object's business key as it is now.
  package var key: ObjectKey
  /// The key is the device's own until the business system gives one.
  package var isTemporary: Bool
  package var changed: [Int: AttributeValue]
  /// What each changed attribute was when it was first changed; for a delete, all attributes.
  package var base: [Int: AttributeValue]
  /// What is replayed together shares it: one transaction's changes, one composite graph. Sealing
  /// makes it the id of the first of them.
  package var chain: OperationID
  package var state: State
  package var wanted: Wanted = .no
  /// Its bytes have been on their way at least once; the server may have them.
  package var isSent: Bool = false
  /// Grows with each local change and each submit (the reference's replayCounter).
  package var counter: Int64 = 0
  /// What the counter was when the business said no, or did not try it; 0 after a submit.
  package var failure: Int64 = 0
  /// The top of the composite graph that the object is in; itself where it is in none.
  package var root: LocalObject
  /// What it passes on its way to the top of that graph; nil leaves what was noted.
  package var owners: [LocalObject]?

  package init(
    sequence: Int64, id: OperationID, entity: String, object: Int64, kind: OperationKind,
    key: ObjectKey, isTemporary: Bool, changed: [Int: AttributeValue],
    base: [Int: AttributeValue], chain: OperationID, state: State, wanted: Wanted = .no,
    isSent: Bool = false, counter: Int64 = 0, failure: Int64 = 0, root: LocalObject,
    owners: [LocalObject]? = nil
  ) {
    self.sequence = sequence
    self.id = id
    self.entity = entity
    self.object = object
    self.kind = kind
    self.key = key
    self.isTemporary = isTemporary
    self.changed = changed
    self.base = base
    self.chain = chain
    self.state = state
    self.wanted = wanted
    self.isSent = isSent
    self.counter = counter
    self.failure = failure
    self.root = root
    self.owners = owners
  }

  /// The app has not submitted it: edits merge into it.
  package var isOpen: Bool { !isInFlight && wanted == .no }
  /// Sealed: the server has it or will have it as it is, and its answer is not here.
  package var isInFlight: Bool { state != .waiting && state != .replayFailed }
  /// The object in a message; nobody knows a temporary key.
  package var title: String { isTemporary ? "the new \(entity)" : "\(entity) \(key)" }
  /// It was submitted and not tried, because another one of its chain was refused.
  package var isNotTried: Bool { state == .waiting && wanted == .no && failure > 0 }
  /// A waiting create of this device that its app has not submitted.
  package var isOpenCreate: Bool { isOpen && kind == .create }
}

extension AnsweredOperation {
  init(_ operation: PendingOperation, _ outcome: Outcome) {
    let object = LocalObject(operation.entity, operation.object)
    self.init(
      id: operation.id, outcome: outcome, place: Place(object: object, root: operation.root))
  }
}

/// Reads and writes the table of pending operations.
package struct OperationTable {
  private let model: Package
  let connection: Connection
  private static let columns =
    "sequence, id, entity, object, kind, key, temporary, changed, base, chain, state, wanted, sent, "
    + "counter, failure, root_entity, root_object"

  /// Asked for at each change.
  private static let selectOfObject =
    "SELECT \(columns) FROM ferry_operation WHERE entity = ? AND object = ? ORDER BY sequence"

  /// The test for operations that are not sealed.
  package static let isUnsealed = "state IN ('waiting', 'replayFailed')"
  /// The test for operations that the app has submitted and that are not answered.
  package static let isSubmitted = "(state IN ('submitted', 'unknown') OR wanted > 0)"

  package init(_ store: Store, _ connection: Connection) {
    model = store.model
    self.connection = connection
  }

  /// The operations of one object, in the order of the changes.
  package func of(_ entity: Entity, _ object: Int64) throws(SQLiteError) -> [PendingOperation] {
    try connection.rows(
      OperationTable.selectOfObject, .text(entity.name), .integer(object)
    ).map { row throws(SQLiteError) in try operation(row) }
  }

  /// The pending objects of a composite graph, its top excepted.
  package func parts(of root: LocalObject) throws(SQLiteError) -> [LocalObject] {
    try connection.rows(
      """
      SELECT entity, object FROM ferry_operation
      WHERE root_entity = ?1 AND root_object = ?2 AND state <> 'withdrawn'
        AND NOT (entity = ?1 AND object = ?2) GROUP BY entity, object ORDER BY min(sequence)
      """, .text(root.entity), .integer(root.object)
    ).compactMap { row in
      row[0].text.flatMap { name in row[1].integer.map { LocalObject(name, $0) } }
    }
  }

  package func with(_ id: OperationID) throws(SQLiteError) -> PendingOperation? {
    try select("WHERE id = ?", [.text(id.text)]).first
  }

  package func select(
    _ rest: String, _ parameters: [SQLiteValue]
  ) throws(SQLiteError) -> [PendingOperation] {
    let rows = try connection.rows(
      "SELECT \(OperationTable.columns) FROM ferry_operation \(rest)", parameters)
    return try rows.map { row throws(SQLiteError) in try operation(row) }
  }

  /// Returns the operation's place among all. `payload` has the bytes of one that is sealed at once.
  @discardableResult
  package func insert(
    _ operation: PendingOperation, made: Int64, payload: [UInt8]? = nil
  ) throws(SQLiteError) -> Int64 {
    let entity = try entity(of: operation)
    try connection.run(
      """
      INSERT INTO ferry_operation (id, entity, object, kind, key, temporary, changed, base, chain,
        state, wanted, counter, failure, root_entity, root_object, made, payload)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [.text(operation.id.text), .text(operation.entity), .integer(operation.object)]
        + parameters(operation, entity)
        + [.integer(made), payload.map(SQLiteValue.blob) ?? .null])
    let sequence = connection.lastInsertRowID
    try noteOwners(of: operation, sequence)
    return sequence
  }

  private func noteOwners(of operation: PendingOperation, _ sequence: Int64) throws(SQLiteError) {
    guard let owners = operation.owners, !owners.isEmpty else { return }
    try connection.run("DELETE FROM ferry_owner WHERE sequence = ?", .integer(sequence))
    for owner in owners {
      try connection.run(
        "INSERT INTO ferry_owner (sequence, entity, object) VALUES (?, ?, ?)",
        .integer(sequence), .text(owner.entity), .integer(owner.object))
    }
  }

  /// Writes everything but the payload, which a change of the content empties.
  package func update(_ operation: PendingOperation) throws(SQLiteError) {
    let entity = try entity(of: operation)
    try connection.run(
      """
      UPDATE ferry_operation SET id = ?, kind = ?, key = ?, temporary = ?, changed = ?, base = ?,
        chain = ?, state = ?, wanted = ?, counter = ?, failure = ?, root_entity = ?, root_object = ?,
        payload = CASE WHEN ? THEN NULL ELSE payload END,
        acknowledged = CASE WHEN ? THEN 0 ELSE acknowledged END,
        sent = CASE WHEN ? THEN 0 ELSE sent END
      WHERE sequence = ?
      """,
      [.text(operation.id.text)] + parameters(operation, entity)
        + [SQLiteValue](repeating: .flag(!operation.isInFlight), count: 3) + [
          .integer(operation.sequence)
        ])
    try noteOwners(of: operation, operation.sequence)
  }

  /// Whether anything is pending of an object, of its composite graph, or of another one that had
  /// its key.
  func areThere(of object: LocalObject, key: ObjectKey) throws(SQLiteError) -> Bool {
    try connection.value(
      """
      SELECT EXISTS (SELECT 1 FROM ferry_operation WHERE entity = ?1 AND object = ?2)
        OR EXISTS (SELECT 1 FROM ferry_operation WHERE root_entity = ?1 AND root_object = ?2)
        OR EXISTS (SELECT 1 FROM ferry_operation WHERE entity = ?1 AND key = ?3)
      """, .text(object.entity), .integer(object.object), .text(key.text)) != .integer(0)
  }

  /// Whether anything is pending of what has or had this key.
  func areThere(of entity: Entity, key: ObjectKey) throws(SQLiteError) -> Bool {
    try connection.value(
      "SELECT EXISTS (SELECT 1 FROM ferry_operation WHERE entity = ? AND key = ?)",
      .text(entity.name), .text(key.text)) != .integer(0)
  }

  /// Waits in one chain from now on.
  package func unite(_ chain: OperationID, into other: OperationID) throws(SQLiteError) {
    guard chain != other else { return }
    try connection.run(
      """
      UPDATE ferry_operation SET chain = ? WHERE chain = ? AND \(OperationTable.isUnsealed)
      """, .text(other.text), .text(chain.text))
  }

  /// Its place is behind all others from now on.
  func moveToEnd(_ operation: PendingOperation) throws(SQLiteError) {
    let own = SQLiteValue.integer(operation.sequence)
    try connection.run(
      "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'ferry_operation'")
    let last = "(SELECT seq FROM sqlite_sequence WHERE name = 'ferry_operation')"
    for table in ["ferry_operation", "ferry_owner", "ferry_reference"] {
      try connection.run("UPDATE \(table) SET sequence = \(last) WHERE sequence = ?", own)
    }
  }

  package func delete(_ operation: PendingOperation) throws(SQLiteError) {
    try connection.run(
      "DELETE FROM ferry_operation WHERE sequence = ?", .integer(operation.sequence))
  }

  private func parameters(_ operation: PendingOperation, _ entity: Entity) -> [SQLiteValue] {
    [
      .text(operation.kind.rawValue), .text(operation.key.text), .flag(operation.isTemporary),
      .text(OperationTable.text(operation.changed, entity)),
      .text(OperationTable.text(operation.base, entity)), .text(operation.chain.text),
      .text(operation.state.rawValue), .integer(operation.wanted.rawValue),
      .integer(operation.counter),
      .integer(operation.failure), .text(operation.root.entity), .integer(operation.root.object),
    ]
  }

  private func entity(of operation: PendingOperation) throws(SQLiteError) -> Entity {
    guard let entity = model.entity(named: operation.entity) else {
      throw damaged(operation.id.text)
    }
    return entity
  }

  private func operation(_ row: [SQLiteValue]) throws(SQLiteError) -> PendingOperation {
    guard let sequence = row[0].integer, let idText = row[1].text, let id = OperationID(idText),
      let name = row[2].text, let entity = model.entity(named: name), let object = row[3].integer,
      let kind = OperationKind(rawValue: row[4].text ?? ""), let key = row[5].text,
      let changed = OperationTable.values(row[7].text, entity),
      let base = OperationTable.values(row[8].text, entity), let chainText = row[9].text,
      let chain = OperationID(chainText),
      let state = PendingOperation.State(rawValue: row[10].text ?? ""),
      let wanted = row[11].integer.flatMap(PendingOperation.Wanted.init)
    else { throw damaged(row[1].text ?? "?") }
    return PendingOperation(
      sequence: sequence, id: id, entity: name, object: object, kind: kind,
      key: ObjectKey(text: key),
      isTemporary: row[6].integer == 1, changed: changed, base: base, chain: chain, state: state,
      wanted: wanted, isSent: row[12].integer == 1,
      counter: row[13].integer ?? 0, failure: row[14].integer ?? 0,
      root: LocalObject(row[15].text ?? name, row[16].integer ?? object))
  }

  private func damaged(_ id: String) -> SQLiteError {
    SQLiteError(
      code: 11, message: "the pending operation \(id) cannot be read", subject: "ferry_operation")
  }

  private static func text(_ values: [Int: AttributeValue], _ entity: Entity) -> String {
    var writer = JSONWriter()
    writer.values(values, of: entity)
    return writer.text
  }

  private static func values(_ text: String?, _ entity: Entity) -> [Int: AttributeValue]? {
    guard let text else { return nil }
    return Array(text.utf8).withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      return try? scanner.values(of: entity)
    }
  }
}
