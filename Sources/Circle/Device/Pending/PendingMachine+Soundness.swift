import FerryModel

/// What a change never is. The simulation and debug builds look at each change that the machine makes.
extension PendingMachine {
  /// The change itself. A debug build ends here if it is what no change may be.
  static func sound(_ operation: PendingOperation) -> PendingOperation {
    assert(
      fault(of: operation) == nil,
      "\(operation.entity) \(operation.key): \(fault(of: operation) ?? "")")
    return operation
  }

  /// Why there must be no such change; nil where it is as it should be.
  package static func fault(of operation: PendingOperation) -> String? {
    switch operation.kind {
    case .create: operation.base.isEmpty ? nil : "a create is based on old values"
    case .delete: operation.changed.isEmpty ? nil : "a delete sets values"
    case .update:
      if operation.changed.isEmpty {
        "an update sets no value"
      } else {
        Set(operation.changed.keys) == Set(operation.base.keys)
          ? nil : "an update has other attributes in its old values than in its new ones"
      }
    }
  }
}
