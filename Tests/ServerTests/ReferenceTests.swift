import FerryConnector
import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Rentals and the films that they name belong to a tenant each; some films are another tenant's.
@Suite("What an operation may refer to") struct ReferenceTests {
  private static let byTenant = PartitionRule.columns([
    PartitionColumn(attribute: "tenant", source: .claim("tenant"))
  ])

  private static func film(_ roles: [Permission: [String]] = [:], isOpen: Bool = false) -> Entity {
    Entity(
      name: "Film", table: "Film",
      attributes: [
        Attribute(name: "id", column: "id", type: .int, isNullable: false),
        Attribute(name: "tenant", column: "tenant", type: .string, isNullable: false),
        Attribute(name: "code", column: "code", type: .string, isNullable: false),
      ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
      partition: isOpen ? nil : byTenant, group: "sales", unique: [[2]], roles: EntityRoles(roles))
  }

  private static func rental(allowsAnyTarget: Bool = false, byCode: Bool = false) -> Entity {
    Shop.entity(
      "Rental",
      [
        ("id", .int, false), ("tenant", .string, false), ("film", byCode ? .string : .int, true),
        ("days", .int, true),
      ], key: [0],
      relationships: [
        Relationship(
          name: "film", target: "Film", attributes: ["film"],
          targetAttributes: [byCode ? "code" : "id"], allowsAnyTarget: allowsAnyTarget)
      ], partition: byTenant)
  }

  private let bench: Bench
  private let device: Device
  private let film: Entity
  private let rental: Entity

  private init(
    film: Entity = ReferenceTests.film(), rental: Entity = ReferenceTests.rental()
  ) throws {
    (self.film, self.rental) = (film, rental)
    bench = try Bench(
      Package(
        name: "rentals", version: "1.0", entities: [film, rental],
        groups: [SynchronizationGroup(name: "sales")]))
    let byCode = rental.attributes[2].type == .string
    for (id, tenant) in [(Int64(1), "K01"), (2, "A07"), (3, "K01")] {
      bench.business.put(film, [.integer(id), .text(tenant), .text("F\(id)")])
      // Rental 2 is the user's and names a film of another tenant: the business made it so.
      bench.business.put(
        rental,
        [.integer(id), .text("K01"), byCode ? .text("F\(id)") : .integer(id), .integer(1)])
    }
    try bench.load()
    let identity = Identity(
      user: "anna", device: nil, roles: ["sales"], claims: ["tenant": ["K01"]],
      expires: bench.clock.now.advanced(by: .seconds(900)))
    device = try Device(bench, "phone", identity).exchange()
  }

  init() throws { try self.init(film: ReferenceTests.film()) }

  /// The log record of the operation without what is its own, or how it ended well.
  private func perform(
    _ kind: OperationKind, _ id: Int64, _ changed: [Int: AttributeValue], meanwhile: () -> Void = {}
  ) throws -> String {
    var all = changed
    if kind == .create { all.merge([0: .integer(id), 1: .text("K01")]) { given, _ in given } }
    let change = bench.operation(rental, kind, ObjectKey([.integer(id)]), changed: all)
    device.open = [change.0]
    try device.exchange([change.1])
    meanwhile()
    try bench.replay()
    try device.exchange()
    guard let answer = device.answers[change.0] else { return "nothing" }
    guard let record = answer.logRecords.first else { return "\(answer.outcome)" }
    return "\(record.code) \(record.component) \(record.message) \(record.level)"
  }

  private static let refused =
    "403 Rental The film of this Rental is not among the user's objects. error"

  @Test("A reference to somebody else's object and to one that is not there are refused alike")
  func alike() throws {
    #expect(try perform(.create, 7, [2: .integer(2)]) == ReferenceTests.refused)
    #expect(try perform(.create, 7, [2: .integer(99)]) == ReferenceTests.refused)
    #expect(try perform(.update, 1, [2: .integer(2)]) == ReferenceTests.refused)
    #expect(try perform(.update, 1, [2: .integer(99)]) == ReferenceTests.refused)
    #expect(bench.business.rows["Rental"]?[ObjectKey([.integer(1)])]?[2] == .integer(1))
    #expect(try perform(.create, 7, [2: .integer(3)]) == "replayResult")
    #expect(try perform(.update, 1, [2: .integer(3)]) == "replayResult")
    #expect(try perform(.update, 1, [2: .null]) == "replayResult")
  }

  @Test("A reference that the operation does not change is not judged")
  func unchanged() throws {
    #expect(try perform(.update, 2, [3: .integer(5)]) == "replayResult")
    #expect(try perform(.update, 2, [2: .integer(2), 3: .integer(6)]) == "replayResult")
    #expect(try perform(.delete, 2, [:]) == "replayResult")
  }

  @Test("The object is judged as it is in the business system, not as the cache has it")
  func ofNow() throws {
    let came = try perform(.update, 1, [2: .integer(2)]) {
      bench.business.put(film, [.integer(2), .text("K01"), .text("F2")])
    }
    #expect(came == "replayResult")
    let went = try perform(.update, 1, [2: .integer(3)]) {
      bench.business.put(film, [.integer(3), .text("A07"), .text("F3")])
    }
    #expect(went == ReferenceTests.refused)
  }

  @Test("A new object may be named by what its group makes after it")
  func group() throws {
    let chain = OperationID(bench.newID())!
    let group = [
      bench.operation(
        film, .create, ObjectKey([.integer(8)]),
        changed: [0: .integer(8), 1: .text("K01"), 2: .text("F8")], chain: chain, count: 2),
      bench.operation(
        rental, .create, ObjectKey([.integer(8)]),
        changed: [0: .integer(8), 1: .text("K01"), 2: .integer(8)], chain: chain, position: 1,
        count: 2),
    ]
    device.open = group.map(\.0)
    try device.exchange(group.map(\.1))
    try bench.replay()
    try device.exchange()
    #expect(group.map { device.answers[$0.0]?.outcome } == [.replayResult, .replayResult])
  }

  @Test("What is unique beside the key is judged like the key")
  func unique() throws {
    let test = try ReferenceTests(rental: ReferenceTests.rental(byCode: true))
    #expect(try test.perform(.update, 1, [2: .text("F2")]) == ReferenceTests.refused)
    #expect(try test.perform(.update, 1, [2: .text("F99")]) == ReferenceTests.refused)
    #expect(try test.perform(.update, 1, [2: .text("F3")]) == "replayResult")
  }

  @Test("The model may allow any target; what everyone has takes no judging")
  func anyTarget() throws {
    let any = try ReferenceTests(rental: ReferenceTests.rental(allowsAnyTarget: true))
    #expect(try any.perform(.update, 1, [2: .integer(2)]) == "replayResult")
    let open = try ReferenceTests(film: ReferenceTests.film(isOpen: true))
    #expect(try open.perform(.update, 1, [2: .integer(2)]) == "replayResult")
  }

  @Test("An object that no role of the user may read cannot be referred to")
  func roles() throws {
    let office = try ReferenceTests(film: ReferenceTests.film([.read: ["office"]], isOpen: true))
    #expect(try office.perform(.update, 1, [2: .integer(3)]) == ReferenceTests.refused)
    let sales = try ReferenceTests(film: ReferenceTests.film([.read: ["sales"]], isOpen: true))
    #expect(try sales.perform(.update, 1, [2: .integer(3)]) == "replayResult")
  }
}
