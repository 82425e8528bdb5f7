import FerryModel
import FerryWire

/// Some operations, the newest first.
package struct DeskPage: Sendable {
  package let operations: [DeskOperation]
  package let isLast: Bool
  package let corrections: [OperationID: [StoredCorrection]]
}

/// All that is known of one operation.
package struct DeskEntry: Sendable {
  package let operation: DeskOperation
  package let entity: Entity?
  /// As it was sent; nil where that is kept no more.
  package let sent: FerryWire.Operation?
  /// The object's values in the business system, as far as the server knows; nil: it is not there.
  package var theirs: [AttributeValue]?
  package var corrections: [StoredCorrection] = []
  /// The others of its chain.
  package var chain: [DeskOperation] = []
  /// Other operations of the same object, of any device.
  package var sameObject: [DeskOperation] = []

  init(operation: DeskOperation, package: Package) {
    self.operation = operation
    entity = package.entity(named: operation.entity)
    sent = operation.payload.flatMap { try? FerryWire.Operation($0, in: package) }
  }
}

/// What an operator wants done with a refused operation.
package struct CorrectionOrder: Sendable {
  package let operation: OperationID
  package let verb: Correction.Verb
  /// By position in the entity's attributes.
  package var changed: [Int: AttributeValue] = [:]
  /// What the operator saw; what differs by now is refused.
  package var seen: [Int: AttributeValue] = [:]
  /// For the user of the device.
  package var message: String = ""
  package var reason: String = ""
  package var by: String = ""

  package init(operation: OperationID, verb: Correction.Verb) {
    self.operation = operation
    self.verb = verb
  }
}
