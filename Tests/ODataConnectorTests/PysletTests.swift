import FerryConnector
import FerryGenerator
import FerryHTTPClient
import FerryModel
import FerryODataConnector
import FerryODataReading
import FerryWorld
import Testing

/// A service that is not ours: pyslet's of OData V2, with conditions.
@Suite(.timeLimit(.minutes(60)))
struct PysletTests {
  @Test func aServiceOfSomebodyElse() async throws {
    let service = try PeerService("odata-business.py")
    let schema = try await ODataSchema.read(service.address)
    let made = try ModelMaker.make(
      from: schema, options: TranslationOptions(name: "Shop", writable: .all), file: "model.json",
      source: "odata:\(service.address)")
    let package = made.translation.package
    #expect(package.entities.map(\.name) == ["Item", "Shelf"])
    let item = try #require(package.entity(named: "Item"))
    #expect(item.attributes.map(\.type) == [.int, .string, .int, .decimal, .dateTime, .int, .int])
    #expect(item.attributes[1].documentation?.contains("Name of the item") == true)
    #expect(item.attributes[1].maxLength == 100)
    #expect(item.attributes[3].scale == 2)
    #expect(item.relationships.map(\.target) == ["Shelf"])
    #expect(item.operations == Set(OperationKind.allCases))
    #expect(package.entity(named: "Shelf")?.operations == [.create, .update])

    let thread = ThreadExecutor(name: "connector")
    let address = service.address
    let result = await PeerService.on(thread) { () -> Result<[RowImage], ConnectorError> in
      Result { () throws(ConnectorError) in
        let connector = ODataConnector(
          ODataConnection(address, world: .system()), package: package)
        #expect(try connector.mismatches(with: package) == [])
        var rows: [RowImage] = []
        _ = try connector.load(
          LoadScope(entities: package.entities), from: nil, each: { rows += $0.rows },
          rejected: { Issue.record("\($0)") })
        _ = try connector.changes(since: nil)
        let key = ObjectKey([.integer(3)])
        let update = ConnectorOperation(
          id: OperationID(String(repeating: "0", count: 31) + "1")!, entity: item, kind: .update,
          key: key, changed: [2: .integer(4)], base: [2: .integer(5)])
        guard case .done(let outcomes, let touched) = connector.perform([update]) else {
          Issue.record("not done")
          return []
        }
        #expect(outcomes == [.accepted(key: key)])
        #expect(touched.first?.values?[2] == .integer(4))
        #expect(connector.abilities(of: item).conditionalWrites)
        let second = ConnectorOperation(
          id: OperationID(String(repeating: "0", count: 31) + "2")!, entity: item, kind: .update,
          key: key, changed: [2: .integer(3)], base: [2: .integer(5)])
        if case .done(let outcomes, _) = connector.perform([second]),
          case .refused(let refusal)? = outcomes.first
        {
          #expect(refusal.currentValue == .integer(4))
        } else {
          Issue.record("no conflict")
        }
        let create = ConnectorOperation(
          id: OperationID(String(repeating: "0", count: 31) + "3")!, entity: item, kind: .create,
          key: ObjectKey([.integer(77)]),
          changed: [1: .text("a < b & c"), 3: .text("2.5"), 4: .text("2026-11-27T10:00:00")],
          base: [:])
        #expect(
          connector.perform([create])
            == .done(
              [.accepted(key: ObjectKey([.integer(77)]))],
              touched: try connector.read(item, keys: [ObjectKey([.integer(77)])])))
        let hints = try connector.changes(since: nil).hints
        #expect(
          hints == [.objects(entity: "Item", keys: [key, ObjectKey([.integer(77)])])])
        return rows
      }
    }
    let rows = try result.get()
    #expect(rows.count == 12)
    #expect(
      rows.first { $0.entity == "Item" }?.values
        == [
          .integer(1), .text("item 1"), .integer(5), .text("1.5"), .null, .integer(2), .integer(1),
        ])
    #expect(try await service.get("log") == "MERGE Items(3)\nPOST Items(77)")
  }

  /// What is left out is told with its reason; what the service forbids, devices cannot do.
  @Test func metadataOfVersionFour() throws {
    let metadata = try EdmMetadataText.read(FakeService.metadata)
    let made = try ModelMaker.make(
      from: ODataSchema.schema(of: metadata),
      options: TranslationOptions(name: "Shop", writable: .all), file: "model.json")
    let package = made.translation.package
    let order = try #require(package.entity(named: "Order"))
    #expect(order.keyOrigin == .businessSystem)
    #expect(order.operations == [.create, .update])
    #expect(made.translation.notes(.restricted).map(\.subject) == ["Orders"])
  }
}
