import FerryModel
import FerrySQLite

/// What was submitted and is not answered, and how what was submitted has ended.
struct SubmittedOperations {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Those of an object, and of what it owns, that are not answered.
  func of(
    _ object: LocalObject
  ) throws(FerryError) -> [(id: OperationID, sequence: Int64)] {
    try transaction.rows(
      """
      SELECT id, sequence FROM ferry_operation
      WHERE ((entity = ?1 AND object = ?2) OR (root_entity = ?1 AND root_object = ?2))
      AND (state = 'submitted' OR wanted > 0)
      """, .text(object.entity), .integer(object.object)
    ).compactMap { row in
      row[0].text.flatMap { OperationID($0) }.flatMap { id in row[1].integer.map { (id, $0) } }
    }
  }

  /// Which of these were submitted and are not answered, and how the others ended.
  func ends(of operations: Set<OperationID>) throws(FerryError) -> OperationEnds {
    var ends = OperationEnds()
    for id in operations {
      let whole = try transaction.sql { connection throws(SQLiteError) in
        try OutcomeTable(connection).whole(of: id)
      }
      let row = try transaction.row(
        "SELECT state, wanted FROM ferry_operation WHERE id = ?", .text(whole.text))
      if row?[0].text == "submitted" || row?[1].integer ?? 0 > 0 {
        ends.open.insert(id)
        continue
      }
      ends.outcomes[id] = try transaction.sql { connection throws(SQLiteError) in
        try OutcomeTable(connection).outcome(of: id)
      }
    }
    return ends
  }

  /// How the last operation of an object, or of what it owns, ended; nil where none did in 30 days.
  func last(of object: LocalObject) throws(FerryError) -> AnsweredOperation.Outcome? {
    try transaction.sql { connection throws(SQLiteError) in
      try OutcomeTable(connection).last(of: object)
    }
  }
}

/// What is known of operations that were submitted.
struct OperationEnds {
  /// Not answered.
  var open: Set<OperationID> = []
  var outcomes: [OperationID: AnsweredOperation.Outcome] = [:]
}
