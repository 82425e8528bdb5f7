import FerrySQLite

/// The pending change of an object (the reference's pendingChange).
public enum PendingChange: String, Sendable, Hashable {
  /// Nothing waits: the object is as the business system has it.
  case none = "N"
  /// The object is new, and the business system does not have it yet.
  case create = "C"
  /// Attributes were changed, and the business system has not accepted that.
  case update = "U"
  /// The object is hidden, and the business system has not deleted it yet.
  case delete = "D"
  /// The object has no change of its own, but one of its parts is pending.
  case parent = "P"
}

extension PendingChange {
  /// As the object's row keeps it.
  init(_ column: ColumnView) {
    guard case .text(let letter) = column else {
      self = .none
      return
    }
    switch letter.first {
    case UInt8(ascii: "C"): self = .create
    case UInt8(ascii: "U"): self = .update
    case UInt8(ascii: "D"): self = .delete
    case UInt8(ascii: "P"): self = .parent
    default: self = .none
    }
  }
}
