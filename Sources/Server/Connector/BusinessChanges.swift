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

/// What somebody may have changed. A hint leads to reading, so neither order nor number matters.
public enum ChangeHint: Sendable, Equatable {
  /// These objects may be new, different or gone.
  case objects(entity: String, keys: [ObjectKey])
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
