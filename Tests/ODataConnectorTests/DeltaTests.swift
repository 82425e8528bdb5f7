import FerryConformance
import FerryConnector
import FerryModel
import FerryODataConnector
import Testing

/// Changes of others by the links that a service gives.
@Suite(.timeLimit(.minutes(60)))
struct DeltaTests {
  private static let rows = (1...8).map {
    FakeService.Row(id: Int64($0), name: "n\($0)", amount: Int64($0))
  }

  private func bench() -> Bench {
    let bench = Bench(Self.rows)
    bench.service.change { $0.delta.isOn = true }
    return bench
  }

  private func look(_ bench: Bench, _ cursor: String?) async throws -> BusinessChanges {
    try await bench.ask { connector in
      Result { () throws(ConnectorError) in try connector.changes(since: cursor) }
    }.get()
  }

  private static func key(_ number: Int64) -> ObjectKey { ObjectKey([.integer(number)]) }

  private static func row(_ number: Int64, _ name: String, _ amount: Int64) -> RowImage {
    RowImage(
      entity: "Item", key: key(number),
      values: [.integer(number), .text(name), .integer(amount)])
  }

  @Test func changesComeWithTheirValues() async throws {
    let bench = bench()
    let first = try await look(bench, nil)
    #expect(first.hints.count == 2)
    #expect(first.hints.contains(.entity("Item")))
    #expect(first.cursor != nil)
    #expect(await bench.ask { $0.abilities(of: Bench.item).changes } == .cursor)
    #expect(await bench.ask { $0.abilities(of: Bench.order).changes } == .poll)
    let quiet = try await look(bench, first.cursor)
    #expect(quiet.hints == [])
    bench.service.change { state in
      state.items[3]?.amount = 100
      state.items[5] = nil
      state.items[9] = FakeService.Row(id: 9, name: "nine", amount: 9)
      state.reads = []
    }
    let found = try await look(bench, quiet.cursor)
    #expect(
      found.hints == [
        .rows([
          Self.row(3, "n3", 100), Self.row(9, "nine", 9),
          RowImage(entity: "Item", key: Self.key(5), values: nil),
        ])
      ])
    #expect(bench.service.state.withLock { $0.reads }.filter { $0.hasPrefix("Items") }.count == 1)
    // A link may be used again, as after a restart that lost what it brought.
    bench.restart()
    let again = try await look(bench, quiet.cursor)
    #expect(again.hints.first == found.hints.first)
  }

  @Test func halfOfTheValuesIsNoRow() async throws {
    let bench = bench()
    let first = try await look(bench, nil)
    bench.service.change { state in
      state.items[3]?.amount = 100
      state.delta.isSparse = true
    }
    #expect(
      try await look(bench, first.cursor).hints == [.objects(entity: "Item", keys: [Self.key(3)])])
  }

  /// The link is of no use any more: everything is compared, and there is a new one.
  @Test(arguments: [410, 404, 504])
  func aLostLinkIsReplaced(_ status: Int) async throws {
    let bench = bench()
    let first = try await look(bench, nil)
    bench.service.change { state in
      state.items[3]?.amount = 100
      state.delta.refusals = [status]
    }
    let second = try await look(bench, first.cursor)
    #expect(second.hints == [.entity("Item")])
    #expect(second.cursor != nil && second.cursor != first.cursor)
    #expect(try await look(bench, second.cursor).hints == [])
  }

  @Test func anAnswerWithoutANewLinkIsTheLast() async throws {
    let bench = bench()
    let first = try await look(bench, nil)
    bench.service.change { state in
      state.items[3]?.amount = 100
      state.delta.hasNoLink = true
    }
    let second = try await look(bench, first.cursor)
    #expect(second.hints == [.rows([Self.row(3, "n3", 100)]), .entity("Item")])
    #expect(try await look(bench, second.cursor).hints == [])
  }

  /// Links that never hold are left after some time.
  @Test func linksThatNeverHoldAreLeft() async throws {
    let bench = bench()
    var cursor = try await look(bench, nil).cursor
    bench.service.change { $0.delta.refusals = Array(repeating: 410, count: 10) }
    for _ in 0..<4 { cursor = try await look(bench, cursor).cursor }
    #expect(cursor == nil)
    bench.service.change { $0.items[3]?.amount = 100 }
    #expect(
      try await look(bench, nil).hints == [.objects(entity: "Item", keys: [Self.key(3)])])
  }

  /// A set that cannot be read: nothing of the others is passed over.
  @Test func anAnswerThatFailsPassesNothing() async throws {
    let bench = bench()
    let first = try await look(bench, nil)
    bench.service.change { state in
      state.items[3]?.amount = 100
      state.delta.ordersFail = true
    }
    await #expect(throws: ConnectorError.self) { try await look(bench, first.cursor) }
    bench.service.change { $0.delta.ordersFail = false }
    #expect(try await look(bench, first.cursor).hints == [.rows([Self.row(3, "n3", 100)])])
  }

  /// What a server makes of the answers: its rows, by the cursor that it has kept.
  private func isFollowed(_ bench: Bench, flaws: Set<ConnectorFlaw>) async throws -> Bool {
    let rows: [ObjectKey: [AttributeValue]] = try await bench.ask { inner in
      Result { () throws(ConnectorError) in
        let connector = FlawedConnector(inner, [], own: flaws)
        var rows: [ObjectKey: [AttributeValue]] = [:]
        var cursor: String?
        for step in 0..<6 {
          let changes = try connector.changes(since: cursor)
          cursor = changes.cursor
          if changes.hints.contains(.entity("Item")) {
            _ = try connector.load(
              LoadScope(entities: [Bench.item]), from: nil,
              each: { page in for row in page.rows { rows[row.key] = row.values } },
              rejected: { _ in })
          }
          for row in changes.rows { rows[row.key] = row.values }
          let number = Int64(step)
          if step < 5 {
            bench.service.change { state in
              state.items[number + 1]?.amount = 50 + number
              state.items[number + 20] = FakeService.Row(id: number + 20, name: "new", amount: 1)
              state.items[number] = nil
            }
          }
        }
        return rows
      }
    }.get()
    let wanted = bench.service.items.values.map {
      (Self.key($0.id), [AttributeValue.integer($0.id), .text($0.name!), .integer($0.amount!)])
    }
    return rows == Dictionary(uniqueKeysWithValues: wanted)
  }

  @Test func everyChangeIsFollowed() async throws {
    #expect(try await isFollowed(bench(), flaws: []))
    #expect(try await isFollowed(bench(), flaws: [.deltaLinkBeforeRows]) == false)
  }
}

