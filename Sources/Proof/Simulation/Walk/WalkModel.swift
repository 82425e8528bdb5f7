import Ferry
import FerryConnector
import FerryModel
import FerryServer
import FerryWire
import FerryWorld

/// The model of the walk's worlds, and the words of the machines for its numbers.
///
/// One entity: a key, a value, and a reference to another object, which may be null. Two objects of
/// it refer to each other.
final class WalkModel: Sendable {
  let kind: WalkKind
  let planted: Set<PlantedBug>
  let package: Package
  let entity: Entity
  let references: ReferenceMachine
  let rules: PartitionRules
  let inbox: InboxMachine
  private let ids: [OperationID]
  private let numbers: [OperationID: UInt8]
  private let keys: [ObjectKey]
  private let keyNumbers: [ObjectKey: Int8]
  static let name = "Item"
  static let user = "user"
  static let owner = Owner(device: "device", user: user)
  private static let firstKey: Int8 = -32

  init(_ kind: WalkKind, planted: Set<PlantedBug>) {
    self.kind = kind
    self.planted = planted
    entity = Entity(
      name: WalkModel.name, table: WalkModel.name,
      attributes: [
        Attribute(name: "key", column: "key", type: .short, isNullable: false),
        Attribute(name: "value", column: "value", type: .short, isNullable: false),
        Attribute(name: "other", column: "other", type: .short, isNullable: true),
      ], key: [0], keyOrigin: kind.keyOrigin,
      relationships: [
        Relationship(
          name: "other", target: WalkModel.name, attributes: ["other"], targetAttributes: ["key"])
      ], operations: Set(OperationKind.allCases), partition: nil, group: "all")
    package = Package(
      name: "walk", version: "1.0", entities: [entity],
      groups: [SynchronizationGroup(name: "all")])
    references = ReferenceMachine(
      entity: entity, references: KeyReference.all(in: package)[WalkModel.name] ?? [])
    do { rules = try PartitionRules(package) } catch {
      preconditionFailure("the rules of the walk's model: \(error)")
    }
    inbox = InboxMachine(package: package, user: ExactText(WalkModel.user))
    var ids: [OperationID] = []
    for number in 0..<256 {
      let digits = String(number, radix: 16)
      let text = String(repeating: "0", count: 32 - digits.utf8.count) + digits
      guard let id = OperationID(text) else { preconditionFailure("\(text) is no operation id") }
      ids.append(id)
    }
    self.ids = ids
    numbers = Dictionary(uniqueKeysWithValues: zip(ids, 0...255))
    let all = (WalkModel.firstKey...32).map { ($0, ObjectKey([WalkModel.value($0)])) }
    keys = all.map(\.1)
    keyNumbers = Dictionary(uniqueKeysWithValues: all.map { ($0.1, $0.0) })
  }

  func has(_ bug: PlantedBug) -> Bool { planted.contains(bug) }

  func id(_ number: UInt8) -> OperationID { ids[Int(number)] }
  func number(_ id: OperationID) -> UInt8 { numbers[id] ?? 0 }
  func key(_ number: Int8) -> ObjectKey { keys[Int(number - WalkModel.firstKey)] }
  func number(_ key: ObjectKey) -> Int8 { keyNumbers[key] ?? 0 }

  static func value(_ number: Int8) -> AttributeValue {
    if number == 0 { return .null }
    return .integer(number > 0 ? Int64(number) : Int64(Int16.min) - Int64(number))
  }

  static func number(_ value: AttributeValue) -> Int8 {
    guard case .integer(let integer) = value else { return 0 }
    return Int8(integer < -1_000 ? Int64(Int16.min) - integer : integer)
  }

  func values(_ row: WalkRow) -> [AttributeValue] {
    [
      WalkModel.value(row.key), .integer(Int64(row.value)), WalkModel.value(row.other),
    ]
  }

  func row(_ values: [AttributeValue]) -> WalkRow {
    WalkRow(
      key: WalkModel.number(values[0]), value: WalkModel.number(values[1]),
      other: WalkModel.number(values[2]))
  }

  func values(_ some: WalkValues) -> [Int: AttributeValue] {
    var values: [Int: AttributeValue] = [:]
    if some.key != WalkValues.absent { values[0] = WalkModel.value(some.key) }
    if some.value != WalkValues.absent { values[1] = .integer(Int64(some.value)) }
    if some.other != WalkValues.absent { values[2] = WalkModel.value(some.other) }
    return values
  }

