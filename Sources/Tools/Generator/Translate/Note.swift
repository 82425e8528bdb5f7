/// Something that the author of a model should know of how it came from a database.
package struct Note: Sendable, Hashable, CustomStringConvertible {
  /// What happened to the table or column on the way into the model.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// It is in the database and not in the model.
    case leftOut
    /// It is in the model in another form than the database declares.
    case changed
    /// It is in the model, and devices may not do something to it.
    case restricted
    /// It is in the model as it is; something about it matters.
    case told
  }

  package let kind: Kind
  /// A table, or `table.column`.
  package let subject: String
  /// A clause without a full stop.
  package let what: String
  /// A sentence.
  package let cure: String

  package init(_ kind: Kind, _ subject: String, _ what: String, cure: String) {
    self.kind = kind
    self.subject = subject
    self.what = what
    self.cure = cure
  }

  package var description: String { "\(subject): \(what). \(cure)" }
}
