import FerryConnector
import FerryModel
import FerryTestTraits
import FerryWire
import Testing

@testable import FerryServer

/// Where the value of a partition column comes from, if several could give it.
@Suite("Sources of what a device asks for") struct ParameterSourceTests {
  private static func package(default own: String?, ofKey key: String?) -> Package {
    Package(
      name: "areas", version: "1.0",
      entities: [
        Shop.entity(
          "Depot", [("code", .string, false), ("area", .string, false)], key: [0],
          partition: .columns([
            PartitionColumn(attribute: "area", source: .parameter("area", within: nil))
          ]))
      ], groups: [SynchronizationGroup(name: "sales")],
      parameters: [
        Parameter(
          name: "area", type: .string, defaultValue: own.map { AttributeValue.text($0) } ?? .null,
          from: "home"),
        Parameter(
          name: "home", type: .string, kind: .client,
          defaultValue: key.map { AttributeValue.text($0) } ?? .null),
      ])
  }

  /// The depots that a device gets; there is one in each of four areas.
  private func depots(
    default own: String?, ofKey key: String?, user: String? = nil, sets: [[String: String]] = []
  ) throws -> [String] {
    let package = Self.package(default: own, ofKey: key)
    let bench = try Bench(package)
    for area in ["north", "south", "west", "east"] {
      bench.business.put(package.entities[0], [.text("in " + area), .text(area)])
    }
    try bench.load()
    let device = Device(bench)
    device.parameters = SubscriptionParameters(
      sets: sets, keys: user.map { ["home": $0] } ?? [:])
    try device.exchange()
    return device.shown.compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
  }

  @Test(
    "The set comes first, then the user's value of the key, its default, and the parameter's own",
    .reference("facts/2.3", "facts/1.5"))
  func precedence() throws {
    let all = (own: "north", key: "west")
    #expect(
      try depots(
        default: all.own, ofKey: all.key, user: "south", sets: [["area": "east"], [:]])
        == ["in east", "in south"])
    #expect(try depots(default: all.own, ofKey: all.key, user: "south") == ["in south"])
    #expect(try depots(default: all.own, ofKey: all.key) == ["in west"])
    #expect(try depots(default: all.own, ofKey: nil) == ["in north"])
    #expect(try depots(default: all.own, ofKey: nil, user: "south") == ["in south"])
    #expect(try depots(default: nil, ofKey: nil) == [])
  }

  private static let land = Shop.entity(
    "Land", [("id", .int, false), ("country", .string, false), ("level", .int, false)],
    key: [0],
    partition: .columns([
      PartitionColumn(attribute: "country", source: .constant("CH")),
      PartitionColumn(attribute: "level", source: .constant("3")),
    ]))

  @Test(
    "A constant gives everyone the rows with this value and no others, and bounds what is changed",
    .reference("facts/2.3"))
  func constant() throws {
    let land = Self.land
    let bench = try Bench(
      Package(
        name: "lands", version: "1.0", entities: [land],
        groups: [SynchronizationGroup(name: "sales")]))
    for (id, country, level) in [(1, "CH", 3), (2, "DE", 3), (3, "CH", 4), (4, "ch", 3)] {
      bench.business.put(
        land, [.integer(Int64(id)), .text(country), .integer(Int64(level))])
    }
    try bench.load()
    let device = try Device(bench).exchange()
    #expect(device.shown == [#"Land 1 [1,"CH",3]"#])
    func create(_ id: Int64, _ country: String) throws -> Answer {
      let (operation, bytes) = bench.operation(
        land, .create, ObjectKey([.integer(id)]),
        changed: [0: .integer(id), 1: .text(country), 2: .integer(3)])
      device.open.append(operation)
      try device.exchange([bytes])
      try bench.replay()
      try device.exchange()
      return try #require(device.answers[operation])
    }
    let refused = try create(8, "DE")
    #expect(refused.outcome == .replayFailed && refused.logRecords.first?.code == 403)
    #expect(try create(9, "CH").outcome == .replayResult)
    #expect(device.shown == [#"Land 1 [1,"CH",3]"#, #"Land 9 [9,"CH",3]"#])
  }
}
