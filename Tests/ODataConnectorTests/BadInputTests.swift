import FerryConnector
import FerryModel
import FerryODataConnector
import Testing

/// What no service should answer, and some do.
@Suite(.timeLimit(.minutes(60)))
struct BadInputTests {
  private struct Loaded: Sendable {
    var rows: [RowImage] = []
    var rejected: [RejectedRow] = []
    var failure: ConnectorError?
  }

  private static let part = Entity(
    name: "Part", table: "Parts",
    attributes: [
      Attribute(name: "code", column: "Code", type: .string, isNullable: false),
      Attribute(name: "price", column: "Price", type: .decimal, isNullable: true),
      Attribute(name: "made", column: "Made", type: .dateTime, isNullable: true),
    ], key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil, group: "all")
  private static let package = Package(
    name: "Shop", version: "1.0", entities: [part], groups: [SynchronizationGroup(name: "all")])

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Part"><Key><PropertyRef Name="Code"/></Key>
    <Property Name="Code" Type="Edm.String" Nullable="false"/>
    <Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
    <Property Name="Made" Type="Edm.DateTimeOffset"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Parts" EntityType="S.Part"/></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  private func bench() -> CannedBench {
    let bench = CannedBench(Self.package)
    bench.service.answer(
      "GET ", "{\"value\":[{\"name\":\"Parts\",\"kind\":\"EntitySet\",\"url\":\"Parts\"}]}")
    bench.service.answer("GET $metadata", Self.metadata)
    return bench
  }

  private func load(_ bench: CannedBench) async -> Loaded {
    await bench.ask { connector in
      var loaded = Loaded()
      do throws(ConnectorError) {
        _ = try connector.load(
          LoadScope(entities: [Self.part]), from: nil, each: { loaded.rows += $0.rows },
          rejected: { loaded.rejected.append($0) })
      } catch {
        loaded.failure = error
      }
      return loaded
    }
  }

  private func feed(_ rows: String, _ rest: String = "") -> String {
    "{\"@odata.context\":\"$metadata#Parts\",\"value\":[\(rows)]\(rest)}"
  }

  @Test func aRowWithoutAKeyIsNamed() async {
    let bench = bench()
    bench.service.answer("GET Parts", feed("{\"Price\":1},{\"Code\":null},{\"Code\":\"B\"}"))
    let loaded = await load(bench)
    #expect(loaded.failure == nil)
    #expect(loaded.rows.map(\.key) == [ObjectKey([.text("B")])])
    #expect(loaded.rejected.map(\.attribute) == ["code", "code"])
    #expect(loaded.rejected.allSatisfy { $0.reason.contains("the set Parts") })
  }

  @Test func keysThatDifferInCaseAreTwoRows() async {
    let bench = bench()
    bench.service.answer("GET Parts", feed("{\"Code\":\"a\"},{\"Code\":\"A\"}"))
    let loaded = await load(bench)
    #expect(loaded.failure == nil)
    #expect(loaded.rows.map(\.key) == [ObjectKey([.text("a")]), ObjectKey([.text("A")])])
  }

  @Test func aDecimalMayBeANumberAndATimeMayLackItsZone() async {
    let bench = bench()
    bench.service.answer(
      "GET Parts",
      feed(
        "{\"Code\":\"A\",\"Price\":2.50,\"Made\":\"2026-11-27T10:00:00+01:00\"},"
          + "{\"Code\":\"B\",\"Price\":\"2.50\"},"
          + "{\"Code\":\"C\",\"Made\":\"2026-11-27T10:00:00\"}"))
    let loaded = await load(bench)
    #expect(loaded.failure == nil)
    #expect(loaded.rows.prefix(2).map { $0.values?[1] } == [.text("2.5"), .text("2.5")])
    #expect(loaded.rows.first?.values?[2] == .text("2026-11-27T09:00:00"))
    // Without a zone it counts as UTC.
    #expect(loaded.rows.last?.values?[2] == .text("2026-11-27T10:00:00"))
  }

  @Test func aRedirectToAnotherHostIsNotFollowed() async {
    let bench = bench()
    bench.service.answer(
      "GET Parts",
      CannedService.Answer(status: 302, headers: ["Location": "http://other.test/shop/Parts"]))
    let loaded = await load(bench)
    #expect(loaded.failure?.message.contains("http://other.test/shop/Parts") == true)
    #expect(bench.service.requests.allSatisfy { $0.url.hasPrefix(CannedService.root) })
  }

  /// The load ends, and the next one begins with another session.
  @Test func aTokenThatEndsBetweenTwoPagesEndsTheLoad() async {
    let bench = bench()
    bench.service.answer(
      "GET Parts?$skiptoken=1", CannedService.Answer(status: 401),
      CannedService.Answer(feed("{\"Code\":\"B\"}")))
    bench.service.answer(
      "GET Parts", feed("{\"Code\":\"A\"}", ",\"@odata.nextLink\":\"Parts?$skiptoken=1\""))
    let first = await load(bench)
    #expect(first.failure?.isTransient == true)
    let second = await load(bench)
    #expect(second.failure == nil)
    #expect(second.rows.count == 2)
  }

  /// The condition never holds: the user hears of it after some tries.
  @Test func aConditionThatNeverHoldsIsRefused() async {
    let bench = CannedBench(Bench.package)
    bench.service.answer("GET ", FakeService.document)
    bench.service.answer("GET $metadata", FakeService.metadata)
    bench.service.answer(
      "GET Items(1)", "{\"@odata.etag\":\"W/\\\"1\\\"\",\"ID\":1,\"Name\":\"one\",\"Amount\":5}")
    bench.service.answer(
      "PATCH Items(1)",
      CannedService.Answer("{\"error\":{\"code\":\"412\",\"message\":\"changed\"}}", status: 412))
    let update = Bench().update()
    let result = await bench.ask { $0.perform([update]) }
    guard case .done(let outcomes, _) = result, case .refused(let refusal)? = outcomes.first else {
      Issue.record("\(result)")
      return
    }
    #expect(refusal.code == 412)
    #expect(bench.service.asked.filter { $0 == "PATCH Items(1)" }.count < 10)
  }

  /// They hold no writer back, so a lost answer is a matter for a person.
  @Test func eTagsThatNeverChangeAreNotTrusted() async {
    let bench = Bench([.one])
    bench.service.change { $0.hasFixedETags = true }
    _ = await bench.outcomes(bench.update())
    #expect(bench.service.items[1]?.amount == 6)
    #expect(await bench.ask { !$0.abilities(of: Bench.item).conditionalWrites })
    #expect(bench.log.lines.contains { $0.contains("do not change") && $0.contains("set=Items") })
    // The service still wants one with each change.
    let next = bench.operation(.update, Bench.item, 1, [2: .integer(7)], base: [2: .integer(6)])
    _ = await bench.outcomes(next)
    #expect(bench.service.items[1]?.amount == 7)
  }
}
