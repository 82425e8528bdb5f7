import FerryConnector
import FerryGenerator
import FerryHTTPClient
import FerryModel
import FerryODataConnector
import FerryODataReading
import FerryWorld
import Synchronization
import Testing

/// A service that is not ours: odatapy's of OData V4, with conditions, links to changes and change sets.
@Suite(.timeLimit(.minutes(60)))
struct OdatapyTests {
  private func key(_ number: Int64) -> ObjectKey { ObjectKey([.integer(number)]) }

  private final class Line: Sendable {
    let connector: Mutex<ODataConnector>
    private let thread = ThreadExecutor(name: "connector")

    init(_ address: String, _ package: Package) {
      connector = Mutex(
        ODataConnector(ODataConnection(address, world: .system()), package: package))
    }

    func ask<Value: Sendable>(
      _ body: @escaping @Sendable (ODataConnector) throws(ConnectorError) -> Value
    ) async throws -> Value {
      try await PeerService.on(thread) {
        self.connector.withLock { connector in
          Result { () throws(ConnectorError) in try body(connector) }
        }
      }.get()
    }
  }

  private func operation(
    _ number: Int, _ kind: OperationKind, _ entity: Entity, _ key: Int64?,
    _ changed: [Int: AttributeValue] = [:], base: [Int: AttributeValue] = [:],
    temporaryKey: Int64? = nil
  ) -> ConnectorOperation {
    let digits = String(number)
    return ConnectorOperation(
      id: OperationID(String(repeating: "0", count: 32 - digits.count) + digits)!, entity: entity,
      kind: kind, key: key.map { ObjectKey([.integer($0)]) }, changed: changed, base: base,
      temporaryKey: temporaryKey.map { ObjectKey([.integer($0)]) })
  }

  private func package(_ service: PeerService) async throws -> Package {
    let schema = try await ODataSchema.read(service.address)
    return try ModelMaker.make(
      from: schema, options: TranslationOptions(name: "Shop", writable: .all), file: "model.json",
      source: "odata:\(service.address)"
    ).translation.package
  }

