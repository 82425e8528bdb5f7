import FerryModel

/// What becomes of the server's copy of a row after an operation on it was performed.
public enum OperationPolicy: String, Sendable, Hashable, CaseIterable {
  /// It becomes as the business system has it: by its answer, or it is read once more.
  case result
  /// It takes the values of the operation. It is read only where those are not enough.
  case parameters
  /// As `result`. Its whole cache group is read again too.
  case invalidate
  /// It stays as it was until its cache group is read.
  case none

  /// Whether the business system is to give the row.
  public var needsRow: Bool { self == .result || self == .invalidate }
}
