import FerryModel

/// What others may have changed in the business system since a cursor.
public struct BusinessChanges: Sendable, Equatable {
  /// Where the next question begins, opaque to all but the connector. It may be kept and asked with
  /// after a restart; nil where the business system has no such thing.
  public let cursor: String?
  public let hints: [ChangeHint]
  /// Why changes of others arrive later or at a higher price than they could, and what the operator
  /// can do; nil where all is well.
  public let shortfall: String?

  public init(cursor: String?, hints: [ChangeHint], shortfall: String? = nil) {
    self.cursor = cursor
    self.hints = hints
    self.shortfall = shortfall
  }
}

extension BusinessChanges {
  /// The rows that came with the answer, in its order.
  public var rows: [RowImage] {
    hints.flatMap { hint -> [RowImage] in if case .rows(let rows) = hint { rows } else { [] } }
  }
}

/// What somebody may have changed. All but `rows` lead to reading, so neither order nor number
/// matters; of two rows of one object the later one counts.
public enum ChangeHint: Sendable, Equatable {
  /// These objects may be new, different or gone.
  case objects(entity: String, keys: [ObjectKey])
  /// These are the objects as they were when the business system answered; nil values for those that
  /// were deleted. What the server has learned of one of them since it began to ask is newer. Only a
  /// connector that `looksApart` gives them; of others they are read again.
  case rows([RowImage])
  /// Any object of this entity may be.
  case entity(String)
  /// It cannot be told: everything is to be compared.
  case anything
}

extension Connector {
  /// A business system that can only say whether it was changed.
  public func changes(since cursor: String?) throws(ConnectorError) -> BusinessChanges {
    BusinessChanges(cursor: nil, hints: try changedByOthers() ? [.anything] : [])
  }

  /// Often enough that nobody waits for long, and so seldom that it costs nothing.
  public var lookInterval: Duration { .milliseconds(250) }
}
