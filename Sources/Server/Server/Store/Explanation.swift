/// Why an object is on a device, or is not (`ferry why --data`).
public struct Explanation: Sendable, Equatable {
  /// An operation on the object, as far as it is remembered.
  public struct OperationLine: Sendable, Equatable {
    public let id: String
    public let kind: String
    public let user: String
    public let device: String
    public let state: String
    public let outcome: String?
    public let version: Int64?
    /// Code and message of the first log record.
    public let reason: String?
    /// Where the outcome is unknown: rows that may be its effect, as a list in JSON.
    public let found: String?

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

  public let package: String
  public let entity: String
  public let key: String
  /// Whether the package was withdrawn from the server: no device gets anything of it.
  public let isWithdrawn: Bool
  /// One sentence for the operator.
  public let verdict: String
  /// The last numbered transaction that changed the row.
  public let version: Int64?
  public let isDeleted: Bool
  public let group: String?
  /// `claim:employee`; empty for everyone's.
  public let rule: String?
  /// The values of the rule in canonical text.
  public let place: String?
  public let body: String?
  public let rejectedReason: String?
  /// The last ones, newest first.
  public let operations: [OperationLine]
  /// What somebody may have meant where it is not there: keys, or names of entities.
  public package(set) var similar: [String] = []

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