  @Test func changesComeByItsLinks() async throws {
    let service = try PeerService("odata-v4.py")
    let package = try await package(service)
    let item = try #require(package.entity(named: "Item"))
    let line = Line(service.address, package)
    let first = try await line.ask { connector throws(ConnectorError) in
      #expect(try connector.mismatches(with: package) == [])
      return try connector.changes(since: nil)
    }
    #expect(first.hints == package.entities.map { .entity($0.name) })
    let rows = try await line.ask { connector throws(ConnectorError) in
      var rows: [RowImage] = []
      _ = try connector.load(
        LoadScope(entities: package.entities), from: nil, each: { rows += $0.rows },
        rejected: { Issue.record("\($0)") })
      return rows
    }
    #expect(rows.count == 12)
    _ = try await service.get("others/7/70", method: "POST")
    _ = try await service.get("others/5", method: "DELETE")
    let second = try await line.ask { connector throws(ConnectorError) in
      try connector.changes(since: first.cursor)
    }
    let seven = try #require(rows.first { $0.entity == "Item" && $0.key == key(7) }?.values)
    let stock = try #require(item.position(of: "stock"))
    var wanted = seven
    wanted[stock] = .integer(70)
    #expect(
      second.hints == [
        .rows([
          RowImage(entity: "Item", key: key(7), values: wanted),
          RowImage(entity: "Item", key: key(5), values: nil),
        ])
      ])
    let third = try await line.ask { connector throws(ConnectorError) in
      try connector.changes(since: second.cursor)
    }
    #expect(third.hints == [])
  }

  /// An order with its lines, whose keys the service makes, in one request.
  @Test func aChainIsOneChangeSet() async throws {
    let service = try PeerService("odata-v4.py")
    let package = try await package(service)
    let order = try #require(package.entity(named: "Order"))
    let lineEntity = try #require(package.entity(named: "Line"))
    let item = try #require(package.entity(named: "Item"))
    #expect(order.keyOrigin == .businessSystem)
    let stock = try #require(item.position(of: "stock"))
    let (number, text) = (
      try #require(order.position(of: "number")), try #require(lineEntity.position(of: "text"))
    )
    let parent = try #require(lineEntity.position(of: "orderID"))
    let line = Line(service.address, package)
    let chain = [
      operation(1, .create, order, nil, [number: .text("A-1")], temporaryKey: 9_000),
      operation(
        2, .create, lineEntity, nil, [text: .text("first"), parent: .integer(9_000)],
        temporaryKey: 9_001),
      operation(
        3, .create, lineEntity, nil, [text: .text("second"), parent: .integer(9_000)],
        temporaryKey: 9_002),
      operation(4, .update, item, 3, [stock: .integer(4)], base: [stock: .integer(5)]),
    ]
    let (result, isAtomic) = try await line.ask { connector throws(ConnectorError) in
      (connector.perform(chain), connector.abilities(of: order).atomicGroups)
    }
    #expect(isAtomic)
    guard case .done(let outcomes, let touched) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(outcomes == [1, 1, 2, 3].map { .accepted(key: key($0)) })
    #expect(
      touched.filter { $0.entity == "Line" }.map { $0.values?[parent] } == [
        .integer(1), .integer(1),
      ])
    let log = try await service.get("log").split(separator: "\n")
    #expect(
      log.sorted() == ["WRITE Items(3)", "WRITE Lines(1)", "WRITE Lines(2)", "WRITE Orders(1)"])
    // One member is out of date: nothing of the chain is done.
    let refused = [
      operation(5, .create, order, nil, [number: .text("A-2")], temporaryKey: 9_003),
      operation(6, .update, item, 4, [stock: .integer(4)], base: [stock: .integer(9)]),
    ]
    let second = try await line.ask { connector throws(ConnectorError) in connector.perform(refused)
    }
    guard case .done(let ends, _) = second, case .refused? = ends.last else {
      Issue.record("\(second)")
      return
    }
    #expect(try await service.get("log").split(separator: "\n").count == 4)
  }

  /// Another process knows nothing of the chain: what refers to an object whose key the service made is
  /// found under that key.
  @Test func aChainIsRecalledUnderItsKeys() async throws {
    let service = try PeerService("odata-v4.py")
    let package = try await package(service)
    let order = try #require(package.entity(named: "Order"))
    let note = try #require(package.entity(named: "Note"))
    let number = try #require(order.position(of: "number"))
    let (text, parent) = (
      try #require(note.position(of: "text")), try #require(note.position(of: "orderID"))
    )
    let chain = [
      operation(1, .create, order, nil, [number: .text("A-1")], temporaryKey: 9_000),
      operation(2, .create, note, 77, [text: .text("first"), parent: .integer(9_000)]),
    ]
    _ = try await Line(service.address, package).ask { connector throws(ConnectorError) in
      connector.perform(chain)
    }
    let recalls = try await Line(service.address, package).ask { connector throws(ConnectorError) in
      try connector.recall(chain)
    }
    #expect(
      recalls == [1, 77].map { .performed(.accepted(key: key($0), isRepeated: true)) })
  }

  /// Many chains at once, each done once.
  @Test func chainsGoSideBySide() async throws {
    let service = try PeerService("odata-v4.py", "--items", "200", "--delay", "5")
    let package = try await package(service)
    let item = try #require(package.entity(named: "Item"))
    let stock = try #require(item.position(of: "stock"))
    let line = Line(service.address, package)
    var groups: [[ConnectorOperation]] = []
    for number in 0..<60 {
      // Two of each object, in their order.
      let target = Int64(number % 30 + 1)
      let (from, to): (Int64, Int64) = number < 30 ? (5, 6) : (6, 7)
      groups.append([
        operation(
          100 + number, .update, item, target, [stock: .integer(to)], base: [stock: .integer(from)])
      ])
    }
    let given = groups
    let results = try await line.ask { connector throws(ConnectorError) in
      connector.perform(given) { true }
    }
    #expect(results.count == 60)
    for (number, result) in results.enumerated() {
      guard case .done(let outcomes, _) = result else {
        Issue.record("\(number): \(result)")
        continue
      }
      #expect(outcomes == [.accepted(key: key(Int64(number % 30 + 1)))])
    }
    let log = try await service.get("log").split(separator: "\n")
    #expect(Dictionary(grouping: log) { $0 }.values.allSatisfy { $0.count == 2 })
    #expect(log.count == 60)
  }
}
