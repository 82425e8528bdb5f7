public import Ferry
import FerryConnector
import FerryMemoryConnector
public import FerryModel
import Synchronization

/// What other people and the rules of the business do.
extension TestServer {
  /// Puts rows into the business system, each by the names of its attributes; every device whose
  /// user may see them has them after its next `synchronize()`.
  ///
  /// Throws `unknownName` or `invalidValue` for what the model does not know, and `invalidReference` for
  /// a row that refers to one that is not there; then none of the rows is.
  public func insert<Object: BusinessObject>(
    _ type: Object.Type, _ rows: [String: any AttributeConvertible]...
  ) async throws(FerryError) {
    var made: [[AttributeValue]] = []
    for row in rows { made.append(try Object.entity.row(row, business.keep(content:))) }
    try taken(business.insert(Object.entity.name, made))
    await reload()
  }

  /// Someone else changes the object in the business system.
  public func change<Object: BusinessObject>(
    _ object: Object, _ changed: [String: any AttributeConvertible]
  ) async throws(FerryError) {
    let (entity, key) = (Object.entity, object.record.key)
    guard var row = business.rows(of: entity.name)[key] else { throw missing(object) }
    try entity.put(changed, into: &row, business.keep(content:))
    try taken(business.changeByOther { $0.write(entity.name, key, row) })
    await reload()
  }

  /// Someone else deletes the object in the business system.
  public func remove<Object: BusinessObject>(_ object: Object) async throws(FerryError) {
    let (entity, key) = (Object.entity, object.record.key)
    guard business.rows(of: entity.name)[key] != nil else { throw missing(object) }
    try taken(business.changeByOther { $0.write(entity.name, key, nil) })
    await reload()
  }

  /// What the business system holds now, in the order of the keys' values.
  public func rows<Object: BusinessObject>(of type: Object.Type) -> [TestRow] {
    let entity = Object.entity
    return business.rows(of: entity.name).values
      .sorted { entity.isOrdered($0, before: $1) }
      .map { TestRow(entity, $0) }
  }

  /// The content of a row's big value; nil for null.
  public func content(of row: TestRow, _ attribute: String) -> [UInt8]? {
    row.entity.position(of: attribute).flatMap { business.content(row.values[$0]) }
  }

  /// From now on the business system refuses what `condition` is true of: the row after a create or
  /// an update, before a delete.
  public func refuse<Object: BusinessObject>(
    _ type: Object.Type, _ kinds: Set<OperationKind> = [.create, .update, .delete],
    code: Int = 422, _ message: String,
    when condition: @escaping @Sendable (TestRow) -> Bool = { _ in true }
  ) {
    rules.add { effect in
      let kind: OperationKind =
        effect.before == nil ? .create : effect.after == nil ? .delete : .update
      guard effect.entity == Object.entity.name, kinds.contains(kind),
        let values = effect.after ?? effect.before, condition(TestRow(Object.entity, values))
      else { return nil }
      return FerryConnector.Refusal(code: code, message: message)
    }
  }

  /// From now on nobody learns what became of these operations: the line to the business system
  /// breaks while they are performed, and it does not remember them. Their outcome is `unknown`
  /// (`replayOutcome`, `unknown`) and stays so; what is replayed as one with them shares it.
  ///
  /// `performed` says whether the business system did them all the same: `rows(of:)` shows it.
  public func leaveUnknown<Object: BusinessObject>(
    _ type: Object.Type, _ kinds: Set<OperationKind> = [.create, .update, .delete],
    performed: Bool = false
  ) {
    doubts.add(
      TestDoubts.Doubt(entity: Object.entity.name, kinds: kinds, isPerformed: performed))
  }

  /// Nothing that comes from now on is refused by a rule or left unknown.
  public func acceptAll() {
    rules.removeAll()
    doubts.removeAll()
  }

  private func missing(_ object: some BusinessObject) -> FerryError {
    FerryError(
      .objectNotFound, "\(object.record.entity.name) \(object.record.key) is not in the business",
      hint: "Insert it, or synchronize first where the device has just made it.")
  }

  private func taken(_ refusal: FerryConnector.Refusal?) throws(FerryError) {
    guard let refusal else { return }
    throw FerryError(
      .invalidReference, refusal.message, hint: "Insert what it refers to first.")
  }
}

/// The refusals that a test asks for.
final class TestRules: Sendable {
  typealias Judge = @Sendable (MemoryEffect) -> FerryConnector.Refusal?
  private let judges = Mutex<[Judge]>([])

  func add(_ judge: @escaping Judge) { judges.withLock { $0.append(judge) } }

  func removeAll() { judges.withLock { $0 = [] } }

  var rule: MemoryRule {
    MemoryRule { [self] effect, _ in
      for judge in judges.withLock({ $0 }) {
        if let refusal = judge(effect) { return refusal }
      }
      return nil
    }
  }
}
