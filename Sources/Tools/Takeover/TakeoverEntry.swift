import FerryModel

/// One entry of the outbox of another product.
struct TakeoverEntry: Sendable {
  /// Its place in the outbox, as text.
  let order: String
  let verb: TakeoverMapping.Verb
  let kind: TakeoverMapping.Kind
  /// The row's own key.
  let key: String
  /// Of the columns that the entry has; nil: those of the row.
  let values: [String: AttributeValue]?
}

/// Entries that are one transaction.
struct TakeoverGroup: Sendable {
  let entries: [TakeoverEntry]
  /// What tells it apart from all others, also in another copy of the file.
  let digest: String
  /// Whether an entry of it cannot be read: none of it is taken over then.
  let isBroken: Bool
}
