import FerryConnector
import FerryModel

/// Whether a service heeds conditions is found out by an operator, on a row that the operator names.
extension RESTConnector: ConditionProver {
  public func proveConditions(
    of entity: Entity, key: ObjectKey
  ) throws(ConnectorError) -> ConditionProof {
    let desk = RESTDesk(connection: connection)
    guard let none = desk.impossibleETag(of: entity) else {
      return .unclear("The mapping names no condition of \(entity.name) that can be proved.")
    }
    switch desk.read(entity, key) {
    case .absent: return .unclear("The service has no \(entity.name) \(key).")
    case .failed(let reply): throw RESTDesk.error(reply)
    case .there(let entry, let image, let etag):
      guard etag != nil else { return .unclear("The service gives no version of \(entity.name).") }
      guard let row = image.values else {
        return .unclear("\(entity.name) \(key) does not fit the model.")
      }
      guard entity.operations.contains(.update),
        let position = free(row, entity)
      else { return .unclear("The model allows no update of \(entity.name).") }
      let same = ConnectorOperation(
        id: .ofProof, entity: entity, kind: .update, key: key,
        changed: [position: row[position]], base: [:])
      switch desk.write(same, .unchanged(etag: none), onto: entry) {
      case .changed:
        connection.prove(entity.table, true)
        return .heeded
      case .done:
        connection.prove(entity.table, false)
        return .ignored
      case .refused(let refusal):
        return .unclear("The service refused the question: \(refusal.message)")
      case .absent: return .unclear("The service has no \(entity.name) \(key).")
      case .notDone, .lost, .forgotten, .needsCredential:
        throw ConnectorError(
          "The service cannot be asked whether it heeds conditions", hint: "Try again.",
          isTransient: true)
      }
    }
  }

  public func areConditionsHeeded(by entity: Entity) -> Bool? {
    connection.memory.proof(of: entity.table)
  }

  /// An attribute that may be sent without any effect.
  private func free(_ row: [AttributeValue], _ entity: Entity) -> Int? {
    let form = connection.mapping.forms[entity.name]
    return row.indices.first { place in
      !entity.key.contains(place) && form?.values[place].isReadOnly != true
        && !entity.relationships.contains {
          $0.attributes.contains(entity.attributes[place].name)
        }
    }
  }
}

extension OperationID {
  /// Of no operation.
  fileprivate static let ofProof: OperationID = {
    guard let id = OperationID(String(repeating: "0", count: 32)) else {
      preconditionFailure("32 digits are an id")
    }
    return id
  }()
}
