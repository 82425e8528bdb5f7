import FerryModel
import FerryWire
import FerryWorld

/// Users who ask without a device's store: another program reads single rows and sends single
/// operations for them.
///
/// A read shows the cache through the user's partitions, and nothing else. An operation is that of a
/// device of its own, so that rights, replay and the log know it as any other.
final class Callers: ServiceRoom {
  let core: ServiceCore
  let accounts: Accounts
  private let operations: Operations

  init(core: ServiceCore, accounts: Accounts, operations: Operations) {
    self.core = core
    self.accounts = accounts
    self.operations = operations
  }

  /// The record of the user as it is now. Throws `revokedToken` where the user was removed, `badRequest`
  /// where the package is not the user's.
  func record(of user: String) throws(ServerError) -> UserRecord {
    guard let record = accounts.provider?.record(of: user) else { throw Accounts.ended }
    if let provider = accounts.provider, !provider.areRightsKnown(of: user, now: world.clock.now) {
      throw Accounts.staleRights
    }
    guard record.packages.include(package.name) else { throw Callers.notAllowed }
    guard try isLoaded() else { throw Callers.notLoaded }
    return record
  }

  private func rights(_ record: UserRecord) throws(ServerError) -> Rights {
    Rights(
      rules: rules, user: record.name, roles: record.roles, claims: record.claims,
      keys: try accounts.personalKeys(of: record.name))
  }

  /// Rows of an entity that the user may have, behind a position. `isLast` where there are no more.
  func rows(
    of entity: Int, for user: String, after position: CallerPosition?, count: Int
  ) throws(ServerError) -> CallerPage {
    precondition(count > 0, "\(count) rows are asked for")
    let record = try record(of: user)
    let partitions = try partitions(of: entity, record)
    return try reading { () throws(StoreError) in
      try store.snapshot { view throws(StoreError) in
        var page = CallerPage()
        for partition in partitions where partition >= position?.partition ?? 0 {
          let key = partition == position?.partition ? position?.key : nil
          let wanted = count - page.rows.count + 1
          let rows = try view.rows(of: entity, in: partition, after: key, count: wanted)
          page.rows += try rows.map { row throws(StoreError) in try callerRow(row, partition) }
          guard page.rows.count <= count else {
            page.rows.removeLast(page.rows.count - count)
            return page
          }
        }
        page.isLast = true
        return page
      }
    }
  }

  /// The numbers of the partitions in which the user may have rows of the entity, in their order.
  func partitions(of entity: Int, _ record: UserRecord) throws(ServerError) -> [Int64] {
    let rights = try rights(record)
    let group = package.entities[entity].group
    let rule = rules.rules[entity].root.rule
    let limit = limits.partitionsPerSubscription
    let numbers = try reading { () throws(StoreError) -> [Int64]? in
      let places = try rights.places(in: group, directory: directory, limit: limit)
      guard places.count <= limit else { return nil }
      var found: Set<Int64> = []
      for place in places where place.rule.text.hasBytes(of: rule) {
        // A partition that nobody has asked for, and that has no row, is not there.
        if let number = try directory.number(of: place) { found.insert(number) }
      }
      return found.sorted()
    }
    guard let numbers else {
      throw ServerError(
        .tooManyPartitions, "the user has more than \(limit) partitions",
        hint: "Give the user fewer claims.")
    }
    return numbers
  }

  /// The row, where it is there and the user may have it.
  func row(_ name: RowName, for user: String) throws(ServerError) -> CallerRow? {
    let record = try record(of: user)
    return try row(name, try rights(record))
  }

  /// The same for many; what is not there, or not the user's, is left out.
  func rows(_ names: [RowName], for user: String) throws(ServerError) -> [RowName: CallerRow] {
    let rights = try rights(try record(of: user))
    var found: [RowName: CallerRow] = [:]
    for name in names where found[name] == nil { found[name] = try row(name, rights) }
    return found
  }

  private func row(_ name: RowName, _ rights: Rights) throws(ServerError) -> CallerRow? {
    try reading { () throws(StoreError) in
      guard let row = try cache.row(name), !row.isDeleted, let number = row.partition,
        let place = try directory.place(of: number), rights.include(place)
      else { return nil }
      return try callerRow(row, number)
    }
  }

  private func callerRow(
    _ row: CachedRow, _ partition: Int64
  ) throws(StoreError) -> CallerRow {
    CallerRow(
      entity: row.entity, key: row.key, values: try cache.values(of: row), version: row.version,
      partition: partition)
  }

