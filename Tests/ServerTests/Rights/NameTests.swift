import FerryModel
import FerryWire
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Names and keys are taken as their bytes, and only those that are free")
struct NameTests {
  @Test("A claim whose name only looks like the rule's gives nothing")
  func equivalentClaimName() throws {
    let depot = Shop.entity(
      "Depot", [("code", .string, false), ("tenant", .string, false)], key: [0],
      partition: .columns([PartitionColumn(attribute: "tenant", source: .claim("K"))]))
    let package = Package(
      name: "named", version: "1.0", entities: [depot],
      groups: [SynchronizationGroup(name: "sales")])
    let rules = try PartitionRules(package)
    let place = Place(
      group: "sales", rule: rules.rules[0].root.rule, values: ObjectKey([.text("A07")]).text)
    for (name, isTheirs) in [("K", true), ("\u{212A}", false)] {
      let rights = Rights(rules: rules, user: "anna", roles: [], claims: [name: ["A07"]])
      #expect(rights.include(place) == isTheirs)
    }
  }

  @Test("A create that names a key from the range of temporary keys is refused with 422")
  func temporaryKeys() throws {
    let bench = try Bench()
    try bench.load()
    let device = try Device(bench).exchange()
    let taken = bench.operation(
      Shop.audit, .create, ObjectKey([.integer(1)]), changed: [0: .integer(1), 1: .text("right")])
    let lowest = ObjectKey([.integer(Int64(Int32.min))])
    let refused = bench.operation(
      Shop.audit, .create, lowest, changed: [0: .integer(Int64(Int32.min)), 1: .text("wrong")])
    try device.exchange([taken.1, refused.1])
    #expect(device.stored?.ids == [taken.0])
    #expect(device.stored?.refused.map(\.id) == [refused.0])
    #expect(device.stored?.refused.first?.logRecords.map(\.code) == [422])
    // Within a group a reference to a new object has that one's temporary key.
    let machine = InboxMachine(package: Shop.package, user: ExactText("anna"))
    let line = bench.operation(
      Shop.line, .create, ObjectKey([.integer(Int64(Int32.min)), .integer(1)]),
      changed: [0: .integer(Int64(Int32.min)), 1: .integer(1)])
    guard case .store = machine.judge(line.1, hash: [], known: nil) else {
      Issue.record("the line was refused")
      return
    }
  }
}
