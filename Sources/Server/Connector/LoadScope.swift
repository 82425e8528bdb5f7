import FerryModel

/// What a load is to read.
///
/// An object that the load does not give is deleted only if it lies in the scope, and only if the load
/// was complete (`LoadEnd`).
public struct LoadScope: Sendable, Equatable {
  /// In the order in which they are read: parents before children.
  public let entities: [Entity]
  /// Values by the names of the model's parameters: only the rows that a partition rule gives for
  /// them. Empty: all rows. A connector that cannot select by them reads all rows.
  public let parameters: [String: AttributeValue]

  public init(entities: [Entity], parameters: [String: AttributeValue] = [:]) {
    self.entities = entities
    self.parameters = parameters
  }
}

/// Where a load that was interrupted goes on, opaque to all but the connector. It may be kept and used
/// after a restart.
public struct LoadPlace: Sendable, Equatable {
  public let text: String

  public init(_ text: String) { self.text = text }
}

/// Some rows of one entity, as a load reads them.
public struct LoadPage: Sendable, Equatable {
  public let entity: Entity
  /// Rows that fit the model.
  public let rows: [RowImage]
  /// Where a load goes on that has kept this page and all before it; nil where it must begin anew, as
  /// one that reads a snapshot must.
  public let next: LoadPlace?

  public init(entity: Entity, rows: [RowImage], next: LoadPlace? = nil) {
    self.entity = entity
    self.rows = rows
    self.next = next
  }
}

/// How a load ended.
public struct LoadEnd: Sendable, Equatable {
  /// Whether every row of the scope was given: what is absent may be deleted.
  public let isComplete: Bool
  /// Whether the rows are those of one moment. Where they are not, an object counts as deleted only if
  /// two loads in succession do not have it.
  public let isSnapshot: Bool

  public init(isComplete: Bool, isSnapshot: Bool) {
    self.isComplete = isComplete
    self.isSnapshot = isSnapshot
  }

  /// All rows, as they were at one moment.
  public static let snapshot: LoadEnd = LoadEnd(isComplete: true, isSnapshot: true)
}
