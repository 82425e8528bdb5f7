import FerryConnector
import FerryModel
import FerryODataClient

/// Whether a service heeds conditions is found out by an operator, on a row that the operator names.
extension ODataConnector: ConditionProver {
  public func proveConditions(
    of entity: Entity, key: ObjectKey
  ) throws(ConnectorError) -> ConditionProof {
    let (desk, form) = try proving(entity)
    switch desk.read(form, key) {
    case .absent: return .unclear("The service has no \(entity.name) \(key).")
    case .failed(let answer): throw RequestDesk.error(answer)
    case .there(let entry, let image):
      guard entry.etag != nil else {
        return .unclear("The service gives no ETag of \(entity.name).")
      }
      guard let row = image.values else {
        return .unclear("\(entity.name) \(key) does not fit the model.")
      }
      guard entity.operations.contains(.update),
        let position = row.indices.first(where: { place in
          !entity.key.contains(place)
            && !entity.relationships.contains {
              $0.attributes.contains(entity.attributes[place].name)
            }
        })
      else { return .unclear("The model allows no update of \(entity.name).") }
      let same = ConnectorOperation(
        id: .ofProof, entity: entity, kind: .update, key: key,
        changed: [position: row[position]], base: [:])
      switch desk.write(same, form, onto: entry, etag: ChainWork.noETag) {
      case .changed:
        connection.prove(entity.table, true)
        return .heeded
      case .done:
        connection.prove(entity.table, false)
        return .ignored
      case .refused(let status, let document):
        return .unclear("The service refused the question with \(status): \(document.message)")
      case .absent: return .unclear("The service has no \(entity.name) \(key).")
      case .notDone, .lost, .faulty, .needsCredential:
        throw ConnectorError(
          "The service cannot be asked whether it heeds conditions", hint: "Try again.",
          isTransient: true)
      }
    }
  }

  public func areConditionsHeeded(by entity: Entity) -> Bool? {
    connection.memory.proof(of: entity.table)
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
