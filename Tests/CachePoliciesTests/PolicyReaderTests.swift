import FerryConnector
import FerryModel
import FerryTestTraits
import Foundation
import Testing

@testable import FerryCachePolicies

@Suite("The file of policies") struct PolicyReaderTests {
  private static func entity(_ name: String) -> Entity {
    Entity(
      name: name, table: name,
      attributes: [Attribute(name: "id", column: "id", type: .long, isNullable: false)], key: [0],
      keyOrigin: .app, relationships: [], operations: [.create, .update], partition: nil,
      group: "all")
  }

  private static let package = Package(
    name: "Depot", version: "1.0", entities: [entity("Item"), entity("Shelf")],
    groups: [SynchronizationGroup(name: "all")])

  private func read(_ text: String) throws(PolicyFault) -> CachePolicies {
    try CachePolicies(Array(text.utf8), for: PolicyReaderTests.package) { name in
      name == "Europe/Zurich" ? ZoneClock(name: name) { _ in 3_600 } : nil
    }
  }

  @Test("Each way to refresh is read, with its times")
  func good() throws {
    let policies = try read(
      """
      {"$schema": "policies.schema.json", "groups": {
        "stock": {"entities": ["Item"], "refresh": "onDemand", "interval": "10 s", "wait": "5 s"},
        "places": {"entities": ["Shelf"], "refresh": "scheduled", "at": ["06:30", "18:00:15"],
          "days": ["monday", "sunday"], "zone": "Europe/Zurich"}}}
      """)
    #expect(CachePolicies.fileName(of: PolicyReaderTests.package) == "Depot.policies.json")
    let zone = ZoneClock(name: "Europe/Zurich") { _ in 3_600 }
    #expect(
      policies.groups == [
        CacheGroup(
          name: "places", entities: ["Shelf"],
          refresh: .scheduled(Schedule(times: [23_400, 64_815], days: [1, 7], zone: zone))),
        CacheGroup(
          name: "stock", entities: ["Item"], refresh: .onDemand(interval: .seconds(10)),
          wait: .seconds(5)),
      ])
    #expect(
      try read(
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "scheduled", "every": "2 h"}}}"#
      ).groups.first?.refresh == .every(.seconds(7_200)))
    #expect(try read("{}") == .none)
    #expect(
      try read(
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "notice"}}, "operations": "#
          + #"{"Item": {"create": "parameters", "update": "none"}, "Shelf": "parameters"}}"#
      ).operations == [
        "Item": OperationPolicies(.result, kinds: [.create: .parameters, .update: .none]),
        "Shelf": OperationPolicies(.parameters),
      ])
    #expect(
      try read(#"{"conflicts": {"Item": "deviceWins", "Shelf": {"attributes": {}}}}"#).conflicts
        == [
          "Item": ConflictPolicy(.deviceWins), "Shelf": ConflictPolicy(.refuse),
        ])
  }

  @Test(
    "A file that is wrong or contradicts itself names place and cure",
    arguments: [
      (#"{"groups": "#, "byte"),
      (#"{"group": {}}"#, "/group "),
      (#"{"conflicts": {"Car": "refuse"}}"#, "/conflicts/Car "),
      (#"{"operations": {"Item": "invalidate"}}"#, "/operations/Item "),
      (#"{"operations": {"Item": "none"}}"#, "/operations/Item "),
      (#"{"operations": {"Item": "all"}}"#, "/operations/Item "),
      (#"{"operations": {"Car": "result"}}"#, "/operations/Car "),
      (#"{"operations": {"Item": {"update": "none"}}}"#, "/operations/Item/update "),
      (#"{"operations": {"Item": {"delete": "result"}}}"#, "/operations/Item/delete "),
      (#"{"operations": {"Item": {"read": "result"}}}"#, "/operations/Item/read "),
      (#"{"conflicts": {"Item": "ask"}}"#, "/conflicts/Item "),
      (
        #"{"conflicts": {"Item": {"attributes": {"id": "refuse"}}}}"#,
        "/conflicts/Item/attributes/id "
      ),
      (#"{"groups": {"a": {"refresh": "notice"}}}"#, "/groups/a "),
      (#"{"groups": {"a": {"entities": []}}}"#, "/groups/a/entities "),
      (#"{"groups": {"a": {"entities": ["Car"], "refresh": "notice"}}}"#, "/groups/a/entities/0 "),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "notice"}, "b": {"entities": ["Item"], "refresh": "notice"}}}"#,
        "/groups/b/entities/0 "
      ),
      (#"{"groups": {"a": {"entities": ["Item"]}}}"#, "/groups/a "),
      (#"{"groups": {"a": {"entities": ["Item"], "refresh": "often"}}}"#, "/groups/a/refresh "),
      (#"{"groups": {"a": {"entities": ["Item"], "refresh": "onDemand"}}}"#, "/groups/a/refresh "),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "onDemand", "interval": "10"}}}"#,
        "/groups/a/interval "
      ),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "onDemand", "interval": "1 s", "at": ["06:00"]}}}"#,
        "/groups/a/at "
      ),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "scheduled", "interval": "1 s"}}}"#,
        "/groups/a/interval "
      ),
      (#"{"groups": {"a": {"entities": ["Item"], "refresh": "scheduled"}}}"#, "/groups/a/refresh "),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "scheduled", "every": "1 h", "at": ["06:00"]}}}"#,
        "/groups/a/every "
      ),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "scheduled", "at": ["24:00"]}}}"#,
        "/groups/a/at/0 "
      ),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "scheduled", "at": ["06:00"], "zone": "Mars/Base"}}}"#,
        "/groups/a/zone "
      ),
      (
        #"{"groups": {"a": {"entities": ["Item"], "refresh": "notice", "wait": "1 s"}}}"#,
        "/groups/a/wait "
      ),
    ])
  func wrong(_ text: String, _ place: String) {
    do throws(PolicyFault) {
      _ = try read(text)
      Issue.record("it was taken: \(text)")
    } catch {
      #expect(error.description.hasPrefix(place), "\(error)")
      #expect(!error.cure.isEmpty)
    }
  }

  @Test("The schema in the documentation is that of the program")
  func schema() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Documentation/\(PolicySchema.fileName)")
    #expect(try String(contentsOf: file, encoding: .utf8) == PolicySchema.text)
    _ = try JSONSerialization.jsonObject(with: Data(PolicySchema.text.utf8))
  }
}
