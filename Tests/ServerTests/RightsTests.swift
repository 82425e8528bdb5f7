import FerryConnector
import FerryModel
import FerryWire
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

/// Each refusal stands beside its control: the same operation by the one who may do it.
@Suite("Whose rows an operation may touch") struct RightsTests {
  /// KELVIN SIGN, which Swift's `String` takes for a "K".
  private static let kelvin = "\u{212A}"

  private static let depot = Shop.entity(
    "Depot", [("code", .string, false), ("tenant", .string, false)], key: [0],
    partition: .columns([PartitionColumn(attribute: "tenant", source: .claim("tenant"))]))
  private static let item = Shop.entity(
    "Item", [("id", .int, false), ("depot", .string, false)], key: [0],
    relationships: [
      Relationship(
        name: "depot", target: "Depot", attributes: ["depot"], targetAttributes: ["code"])
    ], partition: .through(relationship: "depot"))
  private static let package = Package(
    name: "depots", version: "1.0", entities: [depot, item],
    groups: [SynchronizationGroup(name: "sales")])

  private func bench() throws -> Bench {
    let bench = try Bench(RightsTests.package)
    bench.business.put(RightsTests.depot, [.text("KLOTEN"), .text("K01")])
    bench.business.put(RightsTests.item, [.integer(1), .text("KLOTEN")])
    try bench.load()
    return bench
  }

  private func device(_ bench: Bench, _ tenant: String, user: String = "anna") -> Device {
    let identity = Identity(
      user: user, device: nil, claims: ["tenant": [tenant]],
      expires: bench.clock.now.advanced(by: .seconds(900)))
    return Device(bench, "phone of \(user)", identity)
  }

  /// Sends a group that makes a depot and an item in the depot `named`.
  private func make(
    _ depot: String, itemIn named: String, by device: Device, tenant: String
  ) throws -> [Answer] {
    let bench = device.bench
    let chain = OperationID(bench.newID())!
    let group = [
      bench.operation(
        RightsTests.depot, .create, ObjectKey([.text(depot)]),
        changed: [0: .text(depot), 1: .text(tenant)], chain: chain, count: 2),
      bench.operation(
        RightsTests.item, .create, ObjectKey([.integer(9)]),
        changed: [0: .integer(9), 1: .text(named)], chain: chain, position: 1, count: 2),
    ]
    device.open = group.map(\.0)
    try device.exchange(group.map(\.1))
    try bench.replay()
    try device.exchange()
    return group.compactMap { device.answers[$0.0] }
  }

  @Test("A new parent whose key only looks like another tenant's does not open that one's parent")
  func equivalentParent() throws {
    let bench = try bench()
    let other = RightsTests.kelvin + "LOTEN"
    let answers = try make(
      other, itemIn: "KLOTEN", by: try device(bench, "A07").exchange(), tenant: "A07")
    #expect(answers.map(\.outcome) == [.notTried, .replayFailed])
    #expect(answers.last?.logRecords.first?.code == 403)
    #expect(bench.business.rows["Item"]?.count == 1)
    let allowed = try make(
      other, itemIn: other, by: try device(bench, "A07", user: "otto").exchange(), tenant: "A07")
    #expect(allowed.map(\.outcome) == [.replayResult, .replayResult])
  }

  @Test("A tenant whose name only looks like another's gets none of that one's rows")
  func equivalentTenant() throws {
    let bench = try bench()
    let owner = try device(bench, "K01", user: "bob").exchange()
    #expect(owner.rows.count == 2)
    let stranger = try device(bench, RightsTests.kelvin + "01", user: "eve").exchange()
    #expect(stranger.rows.isEmpty)
    #expect(try device(bench, "K01", user: "carl").exchange().rows.count == 2)
  }

  @Test("An operation's id is its sender's, also where another user's name only looks the same")
  func equivalentUser() throws {
    let bench = try bench()
    let owner = try device(bench, "K01", user: "Karl").exchange()
    let change = bench.operation(
      RightsTests.item, .update, ObjectKey([.integer(1)]), changed: [1: .text("KLOTEN")])
    owner.open = [change.0]
    try owner.exchange([change.1])
    let stranger = device(bench, "K01", user: RightsTests.kelvin + "arl")
    stranger.open = [change.0]
    try stranger.exchange()
    #expect(stranger.welcome?.operations.map(\.state) == [.neverSeen])
    try owner.exchange()
    #expect(owner.welcome?.operations.map(\.state) == [.inWork])
  }

