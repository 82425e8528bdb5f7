import FerryModel
import FerrySQLite

extension Store {
  /// The operations of an object, and of what it owns, that were submitted and are not answered.
  package func submitted(_ entity: Entity, _ object: Int64) throws(FerryError) -> Set<OperationID> {
    try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        Set(try self.submitted(entity, object, connection).map(\.id))
      }
    }
  }

  func submitted(
    _ entity: Entity, _ object: Int64, _ connection: Connection
  ) throws(SQLiteError) -> [(id: OperationID, sequence: Int64)] {
    try connection.rows(
      """
      SELECT id, sequence FROM ferry_operation
      WHERE ((entity = ?1 AND object = ?2) OR (root_entity = ?1 AND root_object = ?2))
      AND (state = 'submitted' OR wanted > 0)
      """, .text(entity.name), .integer(object)
    ).compactMap { row in
      row[0].text.flatMap { OperationID($0) }.flatMap { id in row[1].integer.map { (id, $0) } }
    }
  }

  /// Which of these operations were submitted and are not answered, and how the others ended, as far
  /// as it is known here.
  func ends(of operations: Set<OperationID>) throws(FerryError) -> OperationEnds {
    let ends = try endsSeen(of: operations)
    guard !ends.isComplete(operations) else { return ends }
    // A transaction that has just ended puts its answers up before it lets the next one begin.
    return try writer.withConnection(closed: Store.closed(path)) { _ throws(FerryError) in
      try self.endsSeen(of: operations)
    }
  }

  private func endsSeen(of operations: Set<OperationID>) throws(FerryError) -> OperationEnds {
    try read { connection throws(FerryError) in
      try self.sql { () throws(SQLiteError) in
        var ends = OperationEnds()
        for id in operations {
          let row = try connection.row(
            "SELECT state, wanted FROM ferry_operation WHERE id = ?",
            .text(self.answers.whole(of: id).text))
          if row?[0].text == "submitted" || row?[1].integer ?? 0 > 0 {
            ends.open.insert(id)
          } else if let outcome = self.answers.outcome(of: id) {
            ends.outcomes[id] = outcome
          } else if row?[0].text == "unknown" {
            ends.outcomes[id] = .unknown
          }
        }
        return ends
      }
    }
  }
}

/// What is known of operations that were submitted.
struct OperationEnds {
  /// Not answered.
  var open: Set<OperationID> = []
  var outcomes: [OperationID: AnsweredOperation.Outcome] = [:]

  func isComplete(_ operations: Set<OperationID>) -> Bool {
    operations.allSatisfy { open.contains($0) || outcomes[$0] != nil }
  }
}
