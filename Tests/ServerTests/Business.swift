import FerryConnector
import FerryModel

extension ConnectorAbilities {
  /// Of connectors that a test writes, where it says nothing else.
  static let ofTests: ConnectorAbilities = ConnectorAbilities(
    atomicGroups: true, memory: .operations, conditionalWrites: true, changes: .poll,
    reportsDeletes: false, snapshots: true)
}

/// A business system in memory that can be made to misbehave.
final class Business: Connector {
  private(set) var rows: [String: [ObjectKey: [AttributeValue]]] = [:]
  /// What the group in work has changed, as it was: a copy of all rows would cost too much.
  private var journal: [(entity: String, key: ObjectKey, values: [AttributeValue]?)] = []
  /// Effects of operations, by id: how often each was performed.
  private(set) var performed: [OperationID: Int] = [:]
  private var remembered: [OperationID: OperationOutcome] = [:]
  /// What the next perform says instead of doing its work.
  var next: PerformResult?
  /// The next perform does its work, and then the line breaks.
  var breaksAfterWork = false
  var remembers = true
  var isAway = false
  /// Orders whose text is this are refused.
  var forbidden = "forbidden"
  var performs = 0
  /// Whether it gives the rows that it changed; otherwise they are read.
  var givesRows = true
  /// How many rows it was asked for.
  private(set) var reads = 0
  /// What it makes of each text that is written to an order.
  var rewritten: String?
  /// What it says of each change, if it does it.
  var remarks: [ResultNote] = []
  /// A fault on purpose: values are compared before anybody asks whose row it is.
  var comparesFirst = false

  func put(_ entity: Entity, _ values: [AttributeValue]) {
    write(entity.name, entity.key(of: values), values)
    journal = []
  }

  private func write(_ entity: String, _ key: ObjectKey, _ values: [AttributeValue]?) {
    journal.append((entity, key, rows[entity]?[key]))
    rows[entity, default: [:]][key] = values
  }

  func remove(_ entity: Entity, _ key: ObjectKey) { rows[entity.name]?[key] = nil }

  func mismatches(with package: Package) -> [Mismatch] { [] }

  func perform(_ group: [ConnectorOperation]) -> PerformResult {
    performs += 1
    if let result = next {
      next = nil
      return result
    }
    journal = []
    var outcomes: [OperationOutcome] = []
    var touched: [RowImage] = []
    for operation in group {
      operation.note(remarks)
      var outcome = perform(operation, &touched)
      if case .accepted(let key, _) = outcome, let refusal = judged(operation, key) {
        outcome = .refused(refusal)
      }
      outcomes.append(outcome)
      if case .refused = outcome {
        for change in journal.reversed() { rows[change.entity]?[change.key] = change.values }
        let all = group.indices.map { $0 == outcomes.count - 1 ? outcome : .notTried }
        return .done(all, touched: [])
      }
    }
    for (operation, outcome) in zip(group, outcomes) {
      performed[operation.id, default: 0] += 1
      remembered[operation.id] = outcome
    }
    if breaksAfterWork {
      breaksAfterWork = false
      return .unknown(reason: "the line broke")
    }
    return .done(outcomes, touched: givesRows ? touched : [])
  }