  @Test("The user file keeps users apart whose names only look the same")
  func equivalentNames() throws {
    let json = """
      {"users": [{"name": "Karl", "passwordHash": "$a", "claims": {"tenant": "K01"}},
        {"name": "\(RightsTests.kelvin)arl", "passwordHash": "$b", "claims": {"tenant": "A07"}}]}
      """
    let users = try UserFile(Array(json.utf8), name: "users.json") { $1 == "$\($0)" }
    #expect(try users.authenticate(user: "Karl", password: "a").claims == ["tenant": ["K01"]])
    #expect(users.record(of: RightsTests.kelvin + "arl")?.claims == ["tenant": ["A07"]])
  }

  @Test("Each member of a group is judged by the rights with which it arrived, not by the last's")
  func mixedClaims() throws {
    for (early, expected) in [("A07", Answer.Outcome.replayFailed), ("K01", .replayResult)] {
      let bench = try bench()
      bench.business.put(RightsTests.depot, [.text("BERN"), .text("A07")])
      try bench.load()
      let chain = OperationID(bench.newID())!
      let foreign = bench.operation(
        RightsTests.item, .delete, ObjectKey([.integer(1)]), chain: chain, count: 2)
      let own = bench.operation(
        RightsTests.item, .create, ObjectKey([.integer(7)]),
        changed: [0: .integer(7), 1: .text("KLOTEN")], chain: chain, position: 1, count: 2)
      let late = try device(bench, early).exchange()
      late.open = [foreign.0]
      try late.exchange([foreign.1])
      let now = try device(bench, "K01").exchange()
      now.open = [foreign.0, own.0]
      try now.exchange([own.1])
      try bench.replay()
      try now.exchange()
      #expect(now.answers[foreign.0]?.outcome == expected, "it arrived with \(early)")
    }
  }

  private static let order = Entity(
    name: "Order", table: "Order",
    attributes: [
      Attribute(name: "id", column: "id", type: .long, isNullable: false),
      Attribute(name: "city", column: "city", type: .string, isNullable: true),
    ], key: [0], keyOrigin: .businessSystem, relationships: [],
    operations: [.create, .update, .delete], partition: nil, group: "sales")

  @Test("A create that names a key which the business system gives is refused with 422")
  func chosenKey() throws {
    let bench = try Bench(
      Package(
        name: "orders", version: "1.0", entities: [RightsTests.order],
        groups: [SynchronizationGroup(name: "sales")]))
    try bench.load()
    let device = try Device(bench).exchange()
    for number in [Int64.max, 5, 0, -1] {
      let chosen = bench.operation(
        RightsTests.order, .create, ObjectKey([.integer(number)]), changed: [0: .integer(number)])
      device.open = [chosen.0]
      try device.exchange([chosen.1])
      #expect(device.stored?.refused.first?.logRecords.first?.code == 422, "\(number)")
    }
    let given = bench.operation(RightsTests.order, .create, nil, changed: [1: .text("Oslo")])
    device.open = [given.0]
    try device.exchange([given.1])
    try bench.replay()
    try device.exchange()
    #expect(device.answers[given.0]?.newKey == ObjectKey([.integer(1_000)]))
    #expect(bench.business.rows["Order"]?.count == 1)
  }

  @Test("A parameter within a claim opens nothing outside that claim")
  func parameterWithinClaim() throws {
    let depot = Shop.entity(
      "Depot", [("code", .string, false), ("tenant", .string, false)], key: [0],
      partition: .columns([
        PartitionColumn(attribute: "tenant", source: .parameter("tenant", within: "tenants"))
      ]))
    let package = Package(
      name: "chosen", version: "1.0", entities: [depot],
      groups: [SynchronizationGroup(name: "sales")])
    let rights = Rights(
      rules: try PartitionRules(package), user: "anna", roles: [],
      claims: ["tenants": ["A07"]],
      sets: [["tenant": "K01"]])
    func place(_ tenant: String) throws -> Place {
      let rule = try PartitionRules(package).rules[0].root.rule
      return Place(group: "sales", rule: rule, values: ObjectKey([.text(tenant)]).text)
    }
    #expect(rights.include(try place("A07")))
    #expect(!rights.include(try place("K01")))
  }