  func some(_ values: [Int: AttributeValue]) -> WalkValues {
    var some = WalkValues()
    if let value = values[0] { some.key = WalkModel.number(value) }
    if let value = values[1] { some.value = WalkModel.number(value) }
    if let value = values[2] { some.other = WalkModel.number(value) }
    return some
  }

  static func kind(_ kind: WalkOperation.Kind) -> OperationKind {
    switch kind {
    case .create: .create
    case .update: .update
    case .delete: .delete
    }
  }

  static func kind(_ kind: OperationKind) -> WalkOperation.Kind {
    switch kind {
    case .create: .create
    case .update: .update
    case .delete: .delete
    }
  }

  private static func state(_ state: WalkOperation.State) -> PendingOperation.State {
    switch state {
    case .waiting: .waiting
    case .submitted: .submitted
    case .replayFailed: .replayFailed
    case .unknown: .unknown
    case .withdrawn: .withdrawn
    }
  }

  private static func state(_ state: PendingOperation.State) -> WalkOperation.State {
    switch state {
    case .waiting: .waiting
    case .submitted: .submitted
    case .replayFailed: .replayFailed
    case .unknown: .unknown
    case .withdrawn: .withdrawn
    }
  }

  func pending(_ operation: WalkOperation) -> PendingOperation {
    PendingOperation(
      sequence: Int64(operation.sequence), id: id(operation.id), entity: WalkModel.name,
      object: Int64(operation.object), kind: WalkModel.kind(operation.kind),
      key: key(operation.key), isTemporary: operation.isTemporary,
      changed: values(operation.changed), base: values(operation.base),
      chain: id(operation.chain), state: WalkModel.state(operation.state),
      wanted: PendingOperation.Wanted(rawValue: Int64(operation.wanted)) ?? .no,
      isSent: operation.isSent, counter: Int64(operation.counter),
      failure: Int64(operation.failure),
      root: LocalObject(WalkModel.name, Int64(operation.object)))
  }

  /// What the table of operations keeps of one that a machine gave. What is no longer in flight has
  /// no bytes and was not sent.
  func kept(_ pending: PendingOperation, over known: WalkOperation) -> WalkOperation {
    var operation = known
    operation.id = number(pending.id)
    operation.kind = WalkModel.kind(pending.kind)
    operation.key = number(pending.key)
    operation.isTemporary = pending.isTemporary
    operation.changed = some(pending.changed)
    operation.base = some(pending.base)
    operation.chain = number(pending.chain)
    operation.state = WalkModel.state(pending.state)
    operation.wanted = UInt8(pending.wanted.rawValue)
    operation.counter = UInt8(clamping: pending.counter)
    operation.failure = UInt8(clamping: pending.failure)
    if !pending.isInFlight {
      (operation.isSent, operation.isAcknowledged) = (false, false)
      operation.sealed = nil
    }
    return operation
  }
}

/// Which small world is walked.
package enum WalkKind: String, Sendable, CaseIterable {
  /// Nothing is there, and the app gives the keys.
  case newUnderOwnKeys
  /// Nothing is there, and the business system gives the keys.
  case newUnderGivenKeys
  /// Two objects are there and refer to each other.
  case bothThere
  /// One object is there, the business system gives the keys, and it remembers no operation.
  case oneThereForgetful

  var keyOrigin: KeyOrigin {
    self == .newUnderGivenKeys || self == .oneThereForgetful ? .businessSystem : .app
  }

  /// The business system remembers what it did, and says so when it is asked.
  var remembers: Bool { self != .oneThereForgetful }

  var start: WalkWorld {
    var world = WalkWorld()
    switch self {
    case .newUnderOwnKeys, .newUnderGivenKeys: break
    case .bothThere:
      world.business = [WalkRow(key: 1, other: 2), WalkRow(key: 2, other: 1)]
    case .oneThereForgetful: world.business = [WalkRow(key: 1)]
    }
    world.cache = world.business
    world.device.objects = world.business.enumerated().map { place, row in
      WalkObject(number: UInt8(place + 1), visible: row, image: row)
    }
    return world
  }
}
