import FerryConnector
import FerryModel
import FerryWire
import FerryWorld
import Testing

@testable import FerryServer

/// Visits of an employee, which devices have from 2 days ago to 3 days ahead, and their tasks. The day
/// of the server begins at 03:00 UTC.
enum Visits {
  static let window = PartitionWindow(attribute: "day", from: -2, to: 3, minute: 180)
  static let visit = Entity(
    name: "Visit", table: "Visit",
    attributes: [
      Attribute(name: "id", column: "id", type: .int, isNullable: false),
      Attribute(name: "employee", column: "employee", type: .int, isNullable: true),
      Attribute(name: "day", column: "day", type: .date, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: .columns([PartitionColumn(attribute: "employee", source: .claim("employee"))]),
    group: "sales", allowsBlindWrites: true, window: window)
  static let task = Shop.entity(
    "Task", [("id", .int, false), ("visit", .int, true), ("text", .string, true)], key: [0],
    relationships: [
      Relationship(name: "visit", target: "Visit", attributes: ["visit"], targetAttributes: ["id"])
    ], partition: .through(relationship: "visit"))
  /// Everybody's, and of those days too.
  static let news = Entity(
    name: "News", table: "News",
    attributes: [
      Attribute(name: "id", column: "id", type: .int, isNullable: false),
      Attribute(name: "at", column: "at", type: .dateTime, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [.create, .update, .delete],
    partition: nil, group: "sales", allowsBlindWrites: true,
    window: PartitionWindow(attribute: "at", from: -2, to: 3, minute: 180))
  static let package = Package(
    name: "visits", version: "1.0", entities: [visit, task, news],
    groups: [SynchronizationGroup(name: "sales")])

  static func visit(_ id: Int64, _ employee: Int64, _ day: String?) -> [AttributeValue] {
    [.integer(id), .integer(employee), day.map(AttributeValue.text) ?? .null]
  }

  static func task(_ id: Int64, _ visit: Int64) -> [AttributeValue] {
    [.integer(id), .integer(visit), .text("t")]
  }

  static func news(_ id: Int64, _ moment: String) -> [AttributeValue] {
    [.integer(id), .text(moment)]
  }
}

/// A bench of visits. It begins on 14 November 2023 at 22:13:20.
struct WindowBench {
  let bench: Bench
  static let day: Int64 = 86_400

  init(limits: ServiceLimits = .standard, wrap: @escaping (any Store) -> any Store = { $0 }) throws
  {
    bench = try Bench(Visits.package, limits: limits, wrap: wrap)
  }

  func put(_ visits: (Int64, Int64, String?)...) {
    for (id, employee, day) in visits {
      bench.business.put(Visits.visit, Visits.visit(id, employee, day))
    }
  }

  /// To a quarter past three, so many days later.
  func pass(days: Int64) {
    let seconds = bench.clock.now.milliseconds / 1_000
    let today = seconds - seconds % WindowBench.day
    bench.clock.advance(today + days * WindowBench.day + 11_700 - seconds)
    bench.service.moveWindows()
  }

  func device(_ user: String = "anna", employees: [Int64] = [1]) -> Device {
    Device(bench, "phone of \(user)", bench.identity(user, employees: employees))
  }

  /// What a device has, as `Visit 1`.
  func names(_ device: Device) throws -> [String] {
    device.identity = bench.identity(
      device.identity.user,
      employees: device.identity.claims["employee"]?.compactMap(Int64.init) ?? [])
    return try device.exchange().rows.keys.map { "\($0.entity) \($0.key.text)" }.sorted()
  }

  /// Sends one operation and gives its answer.
  func answer(
    _ device: Device, _ entity: Entity, _ kind: OperationKind, _ key: Int64,
    _ changed: [Int: AttributeValue] = [:]
  ) throws -> Answer? {
    let (id, bytes) = bench.operation(
      entity, kind, ObjectKey([.integer(key)]), changed: changed)
    device.open = [id]
    try device.exchange([bytes])
    try bench.replay()
    try device.exchange()
    return device.answers[id]
  }
}

extension Answer {
  /// The code of its first log record; nil where there is none.
  var code: Int64? { logRecords.first.map { Int64($0.code) } }
}
