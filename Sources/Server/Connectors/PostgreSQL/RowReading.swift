import FerryConnector
import FerryModel
import FerryPostgreSQL

/// The rows that the groups of one transaction changed, as each group left them, to be read before
/// the commit.
///
/// Where a policy would hide some of them the reading fails: they would look deleted.
final class TransactionRows {
  private struct Group {
    var rows: SQLTouchedRows<EntityTable>
    var images: [RowImage] = []
  }

  private let capture: Capture
  private let tables: EntityTables
  private let connection: PostgreSQLConnection
  private var groups: [Group] = []

  init(_ capture: Capture, _ tables: EntityTables, _ connection: PostgreSQLConnection) {
    self.capture = capture
    self.tables = tables
    self.connection = connection
  }

  /// Of each group in order, once `finish` has returned.
  var images: [[RowImage]] { groups.map(\.images) }

  /// A group was performed, and now its rows are read, with those that triggers have noted.
  func read(_ rows: SQLTouchedRows<EntityTable>) throws(PostgreSQLError) {
    var group = Group(rows: rows)
    try read(&group, question: capture.request)
    groups.append(group)
  }

  /// The same of groups where no trigger changes other rows: their own, as many as one trip reads, are
  /// asked for with what comes next.
  func readLater(_ all: [SQLTouchedRows<EntityTable>]) {
    let first = groups.count
    groups += all.map { Group(rows: $0) }
    let part = all.flatMap(\.rows)[...]
    let question = capture.request
    connection.hold(TransactionRows.reading(part, question)) { answers in
      var answers = answers[...]
      if question != nil, let entries = answers.popFirst() {
        var noted = SQLTouchedRows<EntityTable>()
        for row in part { noted.note(row.table.entity, row.table, row.key) }
        self.capture.take(entries, &noted, self.tables)
        // Which of the groups changed another row nobody noted: the last one tells of it.
        for row in noted.rows.dropFirst(part.count) {
          self.groups[first + all.count - 1].rows.note(row.table.entity, row.table, row.key)
        }
      }
      var images = RowReading.images(part, answers.dropFirst().dropLast())[...]
      for (place, rows) in all.enumerated() {
        self.groups[first + place].images = Array(images.prefix(rows.rows.count))
        images = images.dropFirst(rows.rows.count)
      }
    }
  }

  /// Reads what is not read yet: after it no more groups come.
  func finish() throws(PostgreSQLError) {
    try connection.sendHeld()
    for place in groups.indices where groups[place].images.count < groups[place].rows.rows.count {
      try read(&groups[place], question: nil)
    }
  }

  /// Mostly nothing was noted but the group's own rows: they are read in the same trip.
  private func read(
    _ group: inout Group, question: PostgreSQLConnection.Request?
  ) throws(PostgreSQLError) {
    var question = question
    while question != nil || group.images.count < group.rows.rows.count {
      let part = group.rows.rows.dropFirst(group.images.count).prefix(RowReading.rowsInPipeline)
      let answers = try connection.pipeline(TransactionRows.reading(part, question))
      take(answers[...], of: part, isAsked: question != nil, &group)
      question = nil
    }
  }

  private static func reading(
    _ part: RowReading.Rows, _ question: PostgreSQLConnection.Request?
  ) -> [PostgreSQLConnection.Request] {
    (question.map { [$0] } ?? []) + [PostgreSQLConnection.Request("SET LOCAL row_security = off")]
      + RowReading.requests(part) + [PostgreSQLConnection.Request("SET LOCAL row_security = on")]
  }

  /// `isAsked`: whether the first answer tells what triggers have noted.
  private func take(
    _ answers: ArraySlice<PostgreSQLRows>, of part: RowReading.Rows, isAsked: Bool,
    _ group: inout Group
  ) {
    var answers = answers
    if isAsked, let entries = answers.popFirst() { capture.take(entries, &group.rows, tables) }
    group.images += RowReading.images(part, answers.dropFirst().dropLast())
  }
}

/// Reads rows by their keys, many in one round trip.
enum RowReading {
  static let rowsInPipeline: Int = 100

  static func images(
    _ rows: [(table: EntityTable, key: ObjectKey)], _ connection: PostgreSQLConnection
  ) throws(PostgreSQLError) -> [RowImage] {
    var images: [RowImage] = []
    images.reserveCapacity(rows.count)
    var rest = rows[...]
    while !rest.isEmpty {
      let part = rest.prefix(rowsInPipeline)
      rest = rest.dropFirst(part.count)
      images += RowReading.images(part, try connection.pipeline(requests(part))[...])
    }
    return images
  }

  typealias Rows = ArraySlice<(table: EntityTable, key: ObjectKey)>

  static func requests(_ rows: Rows) -> [PostgreSQLConnection.Request] {
    rows.compactMap { row in
      row.table.parameters(of: row.key).map {
        PostgreSQLConnection.Request(row.table.select + row.table.whereKey, $0)
      }
    }
  }

  /// `answers`: what the requests of these rows were answered.
  static func images(_ rows: Rows, _ answers: ArraySlice<PostgreSQLRows>) -> [RowImage] {
    var answers = answers
    return rows.map { row in
      let isAsked = row.table.parameters(of: row.key) != nil
      return row.table.image(row.key, isAsked ? answers.popFirst() : nil)
    }
  }
}
