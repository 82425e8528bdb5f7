import FerryConnector
import FerryModel

/// Operations whose rows need not be as the business system has them.
extension ReplayMachine {
  /// The answers can be written: nothing is left to perform, and the row of each accepted change is
  /// known.
  func whole() -> Action {
    assert(open.isEmpty, "a chain is answered while a part of it is still to be performed")
    assert(needed().allSatisfy { seen[$0] != nil }, "a change is accepted without its row")
    return .settle
  }

  /// The objects whose rows stay as they were: all operations on them that were accepted say so.
  func untouched(_ found: [OperationOutcome], of asked: [Int]) -> Set<ObjectName> {
    var untouched: Set<ObjectName> = []
    var others: Set<ObjectName> = []
    for (index, outcome) in zip(asked, found) {
      guard case .accepted(let key, _) = outcome else { continue }
      let name = ObjectName(entity: operations[index].entity.name, key: key)
      if operations[index].policy == .none {
        untouched.insert(name)
      } else {
        others.insert(name)
      }
    }
    return untouched.subtracting(others)
  }

  /// Whether the values of the operation say what its row is like.
  static func isEnough(_ operation: ConnectorOperation) -> Bool {
    guard operation.policy == .parameters else { return false }
    guard operation.kind == .create else { return true }
    let entity = operation.entity
    return entity.attributes.indices.allSatisfy {
      operation.changed[$0] != nil || entity.key.contains($0)
        || entity.attributes[$0].isNullable
    }
  }

  /// The objects whose rows take the values of operations, with these in their order, and with the keys
  /// that the business system gave.
  var merged: [(name: ObjectName, operations: [ConnectorOperation])] {
    merging.sorted().map { name in
      var found: [ConnectorOperation] = []
      for (operation, outcome) in zip(prepared(Array(operations.indices)), outcomes) {
        guard case .accepted(let key, _)? = outcome, operation.policy == .parameters,
          name == ObjectName(entity: operation.entity.name, key: key)
        else { continue }
        found.append(operation)
      }
      return (name, found)
    }
  }
}

extension [ConnectorOperation] {
  /// The row that they leave behind; nil where there is none, or nobody knows its other values.
  func merged(into row: [AttributeValue]?, _ key: ObjectKey) -> [AttributeValue]?? {
    var values = row
    for operation in self {
      switch operation.kind {
      case .delete: return .some(nil)
      case .create:
        guard let key = key.values(of: operation.entity) else { return nil }
        var made = [AttributeValue](repeating: .null, count: operation.entity.attributes.count)
        for (position, value) in zip(operation.entity.key, key) { made[position] = value }
        values = made
      case .update: break
      }
      guard values != nil else { return nil }
      for (position, value) in operation.changed where !operation.entity.key.contains(position) {
        values?[position] = value
      }
    }
    return .some(values)
  }
}
