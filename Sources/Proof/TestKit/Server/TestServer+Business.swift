public import Ferry
import FerryConnector
import FerryMemoryConnector
public import FerryModel
import Synchronization

/// What other people and the rules of the business do.
extension TestServer {
  /// Adds rows to the business system, each by the names of its attributes; every device whose
  /// user may see them has them after its next `synchronize()`. An attribute that is not named has
  /// the model's `default`, or null if there is none.
  ///
  /// Throws what a database would, and then adds none of the rows: `objectExists` for a key, or a
  /// unique value, that is there already (`replace` overwrites a row); `invalidValue` for a value that
  /// the model does not allow, as a text that is too long; `invalidReference` for a row that refers to
  /// one that is not there; `unknownName` for an attribute that the model does not have.
  public func insert<Object: BusinessObject>(
    _ type: Object.Type, _ rows: [String: any AttributeConvertible]...
  ) async throws(FerryError) {
    try put(Object.entity, rows, overwrites: false)
    await reload()
  }

  /// Adds rows as `insert` does, and overwrites those that have the same key.
  public func replace<Object: BusinessObject>(
    _ type: Object.Type, _ rows: [String: any AttributeConvertible]...
  ) async throws(FerryError) {
    try put(Object.entity, rows, overwrites: true)
    await reload()
  }

  private func put(
    _ entity: Entity, _ rows: [[String: any AttributeConvertible]], overwrites: Bool
  ) throws(FerryError) {
    var table = business.rows(of: entity.name)
    var made: [[AttributeValue]] = []
    for given in rows {
      let row = try entity.checked(
        entity.row(given, business.keep(content:)), types: package.complexTypes,
        allowsUnlisted: true)
      let key = entity.key(of: row)
      guard overwrites || table[key] == nil else {
        throw FerryError(
          .objectExists, "\(entity.name) \(key) is in the business system already",
          hint: "Give the row another key, or write replace to overwrite it.", entity: entity.name,
          attribute: entity.names(entity.key))
      }
      try checkUnique(entity, row, among: table)
      table[key] = row
      made.append(row)
    }
    try taken(business.insert(entity.name, made))
  }

  /// Null differs from every null, as in SQL.
  private func checkUnique(
    _ entity: Entity, _ row: [AttributeValue], among table: [ObjectKey: [AttributeValue]]
  ) throws(FerryError) {
    let own = entity.key(of: row)
    for positions in entity.unique {
      let values = positions.map { row[$0] }
      guard !values.contains(.null) else { continue }
      for (key, other) in table where key != own && positions.map({ other[$0] }) == values {
        let names = entity.names(positions)
        throw FerryError(
          .objectExists,
          "\(entity.name) \(key) has the same \(names) \(values.map(\.shown).joined(separator: ", "))",
          hint: "The model says that it is unique: give the row another value.",
          entity: entity.name, attribute: names)
      }
    }
  }

  /// Someone else changes the object in the business system. Throws what `insert` does, and
  /// `objectNotFound` if it is not there.
  public func change<Object: BusinessObject>(
    _ object: Object, _ changed: [String: any AttributeConvertible]
  ) async throws(FerryError) {
    let (entity, key) = (Object.entity, object.record.key)
    let table = business.rows(of: entity.name)
    guard var row = table[key] else { throw missing(object) }
    try entity.put(changed, into: &row, business.keep(content:))
    row = try entity.checked(row, types: package.complexTypes, allowsUnlisted: true)
    try checkUnique(entity, row, among: table)
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
  /// ```swift
  /// server.refuse(Booking.self, of: [.create], code: 409, "full") { try $0["seats"] == 9 }
  /// ```
  /// `constraint`, `detail` and `hint` are what `Ferry.Refusal` has of a database that says them.
  /// Where `condition` throws, as for a misspelled name, the change is refused with the code 500, and
  /// the message has the error and the line of this call.
  public func refuse<Object: BusinessObject>(
    _ type: Object.Type, of kinds: Set<OperationKind> = [.create, .update, .delete],
    code: Int = 422, _ message: String, constraint: String? = nil, detail: String? = nil,
    hint: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    when condition: @escaping @Sendable (TestRow) throws -> Bool = { _ in true }
  ) {
    rules.add { effect in
      let kind: OperationKind =
        effect.before == nil ? .create : effect.after == nil ? .delete : .update
      guard effect.entity == Object.entity.name, kinds.contains(kind),
        let values = effect.after ?? effect.before
      else { return nil }
      do {
        guard try condition(TestRow(Object.entity, values)) else { return nil }
      } catch {
        return FerryConnector.Refusal(
          code: 500, message: "The condition of refuse at \(file):\(line) failed: \(error)")
      }
      return FerryConnector.Refusal(
        code: code, message: message, constraint: constraint, detail: detail, hint: hint)
    }
  }

  /// From now on the answers to these operations are lost: the connection to the business system breaks
  /// while it performs them, and it does not remember them. Their outcome is `unknown` and stays so.
  /// What is replayed as one with them shares it.
  ///
  /// `performed`: whether the business system performs them all the same; `rows(of:)` shows it.
  public func loseAnswers<Object: BusinessObject>(
    _ type: Object.Type, of kinds: Set<OperationKind> = [.create, .update, .delete],
    performed: Bool = false
  ) {
    doubts.add(
      TestDoubts.Doubt(entity: Object.entity.name, kinds: kinds, isPerformed: performed))
  }

  /// From now on nothing is refused by a rule, and no answer is lost.
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

extension Entity {
  fileprivate func names(_ positions: [Int]) -> String {
    positions.map { attributes[$0].name }.joined(separator: ", ")
  }
}
