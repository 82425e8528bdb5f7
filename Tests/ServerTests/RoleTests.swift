import FerryConnector
import FerryModel
import FerryWire
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Sales and their lines are read by the sales and office roles, changed by the office; anybody may
/// read a depot.
@Suite("What roles allow") struct RoleTests {
  private static func entity(
    _ name: String, _ attributes: [(String, AttributeType)], roles: [Permission: [String]],
    partition: PartitionRule? = nil, relationships: [Relationship] = [],
    performs: [String]? = nil
  ) -> Entity {
    Entity(
      name: name, table: name,
      attributes: attributes.map {
        Attribute(name: $0.0, column: $0.0, type: $0.1, isNullable: $0.1.isBig)
      }, key: [0], keyOrigin: .app, relationships: relationships,
      operations: performs == nil ? [.create, .update, .delete] : [.create],
      partition: partition, group: "sales", performs: performs, roles: EntityRoles(roles),
      allowsBlindWrites: true)
  }

  private static let rule = PartitionRule.columns([
    PartitionColumn(attribute: "tenant", source: .claim("tenant"))
  ])
  static let depot = entity(
    "Depot", [("code", .string), ("tenant", .string)], roles: [:], partition: rule)
  static let sale = entity(
    "Sale", [("id", .int), ("tenant", .string)],
    roles: [
      .read: ["sales", "office"], .create: ["sales"], .update: ["office"], .delete: ["office"],
    ], partition: rule)
  static let line = entity(
    "Line", [("id", .int), ("sale", .int), ("scan", .bigString)], roles: [.read: ["office"]],
    partition: .through(relationship: "sale"),
    relationships: [
      Relationship(name: "sale", target: "Sale", attributes: ["sale"], targetAttributes: ["id"])
    ])
  static let notice = entity(
    "Notice", [("id", .int), ("text", .string)], roles: [.read: ["sales"]])
  static let closing = entity(
    "Closing", [("id", .int)], roles: [.perform: ["office"]], performs: ["UPDATE Sale SET id = :id"]
  )
  static let package = Package(
    name: "roles", version: "1.0", entities: [depot, sale, line, notice, closing],
    groups: [SynchronizationGroup(name: "sales")])
  private static let scan = BigReference(
    sizeBytes: 3, digest: String(repeating: "ab", count: 32))

  private func bench() throws -> Bench {
    let bench = try Bench(RoleTests.package)
    bench.business.put(RoleTests.depot, [.text("BASEL"), .text("K01")])
    for (id, tenant) in [(Int64(1), "K01"), (2, "A07")] {
      bench.business.put(RoleTests.sale, [.integer(id), .text(tenant)])
      bench.business.put(
        RoleTests.line, [.integer(id), .integer(id), .text(RoleTests.scan.description)])
    }
    bench.business.put(RoleTests.notice, [.integer(1), .text("stock on Friday")])
    try bench.load()
    return bench
  }

  private func identity(_ bench: Bench, _ roles: [String], user: String = "anna") -> Identity {
    Identity(
      user: user, device: nil, roles: roles, claims: ["tenant": ["K01"]],
      expires: bench.clock.now.advanced(by: .seconds(900)))
  }

  private func names(_ device: Device) -> [String] {
    device.rows.keys.map { "\($0.entity) \($0.key.text)" }.sorted()
  }

  private func answer(
    _ device: Device, _ entity: Entity, _ kind: OperationKind, _ key: ObjectKey?,
    _ changed: [Int: AttributeValue] = [:]
  ) throws -> String {
    let change = device.bench.operation(entity, kind, key, changed: changed)
    device.open = [change.0]
    try device.exchange([change.1])
    try device.bench.replay()
    try device.exchange()
    return said(device.answers[change.0])
  }

  private func said(_ answer: Answer?) -> String {
    guard let answer else { return "nothing" }
    guard let record = answer.logRecords.first else { return "\(answer.outcome)" }
    return "\(record.code) \(record.message)"
  }

