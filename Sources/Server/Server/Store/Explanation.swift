/// Why an object is on a device, or is not (`ferry why --data`).
package struct Explanation: Sendable, Equatable {
  /// An operation on the object, as far as it is remembered.
  package struct OperationLine: Sendable, Equatable {
    package let id: String
    package let kind: String
    package let user: String
    package let device: String
    package let state: String
    package let outcome: String?
    package let version: Int64?
    /// Code and message of the first log record.
    package let reason: String?
    /// Where the outcome is unknown: rows that may be its effect, as a list in JSON.
    package let found: String?

    package init(
      id: String, kind: String, user: String, device: String, state: String, outcome: String?,
      version: Int64?, reason: String?, found: String? = nil
    ) {
      self.found = found
      self.id = id
      self.kind = kind
      self.user = user
      self.device = device
      self.state = state
      self.outcome = outcome
      self.version = version
      self.reason = reason
    }
  }

  package let package: String
  package let entity: String
  package let key: String
  /// Whether the package was withdrawn from the server: no device gets anything of it.
  package let isWithdrawn: Bool
  /// One sentence for the operator.
  package let verdict: String
  /// The last numbered transaction that changed the row.
  package let version: Int64?
  package let isDeleted: Bool
  package let group: String?
  /// `claim:employee`; empty for everyone's.
  package let rule: String?
  /// The values of the rule in canonical text.
  package let place: String?
  package let body: String?
  package let rejectedReason: String?
  /// The last ones, newest first.
  package let operations: [OperationLine]
  /// What somebody may have meant where it is not there: keys, or names of entities.
  package var similar: [String] = []

  package init(
    package: String, entity: String, key: String, verdict: String, version: Int64?, isDeleted: Bool,
    group: String?, rule: String?, place: String?, body: String?, rejectedReason: String?,
    operations: [OperationLine], isWithdrawn: Bool = false
  ) {
    self.isWithdrawn = isWithdrawn
    self.package = package
    self.entity = entity
    self.key = key
    self.verdict = verdict
    self.version = version
    self.isDeleted = isDeleted
    self.group = group
    self.rule = rule
    self.place = place
    self.body = body
    self.rejectedReason = rejectedReason
    self.operations = operations
  }
}
