import FerryConnector
import FerryModel

/// What a connector brings along to be tested: one business system that holds the tables, rows
/// and rules of `ConnectorSuite`.
public protocol ConnectorStage: AnyObject {
  /// Whether a group is performed as a whole.
  var isTransactional: Bool { get }
  /// Whether `recall` knows what was performed.
  var remembersOperations: Bool { get }
  /// Whether it keeps big values: its business system holds `ConnectorSuite.document` too, without
  /// rows, and the connector's model is `ConnectorSuite.packageWithContents`. False if not said.
  var keepsContents: Bool { get }
  /// Whether others can write values that the model cannot take: a dateTime `infinity`, a decimal
  /// `NaN`. A business system that refuses them says false. True if not said.
  var takesUnfitValues: Bool { get }
  /// A new instance over the same business system, as after a restart.
  func connector() throws -> any Connector
  /// Someone else changes attributes of a row, behind every connector's back.
  func changeByOther(_ entity: Entity, _ key: ObjectKey, _ changed: [Int: AttributeValue]) throws
  /// Whether operations are sent as their users: `anna` has a credential, and `bill` has none. False if
  /// not said.
  var sendsAsUser: Bool { get }
  /// As whom the business system was changed, in this order; nil is the technical user.
  var performers: [String?] { get }
  /// Someone else deletes a row. False where the stage cannot do that; so if not said.
  func deleteByOther(_ entity: Entity, _ key: ObjectKey) throws -> Bool
}

extension ConnectorStage {
  public var keepsContents: Bool { false }
  public var takesUnfitValues: Bool { true }
  public func deleteByOther(_ entity: Entity, _ key: ObjectKey) throws -> Bool { false }
  public var sendsAsUser: Bool { false }
  public var performers: [String?] { [] }

  /// The model that the connector serves.
  public var package: Package {
    keepsContents ? ConnectorSuite.packageWithContents : ConnectorSuite.package
  }
}

/// One thing that every connector must do.
public struct ConnectorCase: Sendable, CustomStringConvertible {
  /// A sentence that is true of a good connector.
  public let description: String
  private let body: @Sendable (ConnectorProof) throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (ConnectorProof) throws -> Void) {
    self.description = description
    self.body = body
  }

  /// What is wrong with the connector; empty when it keeps the contract. The stage is used up.
  public func failures(on stage: any ConnectorStage) -> [String] {
    do {
      let proof = ConnectorProof(stage, try stage.connector())
      try body(proof)
      return proof.failures
    } catch { return ["threw: \(error)"] }
  }
}

/// A running case: the words in which cases are written.
final class ConnectorProof {
  let stage: any ConnectorStage
  var connector: any Connector
  private(set) var failures: [String] = []
  private var numberOfIDs: UInt64 = 0

  init(_ stage: any ConnectorStage, _ connector: any Connector) {
    self.stage = stage
    self.connector = connector
  }

  func restart() throws { connector = try stage.connector() }

  func expect(_ isTrue: Bool, _ otherwise: @autoclosure () -> String) {
    if !isTrue { failures.append(otherwise()) }
  }

  func equal<Subject: Equatable>(_ found: Subject, _ wanted: Subject, _ what: String) {
    expect(found == wanted, "\(what): found \(found), wanted \(wanted)")
  }

  func newID() -> OperationID {
    numberOfIDs += 1
    let digits = String(numberOfIDs, radix: 16)
    let text = String(repeating: "0", count: 32 - digits.count) + digits
    guard let id = OperationID(text) else { preconditionFailure("no operation id: \(text)") }
    return id
  }

  func operation(
    _ kind: OperationKind, _ entity: Entity, _ key: ObjectKey? = nil,
    _ changed: [String: AttributeValue] = [:],
    base: [String: AttributeValue] = [:], temporaryKey: ObjectKey? = nil,
    contents: [Int: ConnectorContent] = [:], user: String? = nil
  ) -> ConnectorOperation {
    ConnectorOperation(
      id: newID(), entity: entity, kind: kind, key: key, changed: positions(changed, entity),
      base: positions(base, entity), temporaryKey: temporaryKey, contents: contents,
      user: user ?? (stage.sendsAsUser ? "anna" : nil))
  }

  func positions(_ values: [String: AttributeValue], _ entity: Entity) -> [Int: AttributeValue] {
    var positions: [Int: AttributeValue] = [:]
    for (name, value) in values {
      guard let position = entity.position(of: name) else { preconditionFailure("no \(name)") }
      positions[position] = value
    }
    return positions
  }

  /// Performs a group that is to be answered; anything else is noted as a failure.
  func perform(
    _ group: ConnectorOperation...
  ) -> (
    outcomes: [OperationOutcome], touched: [RowImage]
  ) {
    let result = connector.perform(group)
    guard case .done(let outcomes, let touched) = result else {
      failures.append("the group was not answered: \(result)")
      return (group.map { _ in .notTried }, [])
    }
    equal(outcomes.count, group.count, "number of outcomes")
    return (outcomes, touched)
  }

  /// The refusal of an operation that is performed alone.
  func refusal(of operation: ConnectorOperation, code: Int) -> Refusal? {
    let (outcomes, touched) = perform(operation)
    guard case .refused(let refusal)? = outcomes.first else {
      failures.append("not refused but \(outcomes)")
      return nil
    }
    equal(refusal.code, code, "code of \"\(refusal.message)\"")
    equal(touched.count, 0, "rows touched by a refused operation")
    return refusal
  }

  func key(_ outcome: OperationOutcome?) -> ObjectKey {
    if case .accepted(let key, _)? = outcome { return key }
    failures.append("not accepted but \(String(describing: outcome))")
    return ObjectKey([])
  }

  func row(_ entity: Entity, _ key: ObjectKey) throws -> [AttributeValue]? {
    let images = try connector.read(entity, keys: [key])
    equal(images.map(\.key), [key], "keys of the rows read")
    return images.first?.values
  }

  func value(_ entity: Entity, _ key: ObjectKey, _ attribute: String) throws -> AttributeValue? {
    guard let position = entity.position(of: attribute) else { return nil }
    return try row(entity, key)?[position]
  }

  /// What a load gives of one entity, and what it leaves out of all.
  func load(_ entity: Entity) throws -> (rows: [RowImage], rejected: [RejectedRow]) {
    var rows: [RowImage] = []
    var rejected: [RejectedRow] = []
    _ = try connector.load(
      LoadScope(entities: stage.package.entities), from: nil,
      each: { if $0.entity.name == entity.name { rows += $0.rows } },
      rejected: { rejected.append($0) })
    return (rows, rejected)
  }

  /// All rows of a load by entity name.
  func loaded(during: () throws -> Void = {}) throws -> [String: [RowImage]] {
    var rows: [String: [RowImage]] = [:]
    var isFirst = true
    var problem: (any Error)?
    _ = try connector.load(
      LoadScope(entities: stage.package.entities), from: nil,
      each: { page in
        rows[page.entity.name, default: []] += page.rows
        guard isFirst else { return }
        isFirst = false
        do { try during() } catch { problem = error }
      },
      rejected: { failures.append("rejected: \($0)") })
    if let problem { throw problem }
    return rows
  }
}
