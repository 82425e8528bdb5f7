import FerrySQLite

/// The pending change of an object (the reference's pendingChange).
public enum PendingChange: String, Sendable, Hashable {
  case none = "N"
  case create = "C"
  case update = "U"
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
