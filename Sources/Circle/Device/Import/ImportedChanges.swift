import FerryModel

/// What an import did: handed to the observers once the database shows it.
package struct ImportedChanges {
  package let group: String
  package let version: Int64
  package var entities: [EntityChanges]
  /// Answers that the device keeps now; the server may empty them.
  package let confirmed: [OperationID]
  /// How operations of this device ended.
  package let answered: [AnsweredOperation]
  /// Partitions came anew from their start.
  package let isReset: Bool
}