  @Test(
    "A device gets the rows that one of its user's roles may read, in the user's partitions only",
    arguments: [
      ([], ["Depot \"BASEL\""]),
      (["sales"], ["Depot \"BASEL\"", "Notice 1", "Sale 1"]),
      (["office"], ["Depot \"BASEL\"", "Line 1", "Sale 1"]),
      (["\u{17F}ales", "office "], ["Depot \"BASEL\""]),
    ])
  func read(roles: [String], expected: [String]) throws {
    let bench = try bench()
    let device = try Device(bench, "phone", identity(bench, roles)).exchange()
    #expect(names(device) == expected)
  }

  @Test("A content is given to who may read its row")
  func content() throws {
    let bench = try bench()
    for (roles, isGiven) in [(["sales"], false), (["office"], true)] {
      let question = ContentQuestion(
        entity: "Line", key: ObjectKey([.integer(1)]), attribute: "scan",
        wanted: nil, stretch: ContentStretch(start: 0))
      let found = try bench.service.reference(question, for: identity(bench, roles))
      switch found {
      case .success: #expect(isGiven, "\(roles)")
      case .failure(let refusal):
        #expect(!isGiven, "\(roles)")
        #expect(refusal.status == 404)
      }
    }
  }

  @Test("Each operation takes its own role beside that of reading")
  func operations() throws {
    let bench = try bench()
    let none = try Device(bench, "a", identity(bench, [], user: "nina")).exchange()
    let sales = try Device(bench, "b", identity(bench, ["sales"], user: "sam")).exchange()
    let office = try Device(bench, "c", identity(bench, ["office"], user: "olga")).exchange()
    let (first, tenant) = (ObjectKey([.integer(1)]), [1: AttributeValue.text("K01")])
    let read = "403 The roles of this user do not allow to read Sale."
    #expect(try answer(none, RoleTests.sale, .update, first, tenant) == read)
    // The same where there is no such object.
    #expect(try answer(none, RoleTests.sale, .delete, ObjectKey([.integer(77)])) == read)
    let new: [Int: AttributeValue] = [0: .integer(5), 1: .text("K01")]
    #expect(
      try answer(office, RoleTests.sale, .create, ObjectKey([.integer(5)]), new)
        == "403 The roles of this user do not allow to create Sale.")
    #expect(
      try answer(sales, RoleTests.sale, .create, ObjectKey([.integer(5)]), new) == "replayResult")
    #expect(
      try answer(sales, RoleTests.sale, .update, first, tenant)
        == "403 The roles of this user do not allow to update Sale.")
    #expect(try answer(office, RoleTests.sale, .update, first, tenant) == "replayResult")
    #expect(
      try answer(sales, RoleTests.sale, .delete, first)
        == "403 The roles of this user do not allow to delete Sale.")
    #expect(bench.business.rows["Sale"]?[first] != nil)
    #expect(try answer(office, RoleTests.sale, .delete, first) == "replayResult")
    #expect(
      try answer(sales, RoleTests.closing, .create, ObjectKey([.integer(5)]), [0: .integer(5)])
        == "403 The roles of this user do not allow to perform Closing.")
    #expect(
      try answer(office, RoleTests.closing, .create, ObjectKey([.integer(5)]), [0: .integer(5)])
        == "replayResult")
    // A role opens no partition of somebody else.
    #expect(
      try answer(office, RoleTests.sale, .delete, ObjectKey([.integer(2)]))
        == "403 This Sale is not among the user's objects.")
  }

  @Test("One member without the role refuses its group, and nothing of the group is done")
  func group() throws {
    for (roles, outcomes) in [
      (["sales"], ["notTried", "403 The roles of this user do not allow to delete Sale."]),
      (["sales", "office"], ["replayResult", "replayResult"]),
    ] {
      let bench = try bench()
      let device = try Device(bench, "phone", identity(bench, roles)).exchange()
      let chain = OperationID(bench.newID())!
      let group = [
        bench.operation(
          RoleTests.sale, .create, ObjectKey([.integer(8)]),
          changed: [0: .integer(8), 1: .text("K01")], chain: chain, count: 2),
        bench.operation(
          RoleTests.sale, .delete, ObjectKey([.integer(1)]), chain: chain, position: 1, count: 2),
      ]
      device.open = group.map(\.0)
      try device.exchange(group.map(\.1))
      try bench.replay()
      try device.exchange()
      #expect(group.map { said(device.answers[$0.0]) } == outcomes)
      let isDone = roles.count == 2
      #expect((bench.business.rows["Sale"]?[ObjectKey([.integer(8)])] != nil) == isDone)
      #expect((bench.business.rows["Sale"]?[ObjectKey([.integer(1)])] == nil) == isDone)
    }
  }

  @Test(
    "A role that is given brings the rows with the next exchange, one that is taken removes them")
  func change() throws {
    let bench = try bench()
    let users = RoleUsers(["sales"])
    bench.service.provider = users
    // The token goes on saying what it said.
    let device = try Device(bench, "phone", identity(bench, ["sales"])).exchange()
    #expect(names(device) == ["Depot \"BASEL\"", "Notice 1", "Sale 1"])
    users.roles = ["sales", "office"]
    try device.exchange()
    #expect(names(device) == ["Depot \"BASEL\"", "Line 1", "Notice 1", "Sale 1"])
    users.roles = ["office"]
    try device.exchange()
    #expect(names(device) == ["Depot \"BASEL\"", "Line 1", "Sale 1"])
    // A user who is gone gets nothing, whatever the token says.
    users.roles = nil
    try device.exchange()
    #expect(names(device) == [])
  }

  @Test("An operation is judged by the roles with which it arrived and by those of now")
  func now() throws {
    for (then, now, expected) in [
      (["office"], ["sales"], "403 The roles of this user do not allow to update Sale."),
      (["office"], [], "403 The roles of this user do not allow to read Sale."),
      (["sales"], ["office"], "403 The roles of this user do not allow to update Sale."),
      (["office"], ["office"], "replayResult"),
    ] as [([String], [String], String)] {
      let bench = try bench()
      let users = RoleUsers(then)
      bench.service.provider = users
      let device = try Device(bench, "phone", identity(bench, then)).exchange()
      let change = bench.operation(
        RoleTests.sale, .update, ObjectKey([.integer(1)]), changed: [1: .text("K01")])
      device.open = [change.0]
      try device.exchange([change.1])
      users.roles = now
      // What arrived is kept with its roles over a restart.
      try bench.restart()
      bench.service.provider = users
      try device.exchange()
      try bench.replay()
      try device.exchange()
      #expect(said(device.answers[change.0]) == expected, "\(then), now \(now)")
    }
  }

  @Test("A role that goes away while the operation is performed refuses it in the transaction")
  func inTransaction() throws {
    for (now, code) in [([], 403), (["sales"], nil)] as [([String], Int?)] {
      let bench = try bench()
      let users = RoleUsers(["sales"])
      bench.service.provider = users
      let device = try Device(bench, "phone", identity(bench, ["sales"])).exchange()
      let change = bench.operation(
        RoleTests.notice, .update, ObjectKey([.integer(1)]), changed: [1: .text("stock on Monday")])
      device.open = [change.0]
      try device.exchange([change.1])
      let task = try #require(try bench.service.nextReplay())
      users.roles = now
      var step = task.step
      while let report = bench.answer(step) { step = try bench.service.report(task, report) }
      try device.exchange()
      #expect(device.answers[change.0]?.logRecords.first?.code == code)
    }
  }

  @Test("A user's role that no entity names is told where an operator looks")
  func unknownRole() {
    let check = ClaimCheck(RoleTests.package)
    let claims = ["tenant": ["K01"]]
    #expect(
      check.faults(of: UserRecord(name: "anna", roles: ["sale", "office"], claims: claims))
        == ["No entity names the role sale. Did you mean \"sales\"?"])
    #expect(check.faults(of: UserRecord(name: "anna", roles: ["office"], claims: claims)) == [])
  }
}

/// A provider whose one user's roles change; nil: the user is gone.
private final class RoleUsers: AuthenticationProvider {
  private let kept: Mutex<[String]?>

  init(_ roles: [String]?) { kept = Mutex(roles) }

  var roles: [String]? {
    get { kept.withLock { $0 } }
    set { kept.withLock { $0 = newValue } }
  }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user)
  }

  func record(of user: String) -> UserRecord? {
    roles.map { UserRecord(name: user, roles: $0, claims: ["tenant": ["K01"]]) }
  }
}
