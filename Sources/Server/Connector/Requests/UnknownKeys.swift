import FerryModel

/// Creates of a chain of which nobody knows whether they were performed, and under which key. What is
/// said of later members under the key that only their device knows says nothing about them.
package struct UnknownKeys {
  /// Of creates that may be repeated, and of those that only a person can tell.
  private var repeated: [GivenKeys] = []
  private var untold: [GivenKeys] = []

  package init() {}

  /// What may be said of a member, in the order of the chain. `operation`: as it came.
  package mutating func corrected(_ given: Recall, of operation: ConnectorOperation) -> Recall {
    var recall = given
    if recall == .notPerformed {
      if untold.contains(where: { UnknownKeys.depends(operation, on: $0) }) {
        recall = .cannotTell(
          reason: "it belongs to an object of which nobody knows whether it was made",
          candidates: []
        )
      } else if repeated.contains(where: { UnknownKeys.depends(operation, on: $0) }) {
        recall = .mayBeRepeated
      }
    }
    guard let key = operation.temporaryKey ?? operation.key, operation.kind == .create,
      let other = UnknownKeys.another(key, of: operation.entity)
    else { return recall }
    var keys = GivenKeys()
    keys.learn(operation, key: other)
    switch recall {
    case .mayBeRepeated: repeated.append(keys)
    case .cannotTell: untold.append(keys)
    case .performed, .notPerformed, .mayStillArrive: break
    }
    return recall
  }

  private static func depends(_ operation: ConnectorOperation, on keys: GivenKeys) -> Bool {
    let applied = keys.applied(to: operation)
    return applied.key != operation.key || applied.changed != operation.changed
      || applied.base != operation.base
  }

  /// Some other key, by which it is seen who names this one.
  private static func another(_ key: ObjectKey, of entity: Entity) -> ObjectKey? {
    key.values(of: entity).map { values in
      ObjectKey(
        values.map { value in
          switch value {
          case .integer(let number): .integer(number &+ 1)
          case .text(let text): .text(text + "'")
          default: .null
          }
        })
    }
  }
}
