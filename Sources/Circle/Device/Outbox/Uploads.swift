import FerryModel
import FerrySQLite
import FerryWire

/// A content that an operation sends after itself.
package struct Upload: Sendable, Equatable {
  package let operation: OperationID
  package let attribute: String
  package let reference: BigReference
  /// Of the content on this device.
  package let content: Int64
  /// Whose value it is.
  package let entity: String
  package let object: Int64
  package let key: ObjectKey
  /// The app took the change back; what is on its way goes on all the same.
  package let isWithdrawn: Bool

  /// How far it is; nil where the app wants to hear nothing of it.
  package func progress(_ doneBytes: Int64) -> BigValueProgress? {
    guard !isWithdrawn else { return nil }
    return BigValueProgress(
      direction: .upload, entity: entity, key: key, surrogateKey: object, attribute: attribute,
      doneBytes: doneBytes, sizeBytes: reference.sizeBytes)
  }
}

/// The contents that operations send after themselves.
package struct Uploads {
  let transaction: Transaction

  package init(_ transaction: Transaction) { self.transaction = transaction }

  private var hasBigAttributes: Bool { !transaction.store.bigAttributes.isEmpty }

  /// Refuses an operation whose contents are not on the device: a row that was copied from another
  /// one names what only the other has.
  func check(_ operation: PendingOperation, _ entity: Entity) throws(FerryError) {
    for (attribute, reference) in references(operation, entity) {
      let entry = try transaction.sql { connection throws(SQLiteError) in
        try Contents.entry(reference, connection)
      }
      guard entry?.isWhole == true else {
        throw FerryError(
          .notDownloaded, "the content of \(entity.name).\(attribute) is not on the device",
          hint: "Write it into the object, then submit again.", entity: entity.name,
          attribute: attribute)
      }
    }
  }

  /// Notes what a sealed operation sends after itself, in place of what it would have sent before.
  func note(_ operation: PendingOperation, _ entity: Entity) throws(FerryError) {
    guard hasBigAttributes else { return }
    try transaction.run(
      "DELETE FROM ferry_upload WHERE operation = ?", .text(operation.id.text))
    for (attribute, reference) in references(operation, entity) {
      try transaction.run(
        "INSERT INTO ferry_upload (operation, attribute, reference) VALUES (?, ?, ?)",
        .text(operation.id.text), .text(attribute), .text(reference.description))
    }
  }

  private func references(
    _ operation: PendingOperation, _ entity: Entity
  ) -> [(attribute: String, reference: BigReference)] {
    entity.bigPositions.compactMap { position in
      operation.changed[position]?.bigReference.map { (entity.attributes[position].name, $0) }
    }
  }

  /// The next content to send: of the oldest operation that the server has stored and not answered.
  package func next() throws(FerryError) -> Upload? {
    guard hasBigAttributes else { return nil }
    let row = try transaction.row(
      """
      SELECT upload.operation, upload.attribute, upload.reference, content.number,
        owner.entity, owner.object, owner.key, owner.state = 'withdrawn'
      FROM ferry_upload AS upload JOIN ferry_operation AS owner ON owner.id = upload.operation
      JOIN ferry_content AS content ON content.reference = upload.reference
      WHERE upload.done = 0 AND owner.acknowledged = 1 AND owner.state IN ('submitted', 'withdrawn')
      ORDER BY owner.sequence, upload.attribute LIMIT 1
      """)
    guard let row, let operation = row[0].text.flatMap({ OperationID($0) }),
      let attribute = row[1].text, let reference = row[2].text.flatMap({ BigReference($0) }),
      let content = row[3].integer, let entity = row[4].text, let object = row[5].integer,
      let key = row[6].text
    else { return nil }
    return Upload(
      operation: operation, attribute: attribute, reference: reference, content: content,
      entity: entity, object: object, key: ObjectKey(text: key), isWithdrawn: row[7].integer == 1)
  }

  /// Whether a content is to follow an operation, sent or not.
  func areOwed() throws(FerryError) -> Bool {
    guard hasBigAttributes else { return false }
    return try transaction.value("SELECT 1 FROM ferry_upload WHERE done = 0 LIMIT 1") != nil
  }

  /// The server has all of it, or wants none of it.
  package func end(_ upload: Upload) throws(FerryError) {
    try transaction.run(
      "UPDATE ferry_upload SET done = 1 WHERE operation = ? AND attribute = ?",
      .text(upload.operation.text), .text(upload.attribute))
  }

  /// The server has lost the operation, and with it what it brought.
  func begin(again id: OperationID) throws(FerryError) {
    try transaction.run("UPDATE ferry_upload SET done = 0 WHERE operation = ?", .text(id.text))
  }

  /// The server has started again, or is a restored one: what it had may be gone, though it knows
  /// the operations. It is asked how far it is.
  package func ask(in era: String) throws(FerryError) {
    guard hasBigAttributes, try transaction.setting(.uploadEra) != era else { return }
    try transaction.run("UPDATE ferry_upload SET done = 0 WHERE done <> 0")
    try transaction.set(.uploadEra, era)
  }
}