  // Operations.

  /// Takes the operations of one chain in, once. What is known under their ids and is the same chain
  /// is not taken again: its outcome is that of the first time.
  func take(
    _ chain: [Operation], _ bytes: [[UInt8]], for user: String
  ) throws(ServerError) -> CallerReceipt {
    let record = try record(of: user)
    let ids = chain.map(\.id)
    var seen = 0
    for operation in chain {
      guard let known = try known(operation.id) else { continue }
      guard known.user == ExactText(user), try isSame(operation, operation.id, known) else {
        return .otherOperation
      }
      seen += 1
    }
    if seen > 0 {
      guard seen == chain.count else { return .otherOperation }
      // After a restart it waits until somebody asks for it again.
      operations.name(ids, of: Owner(device: Callers.device(of: user), user: user))
      return .taken
    }
    let device = Callers.device(of: user)
    let identity = Identity(
      user: user, device: device, roles: record.roles, claims: record.claims,
      issued: world.clock.now, expires: world.clock.now.advanced(by: .seconds(60))
    ).with(record)
    let replay = Replay(operations: bytes, mayHaveRun: [])
    let (stored, problem) = try operations.take(
      replay, from: identity, Owner(device: device, user: user))
    // Of the others it is said that they were not tried, because of this one.
    if let refused = stored.refused.first(where: { $0.outcome != .notTried })
      ?? stored.refused.first
    {
      return .refused(refused)
    }
    guard ids.allSatisfy(stored.ids.contains) else {
      return .notTaken(problem?.message ?? "the operation was not taken")
    }
    return .taken
  }

  private func known(_ id: OperationID) throws(ServerError) -> KnownOperation? {
    try reading { () throws(StoreError) in try store.known([id]).first ?? nil }
  }

  /// Whether there is an operation of this user with this id.
  func knows(_ id: OperationID, of user: String) throws(ServerError) -> Bool {
    try known(id)?.user == ExactText(user)
  }

  /// The operation that has an id already.
  func earlier(_ id: OperationID, of user: String) throws(ServerError) -> EarlierOperation? {
    guard let known = try known(id) else { return nil }
    guard known.user == ExactText(user) else { return .ofAnother }
    // After a restart it waits until somebody asks for it again.
    operations.name([id], of: Owner(device: Callers.device(of: user), user: user))
    return try reading { () throws(StoreError) -> EarlierOperation? in
      if known.hasPayload { return .whole(try store.operation(id).operation) }
      return try store.ended(id).map { .ended(entity: $0.entity, $0.kind) }
    }
  }

  /// What it is based on is not compared: a repeated request may have been read from a newer row.
  private func isSame(
    _ operation: Operation, _ id: OperationID, _ known: KnownOperation
  ) throws(ServerError) -> Bool {
    guard known.hasPayload else {
      let ended = try reading { () throws(StoreError) in try store.ended(id) }
      return ended.map { $0.entity.hasBytes(of: operation.entity) && $0.kind == operation.kind }
        ?? false
    }
    let first = try reading { () throws(StoreError) in try store.operation(id).operation }
    return first.entity.hasBytes(of: operation.entity) && first.kind == operation.kind
      && first.key == operation.key && first.changed == operation.changed
  }

  /// How an operation of this user ended; nil while it is in work, or where there is none.
  func answer(to id: OperationID, of user: String) throws(ServerError) -> Answer? {
    guard let known = try known(id), known.user == ExactText(user) else { return nil }
    return try reading { () throws(StoreError) -> Answer? in
      guard let ended = try store.ended(id) else { return nil }
      if let json = ended.answer, let answer = try? Answer(json: json) { return answer }
      return Answer(
        id: id, version: ended.version, outcome: ended.outcome, newKey: ended.newKey,
        logRecords: [])
    }
  }

  /// Nobody asks for this answer again.
  func confirm(_ answer: Answer, of user: String) throws(ServerError) {
    try guarded { () throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        try store.confirm([answer.id], upTo: answer.version, user: user)
      }
    }
  }

  /// What the log and `ferry why` call the device of a user who asks so.
  static func device(of user: String) -> String { CallerDevice.name(of: user) }

  static let notAllowed = ServerError(
    .badRequest, "the user may not use this package",
    hint: "The operator names the package in the user file.")

  static let notLoaded = ServerError(
    .store, "the first load of the business system has not ended",
    hint: "Try again in a moment.", isTransient: true, retryAfterSeconds: 2)
}