  /// What a user's change of item 1 comes to.
  private func change(
    _ bench: Bench, _ device: Device, base: String = "KLOTEN", meanwhile: () -> Void = {}
  ) throws -> Answer? {
    let change = bench.operation(
      RightsTests.item, .update, ObjectKey([.integer(1)]), changed: [1: .text(base)],
      base: [1: .text(base)])
    device.open = [change.0]
    try device.exchange([change.1])
    meanwhile()
    try bench.replay()
    try device.exchange()
    return device.answers[change.0]
  }

  @Test("In the window before a load, a row that moved is the new owner's, and 403 has no values")
  func movedMeanwhile() throws {
    let bench = try bench()
    let former = try device(bench, "K01", user: "bob").exchange()
    // The cache still has it in K01.
    bench.business.put(RightsTests.depot, [.text("BASEL"), .text("A07")])
    bench.business.put(RightsTests.item, [.integer(1), .text("BASEL")])
    let refused = try #require(try change(bench, former))
    #expect(refused.logRecords.map(\.code) == [403])
    #expect(refused.logRecords.allSatisfy { !$0.message.contains("BASEL") })
    #expect(bench.business.rows["Item"]?[ObjectKey([.integer(1)])]?[1] == .text("BASEL"))
    // What was refused is read again at once, and leaves the device.
    try former.exchange()
    #expect(former.rows.keys.allSatisfy { !"\($0)".contains("Item") })
    try bench.load()
    let owner = try device(bench, "A07", user: "otto").exchange()
    #expect(try change(bench, owner, base: "BASEL")?.outcome == .replayResult)
  }

  @Test("A parent that moved takes its children along before any load")
  func parentMovedMeanwhile() throws {
    for (tenant, outcome) in [("A07", Answer.Outcome.replayFailed), ("K01", .replayResult)] {
      let bench = try bench()
      let former = try device(bench, "K01", user: "bob").exchange()
      bench.business.put(RightsTests.depot, [.text("KLOTEN"), .text(tenant)])
      #expect(try change(bench, former)?.outcome == outcome, "the depot is of \(tenant)")
    }
  }

  @Test("A user is judged by the rights of now, also where the operation arrived with others")
  func rightsOfNow() throws {
    for (now, outcome) in [
      (["A07"], Answer.Outcome.replayFailed), (nil, .replayFailed),
      (["K01", "A07"], .replayResult),
    ] as [([String]?, Answer.Outcome)] {
      let bench = try bench()
      let users = Users(["K01"])
      bench.service.provider = users
      let device = try device(bench, "K01").exchange()
      let answer = try change(bench, device) { users.tenants = now }
      #expect(answer?.outcome == outcome, "now: \(now ?? [])")
      #expect(outcome == .replayResult || answer?.logRecords.first?.code == 403)
    }
  }

  @Test("Claims that were taken away take their rows away with the next exchange")
  func claimsOfNow() throws {
    let bench = try bench()
    let users = Users(["K01"])
    bench.service.provider = users
    let device = try device(bench, "K01").exchange()
    #expect(device.rows.count == 2)
    // The token says K01 still.
    users.tenants = ["A07"]
    try device.exchange()
    #expect(device.rows.isEmpty)
    users.tenants = ["K01"]
    try device.exchange()
    #expect(device.rows.count == 2)
  }

  @Test(
    "Claims that change in the middle of a download end it with a new welcome, by their bytes",
    arguments: [[], [kelvin + "01"]])
  func claimsInTheMiddle(now: [String]) throws {
    let bench = try bench()
    let users = Users(["K01"])
    bench.service.provider = users
    let device = self.device(bench, "K01")
    let exchange = bench.service.exchange(device.body(), by: device.identity)
    // The welcome is out, and no page.
    try device.drain(exchange, atMost: 1)
    #expect(device.welcome != nil && device.rows.isEmpty)
    users.tenants = now
    #expect(try device.drain(exchange))
    #expect(device.rows.isEmpty)
    #expect(device.checkpoint != nil)
  }

