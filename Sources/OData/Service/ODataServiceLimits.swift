/// The bounds of one request, each with its reason.
package struct ODataServiceLimits: Sendable {
  /// Rows that are read from the source at once: what a feed takes of memory.
  package var pageRows: Int = 500
  /// Rows that are looked at for a condition in one answer. Behind them a feed ends with the address
  /// of its next page, and what needs all rows is refused.
  package var scanRows: Int = 100_000
  /// Rows that are held to be sorted.
  package var sortedRows: Int = 20_000
  /// Criteria of one `$orderby`: the values of each are held for each row.
  package var orderItems: Int = 16
  /// Entities that one answer has inside of others, and rows that are looked at for them.
  package var expandedRows: Int = 50_000
  /// Changes that are looked at for one answer to a delta token; what has more is read anew.
  package var changedRows: Int = 50_000
  /// `$expand` inside `$expand`, and `$levels`.
  package var expandLevels: Int = 6
  /// Bytes of a body that are read.
  package var bodyBytes: Int = 1 << 20
  /// Requests in one batch, and the bytes of their answers, which are held until all are there.
  package var batchParts: Int = 1_000
  package var batchBytes: Int = 8 << 20
  /// How long rows are looked at for one answer.
  package var patience: Duration = .seconds(30)
  /// The same for all reads of a batch together.
  package var batchPatience: Duration = .seconds(60)
  /// How long conditions are computed before others have their turn.
  package var turn: Duration = .milliseconds(10)

  package init() {}
}
