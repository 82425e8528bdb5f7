import FerryModel
import FerryWire

/// The device of a user who asks without one, as the log and `ferry why` call it.
enum CallerDevice {
  static let prefix: String = "odata:"

  static func name(of user: String) -> String { prefix + user }

  /// Its operations are performed after a restart too: nobody comes back and names them.
  static func isOne(_ device: String) -> Bool { device.hasPrefix(prefix) }
}

/// A row as a user sees it who asks without a device.
package struct CallerRow: Sendable {
  /// The position of its entity in the package.
  package let entity: Int
  package let key: ObjectKey
  /// In the order of the entity's attributes.
  package let values: [AttributeValue]
  /// The number of the transaction that wrote it last.
  package let version: Int64
  package let partition: Int64

  package var position: CallerPosition { CallerPosition(partition: partition, key: key) }

  init(
    entity: Int, key: ObjectKey, values: [AttributeValue], version: Int64, partition: Int64
  ) {
    self.entity = entity
    self.key = key
    self.values = values
    self.version = version
    self.partition = partition
  }
}

/// The place of a row among all rows of its entity that a user may have.
package struct CallerPosition: Sendable, Hashable {
  package let partition: Int64
  package let key: ObjectKey

  package init(partition: Int64, key: ObjectKey) {
    self.partition = partition
    self.key = key
  }
}

/// Some rows, in the order of their positions.
package struct CallerPage: Sendable {
  package var rows: [CallerRow] = []
  /// Whether none is behind them.
  package var isLast: Bool = false
}

/// A moment from which changes are asked for later, and the partitions that a user had then.
package struct CallerMark: Sendable, Hashable {
  package let era: String
  /// The number of the last transaction that was seen.
  package let version: Int64
  package let partitions: [Int64]

  /// The most partitions that can be followed: each is named in the text that a program keeps.
  package static let partitionLimit: Int = 100

  package init(era: String, version: Int64, partitions: [Int64]) {
    self.era = era
    self.version = version
    self.partitions = partitions
  }
}

/// What a user's rows went through since a mark.
package enum CallerChanges: Sendable {
  /// Rows that were written, moved or deleted, each once. Whether one is there now says a read.
  case changed([ObjectKey], now: CallerMark)
  /// Nobody can say it: all has to be read again.
  case lost(CallerLoss)
}

/// Why changes cannot be given.
package enum CallerLoss: Sendable {
  /// The server went back in time, or keeps deletions of that time no longer.
  case history
  /// The user does not have a partition any more.
  case partition
  case tooMany
}

/// What became of the operations of one chain that a caller sent.
package enum CallerReceipt: Sendable {
  /// It is stored, or was before: its answer comes.
  case taken
  /// It will never be performed.
  case refused(Answer)
  /// Another operation has its id.
  case otherOperation
  /// There is no room for it now.
  case notTaken(String)
}

/// An operation whose id is used once more.
package enum EarlierOperation: Sendable {
  /// As it was sent.
  case whole(Operation)
  /// What was sent is kept no longer.
  case ended(entity: String, OperationKind)
  /// It is that of another user.
  case ofAnother
}