  @Test("A foreign object and one that never was are refused alike")
  func missingLikeForeign() throws {
    let bench = try bench()
    let stranger = try device(bench, "A07").exchange()
    var said: Set<String> = []
    for number in [Int64(1), 999] {
      for kind in [OperationKind.update, .delete] {
        let change = bench.operation(
          RightsTests.item, kind, ObjectKey([.integer(number)]),
          changed: kind == .update ? [1: .text("KLOTEN")] : [:], base: [1: .text("KLOTEN")])
        stranger.open = [change.0]
        try stranger.exchange([change.1])
        try bench.replay()
        try stranger.exchange()
        let record = try #require(stranger.answers[change.0]?.logRecords.first)
        said.insert("\(record.code) \(record.message)")
      }
    }
    #expect(said == ["403 This Item is not among the user's objects."])
    #expect(bench.business.performs == 0)
    #expect(bench.business.rows["Item"]?.count == 1)
  }

  @Test("An update of what the business system has deleted is answered 404, not 403")
  func deletedMeanwhile() throws {
    let bench = try bench()
    let owner = try device(bench, "K01", user: "bob").exchange()
    bench.business.remove(RightsTests.item, ObjectKey([.integer(1)]))
    try bench.load()
    let change = bench.operation(
      RightsTests.item, .update, ObjectKey([.integer(1)]), changed: [1: .text("KLOTEN")])
    owner.open = [change.0]
    try owner.exchange([change.1])
    try bench.replay()
    try owner.exchange()
    #expect(owner.answers[change.0]?.logRecords.first?.code == 404)
  }

  @Test("One member of a group that is refused at the door keeps the others out")
  func refusedMember() throws {
    let bench = try bench()
    let owner = try device(bench, "K01", user: "bob").exchange()
    let chain = OperationID(bench.newID())!
    let good = bench.operation(
      RightsTests.item, .delete, ObjectKey([.integer(1)]), chain: chain, count: 2)
    let bad = bench.operation(
      Shop.product, .create, ObjectKey([.integer(1)]), chain: chain, position: 1, count: 2)
    owner.open = [good.0, bad.0]
    try owner.exchange([good.1, bad.1])
    #expect(owner.stored?.ids == [])
    #expect(Set(owner.stored?.refused.map(\.id) ?? []) == [good.0, bad.0])
    try bench.replay()
    #expect(bench.business.rows["Item"]?.count == 1)
  }

  @Test("The sessions of a user who was removed stay over when the name comes back")
  func removedUser() throws {
    let bench = try bench()
    func users(_ name: String) throws -> UserFile {
      let json = #"{"users": [{"name": "\#(name)", "passwordHash": "$a"}]}"#
      return try UserFile(Array(json.utf8), name: "users.json") { _, _ in true }
    }
    let first = try bench.service.login(UserRecord(name: "anna"), device: "phone")
    let second = try bench.service.renew(
      first.refreshToken, device: "phone", provider: try users("anna"))
    let other = try bench.service.login(UserRecord(name: "anna"), device: "tablet")
    #expect(throws: ServerError.self) {
      try bench.service.renew(second.refreshToken, device: "phone", provider: try users("bob"))
    }
    #expect(throws: ServerError.self) {
      try bench.service.renew(other.refreshToken, device: "tablet", provider: try users("anna"))
    }
  }
}

/// A provider whose one user changes.
private final class Users: AuthenticationProvider {
  private let kept: Mutex<[String]?>

  init(_ tenants: [String]?) { kept = Mutex(tenants) }

  var tenants: [String]? {
    get { kept.withLock { $0 } }
    set { kept.withLock { $0 = newValue } }
  }

  func authenticate(user: String, password: String) throws(ServerError) -> UserRecord {
    UserRecord(name: user)
  }

  func record(of user: String) -> UserRecord? {
    tenants.map { UserRecord(name: user, claims: ["tenant": $0]) }
  }
}
