import FerryJSON
import FerryModel
import FerryWire

/// Decides what becomes of one operation that a device sent.
package struct InboxMachine {
  package enum Judgement: Equatable {
    case store(Operation)
    /// It is here already. `isEmptied`: its answer was confirmed once, and must be told again.
    case known(OperationID, isEmptied: Bool)
    case refuse(OperationID, Refused)
    /// Not even its id can be read.
    case unreadable(String)
  }

  /// What can be told of an operation that will never be performed.
  package struct Refused: Equatable {
    var component: String
    var kind: OperationKind
    var entityKey: String
    package let message: String
  }

  let package: Package
  let user: ExactText
  /// The largest big value that an operation may name.
  var bigValueBytes: Int64 = .max
  /// Only with the planted bug `chosenKey`.
  var takesChosenKeys: Bool = false

  package init(
    package: Package, user: ExactText, bigValueBytes: Int64 = .max, takesChosenKeys: Bool = false
  ) {
    self.package = package
    self.user = user
    self.bigValueBytes = bigValueBytes
    self.takesChosenKeys = takesChosenKeys
  }

  /// `hash` is that of the bytes, `known` what is remembered under the id that can be read in them.
  package func judge(_ bytes: [UInt8], hash: [UInt8], known: KnownOperation?) -> Judgement {
    let id: OperationID
    do { id = try Operation.identity(of: bytes) } catch { return .unreadable(error.description) }
    if let known {
      guard known.user == user, known.hash == hash else {
        return .refuse(id, refused(bytes, InboxMachine.earlierForm(known.outcome)))
      }
      return .known(id, isEmptied: known.state == .confirmed)
    }
    guard bytes.count <= WireLimits.operationBytes else {
      return .refuse(
        id,
        refused(
          bytes, "the change has \(bytes.count) bytes; \(WireLimits.operationBytes) are allowed"))
    }
    do {
      let operation = try Operation(bytes, in: package)
      if let wrongKey = package.entity(named: operation.entity).flatMap({
        wrongKey(operation, $0)
      }) {
        return .refuse(id, refused(bytes, wrongKey))
      }
      if let blind = package.entity(named: operation.entity).flatMap({ blind(operation, $0) }) {
        return .refuse(id, refused(bytes, blind))
      }
      if let tooLarge = package.entity(named: operation.entity).flatMap({
        tooLarge(operation, $0)
      }) {
        return .refuse(id, refused(bytes, tooLarge))
      }
      return .store(operation)
    } catch {
      return .refuse(id, refused(bytes, "the change is invalid \(error.description)"))
    }
  }

  /// A device may not choose what the business system gives: one row with the highest key there is
  /// would end all creates of its table.
  private func wrongKey(_ operation: Operation, _ entity: Entity) -> String? {
    guard !takesChosenKeys, operation.kind == .create, let key = operation.key else { return nil }
    guard entity.keyOrigin != .businessSystem else {
      return "the business system gives the key of \(entity.name), and this create names \(key): "
        + "create the object without a key"
    }
    // What refers to a new object of the same group has that one's temporary key.
    let references = Set(entity.relationships.flatMap(\.attributes))
    let attributes = entity.key.map { entity.attributes[$0] }
    let isTemporary = zip(attributes, key.values(of: entity) ?? []).contains { attribute, value in
      !references.contains(attribute.name) && attribute.type.isTemporaryKey(value)
    }
    guard isTemporary else { return nil }
    return "the key \(key) is among the temporary keys of devices: choose one outside "
      + "the lowest quarter of the integers that does not begin with a tilde"
  }

  /// A change that does not say what it was based on would write over what others wrote.
  private func blind(_ operation: Operation, _ entity: Entity) -> String? {
    guard !entity.allowsBlindWrites else { return nil }
    switch operation.kind {
    case .create: return nil
    case .update:
      let blind = operation.changed.keys.sorted().first { operation.base[$0] == nil }
      return blind.map { position in
        "\"base\" of the update has no old value of \(entity.attributes[position].name): "
          + "name every attribute of \"changed\" there"
      }
    case .delete:
      return operation.base.isEmpty
        ? "\"base\" of the delete has no old values of the object: name its attributes there" : nil
    }
  }

  private func tooLarge(_ operation: Operation, _ entity: Entity) -> String? {
    for position in entity.bigPositions {
      guard let size = operation.changed[position]?.bigReference?.sizeBytes, size > bigValueBytes
      else { continue }
      return "\(entity.attributes[position].name) has \(size) bytes; \(bigValueBytes) are allowed"
    }
    return nil
  }

  private static func earlierForm(_ outcome: Answer.Outcome?) -> String {
    switch outcome {
    case .replayResult: "an earlier form of this change was accepted"
    case .replayFailed: "an earlier form of this change was refused"
    case .notTried: "an earlier form of this change was not tried"
    case .unknown: "the outcome of an earlier form of this change is not known"
    case nil: "an earlier form of this change is in work"
    }
  }

  private func refused(_ bytes: [UInt8], _ message: String) -> Refused {
    let node = try? JSONNode.parse(bytes, depthLimit: WireLimits.nesting)
    return Refused(
      component: node?["entity"]?.string ?? "",
      kind: node?["operation"]?.string.flatMap(OperationKind.init(rawValue:)) ?? .update,
      entityKey: "", message: message)
  }
}