  private func perform(
    _ operation: ConnectorOperation, _ touched: inout [RowImage]
  ) -> OperationOutcome {
    let entity = operation.entity
    if operation.changed.values.contains(.text(forbidden)) {
      return .refused(Refusal(code: 412, message: "a rule was broken", attribute: "ship"))
    }
    if operation.kind == .create {
      if let refusal = judgedReferences(operation) { return .refused(refusal) }
      var values = [AttributeValue](repeating: .null, count: entity.attributes.count)
      for (position, value) in operation.changed { values[position] = value }
      if operation.key == nil {
        values[0] = .integer(Int64(1_000 + rows[entity.name, default: [:]].count))
      }
      let key = entity.key(of: values)
      write(entity.name, key, values)
      touched.append(RowImage(entity: entity.name, key: key, values: values))
      return .accepted(key: key)
    }
    guard let key = operation.key, var values = rows[entity.name]?[key] else {
      return .refused(Refusal(code: 404, message: "there is no such object"))
    }
    if !comparesFirst, let refusal = judged(operation, key) { return .refused(refusal) }
    var changed = operation.base.sorted { $0.key < $1.key }.filter { values[$0.key] != $0.value }
    var settled = operation.changed
    if operation.conflictRules != nil {
      let conflicts = changed.map { position, base in
        let conflict = Refusal.Conflict(
          attribute: entity.attributes[position].name, baseValue: base,
          currentValue: values[position])
        return (position, conflict)
      }
      switch operation.settled(conflicts) {
      case .failure(let refused): return .refused(refused.refusal)
      case .success(let made): (settled, changed) = (made, [])
      }
    }
    if changed.count > 1,
      let refusal = Refusal(
        conflicts: changed.map { position, base in
          Refusal.Conflict(
            attribute: entity.attributes[position].name, baseValue: base,
            currentValue: values[position])
        })
    {
      return .refused(refusal)
    }
    for (position, base) in changed {
      return .refused(
        Refusal(
          code: 412, message: "it was changed meanwhile, it is \(values[position].shown)",
          attribute: entity.attributes[position].name, baseValue: base,
          currentValue: values[position]))
    }
    if let refusal = judgedReferences(operation) { return .refused(refusal) }
    for (position, value) in settled { values[position] = value }
    if entity.name == "Order", settled[2] != nil, let rewritten { values[2] = .text(rewritten) }
    let isDelete = operation.kind == .delete
    write(entity.name, key, isDelete ? nil : values)
    touched.append(RowImage(entity: entity.name, key: key, values: isDelete ? nil : values))
    return .accepted(key: key)
  }

  private func judged(_ operation: ConnectorOperation, _ key: ObjectKey) -> Refusal? {
    guard let judge = operation.judge, let row = rows[operation.entity.name]?[key] else {
      return nil
    }
    return try? judge.refusal(of: row, in: operation.entity) { entity, positions, values in
      rows[entity.name]?.values.first { row in positions.map { row[$0] } == values }
    }
  }

  private func judgedReferences(_ operation: ConnectorOperation) -> Refusal? {
    guard let judge = operation.judge, operation.kind != .delete else { return nil }
    let before = operation.key.flatMap { rows[operation.entity.name]?[$0] }
    return try? judge.refusal(
      ofReferences: operation.changed, before: before, in: operation.entity
    ) { entity, positions, values in
      rows[entity.name]?.values.first { row in positions.map { row[$0] } == values }
    }
  }

  func abilities(of entity: Entity) -> ConnectorAbilities { .ofTests }

  func recall(_ operations: [ConnectorOperation]) throws(ConnectorError) -> [Recall] {
    try reach()
    guard remembers else {
      throw ConnectorError("it keeps no record", hint: "Ask a person.", isTransient: false)
    }
    return operations.map { Recall(recorded: remembered[$0.id]) }
  }

  func read(_ entity: Entity, keys: [ObjectKey]) throws(ConnectorError) -> [RowImage] {
    try reach()
    reads += keys.count
    return keys.map { RowImage(entity: entity.name, key: $0, values: rows[entity.name]?[$0]) }
  }

  func load(
    _ scope: LoadScope, from place: LoadPlace?,
    each: (LoadPage) throws(ConnectorError) -> Void, rejected: (RejectedRow) -> Void
  ) throws(ConnectorError) -> LoadEnd {
    try reach()
    for entity in scope.entities {
      try each(LoadPage(entity: entity, rows: images(entity)))
    }
    return .snapshot
  }

  func images(_ entity: Entity) -> [RowImage] {
    (rows[entity.name] ?? [:]).sorted { $0.key.text < $1.key.text }
      .map { RowImage(entity: entity.name, key: $0.key, values: $0.value) }
  }

  func changedByOthers() -> Bool { true }

  private func reach() throws(ConnectorError) {
    if isAway { throw ConnectorError("it is away", hint: "Start it.", isTransient: true) }
  }
}