/// The same of V2.
@Suite(.timeLimit(.minutes(60)))
struct OldDeltaTests {
  private static let part = Entity(
    name: "Part", table: "Parts",
    attributes: [
      Attribute(name: "code", column: "Code", type: .string, isNullable: false),
      Attribute(name: "amount", column: "Amount", type: .int, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: Set(OperationKind.allCases),
    partition: nil, group: "all")
  private static let package = Package(
    name: "Shop", version: "1.0", entities: [part], groups: [SynchronizationGroup(name: "all")])

  private func look(_ bench: CannedBench, _ cursor: String?) async throws -> BusinessChanges {
    try await bench.ask { connector in
      Result { () throws(ConnectorError) in try connector.changes(since: cursor) }
    }.get()
  }

  @Test func changesOfVersionTwo() async throws {
    let bench = CannedBench(Self.package)
    let service = bench.service
    service.answer("GET ", OldService.document())
    service.answer("GET $metadata", OldService.metadata())
    service.answer(
      "GET Parts",
      OldService.feed(
        [("A", 1), ("B", 2)], rest: "<link rel=\"delta\" href=\"Parts?!deltatoken='1'\"/>"))
    let first = try await look(bench, nil)
    #expect(first.hints.contains(.entity("Part")))
    service.answer(
      "GET Parts?!deltatoken='1'",
      OldService.feed(
        [("B", 7)],
        rest:
          "<t:deleted-entry ref=\"\(CannedService.root)Parts('A')\" when=\"2026-11-27T10:00:00Z\"/>"
          + "<link rel=\"delta\" href=\"Parts?!deltatoken='2'\"/>"))
    service.forget()
    let second = try await look(bench, first.cursor)
    #expect(
      second.hints == [
        .rows([
          RowImage(
            entity: "Part", key: ObjectKey([.text("B")]), values: [.text("B"), .integer(7)]),
          RowImage(entity: "Part", key: ObjectKey([.text("A")]), values: nil),
        ])
      ])
    #expect(service.asked == ["GET Parts?!deltatoken='1'"])
    #expect(second.cursor?.contains("deltatoken='2'") == true)
  }

  /// SAP Gateway keeps links in a set of their own: nothing is read to get one.
  @Test func linksOfASetOfTheirOwn() async throws {
    let bench = CannedBench(Self.package)
    let service = bench.service
    service.answer("GET ", OldService.document("DeltaLinksOfParts"))
    service.answer(
      "GET $metadata",
      OldService.metadata(
        """
        <EntityType Name="DeltaLink"><Key><PropertyRef Name="DeltaToken"/></Key>
        <Property Name="DeltaToken" Type="Edm.String" Nullable="false"/>
        <Property Name="CreatedAt" Type="Edm.DateTime"/></EntityType>
        """, "<EntitySet Name=\"DeltaLinksOfParts\" EntityType=\"S.DeltaLink\"/>"))
    func link(_ token: String, _ day: String) -> String {
      """
      <entry><id>\(CannedService.root)DeltaLinksOfParts('\(token)')</id><content type="application/xml"><m:properties>
      <d:DeltaToken>\(token)</d:DeltaToken><d:CreatedAt m:type="Edm.DateTime">2026-11-\(day)T10:00:00</d:CreatedAt>
      </m:properties></content></entry>
      """
    }
    service.answer(
      "GET DeltaLinksOfParts",
      OldService.feed([], rest: link("T1", "25") + link("T3", "27") + link("T2", "26")))
    let first = try await look(bench, nil)
    #expect(first.hints == [.entity("Part")])
    #expect(service.asked.contains { $0.hasPrefix("GET Parts") } == false)
    service.answer(
      "GET DeltaLinksOfParts('T3')/ChangesAfter",
      OldService.feed([("B", 7)], rest: "<link rel=\"delta\" href=\"Parts?!deltatoken='4'\"/>"))
    let second = try await look(bench, first.cursor)
    #expect(
      second.hints == [
        .rows([
          RowImage(entity: "Part", key: ObjectKey([.text("B")]), values: [.text("B"), .integer(7)])
        ])
      ])
  }
}
