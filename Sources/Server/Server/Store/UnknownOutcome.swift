import FerryConnector
import FerryJSON
import FerryModel

/// What is known of an operation of which nobody knows whether it was performed; for the operator.
package struct UnknownOutcome: Sendable, Equatable {
  package let operation: OperationID
  package let reason: String
  /// Rows that may be its effect, as a list in JSON: `entity`, `key` and `values` of each.
  package let candidates: String

  package init(operation: OperationID, reason: String, candidates: String) {
    self.operation = operation
    self.reason = reason
    self.candidates = candidates
  }

  /// Of many rows the first ones are enough to look at.
  private static let mostRows: Int = 20

  init(_ operation: OperationID, _ reason: String, _ rows: [RowImage]) {
    var writer = JSONWriter()
    writer.array(rows.prefix(UnknownOutcome.mostRows)) { writer, row in
      writer.beginObject()
      writer.field("entity", row.entity)
      writer.field("key", row.key.text)
      if let values = row.values {
        writer.key("values")
        writer.array(values) { $0.value($1) }
      }
      writer.endObject()
    }
    self.init(operation: operation, reason: reason, candidates: writer.text)
  }
}
