import FerryConnector
import FerryModel
import FerryODataConnector
import Testing

/// What a service has, as a load and a look for changes read it.
@Suite(.timeLimit(.minutes(60)))
struct LoadTests {
  private static let rows = (1...8).map {
    FakeService.Row(id: Int64($0), name: "n\($0)", amount: Int64($0))
  }

  private func load(_ bench: Bench) async -> Result<[ObjectKey], ConnectorError> {
    await bench.ask { connector in
      var keys: [ObjectKey] = []
      return Result { () throws(ConnectorError) in
        let end = try connector.load(
          LoadScope(entities: [Bench.item]), from: nil,
          each: { page in keys += page.rows.map(\.key) }, rejected: { _ in })
        #expect(end == LoadEnd(isComplete: true, isSnapshot: false))
        return keys
      }
    }
  }

  @Test func pagesFollowEachOther() async throws {
    let bench = Bench(Self.rows)
    #expect(try await load(bench).get() == (1...8).map { ObjectKey([.integer(Int64($0))]) })
  }

  @Test func aCircleOfPagesEndsTheLoad() async {
    let bench = Bench(Self.rows)
    bench.service.change { $0.isCircle = true }
    guard case .failure = await load(bench) else {
      Issue.record("it ended well")
      return
    }
  }

  @Test func aCountThatDisagreesEndsTheLoad() async {
    let bench = Bench(Self.rows)
    bench.service.change { $0.countIsWrong = true }
    guard case .failure(let error) = await load(bench) else {
      Issue.record("it ended well")
      return
    }
    #expect(error.isTransient)
  }

  @Test func aRowThatComesTwiceEndsTheLoad() async {
    let bench = Bench(Self.rows)
    bench.service.change { $0.twice = true }
    guard case .failure(let error) = await load(bench) else {
      Issue.record("it ended well")
      return
    }
    #expect(error.isTransient)
  }

  @Test(arguments: [
    FakeService.Fault.away, .cutBody, .status(502, isDone: false),
    .status(200, isDone: false, body: "<!DOCTYPE html><html></html>"),
    .status(200, isDone: false, body: "{\"error\":{\"code\":\"X\",\"message\":\"inside\"}}"),
    .status(200, isDone: false), .status(204, isDone: false),
    .status(200, isDone: false, body: "{}"),
    .status(200, isDone: false, body: "[]"), .status(200, isDone: false, body: "{\"value\":null}"),
  ])
  func aPageThatFailsEndsTheLoad(_ fault: FakeService.Fault) async throws {
    let bench = Bench(Self.rows)
    _ = try await load(bench).get()
    bench.service.change { $0.readFaults = [fault] }
    guard case .failure = await load(bench) else {
      Issue.record("it ended well")
      return
    }
    #expect(try await load(bench).get().count == 8)
  }

  /// A row was made between two pages, so that one comes twice: the page is read once more.
  @Test func aPageThatContradictsIsReadAgain() async throws {
    let bench = Bench(Self.rows)
    bench.service.change { $0.shifts = 1 }
    #expect(try await load(bench).get() == (1...8).map { ObjectKey([.integer(Int64($0))]) })
    let reads = bench.service.state.withLock { $0.reads }
    #expect(reads.filter { $0 == "Items?$skiptoken=3" }.count == 2)
  }

  /// The service counts more rows than it gives, and names no next page.
  @Test func rowsThatAreNotLinkedAreSkippedTo() async throws {
    let bench = Bench(Self.rows)
    bench.service.change { $0.hasNoNext = true }
    #expect(try await load(bench).get() == (1...8).map { ObjectKey([.integer(Int64($0))]) })
    let reads = bench.service.state.withLock { $0.reads }
    #expect(reads.filter { $0.hasSuffix("$skip=6") }.count == 1)
  }

  /// The line breaks: the load goes on behind the last page that was kept.
  @Test(arguments: [false, true]) func aLoadGoesOn(hasNoNext: Bool) async throws {
    let bench = Bench(Self.rows)
    bench.service.change { state in
      state.hasNoNext = hasNoNext
      state.readFaults = []
    }
    let keys: [ObjectKey] = try await bench.ask { connector in
      Result { () throws(ConnectorError) in
        var keys: [ObjectKey] = []
        var place: LoadPlace?
        var breaks = 0
        while true {
          do throws(ConnectorError) {
            _ = try connector.load(
              LoadScope(entities: [Bench.item, Bench.order]), from: place,
              each: { page throws(ConnectorError) in
                guard breaks > 2 || page.rows.count != 3 || keys.count != 3 else {
                  breaks += 1
                  throw ConnectorError("The line broke", hint: "", isTransient: true)
                }
                keys += page.rows.map(\.key)
                place = page.next
              }, rejected: { _ in })
            return keys
          } catch {
            guard error.message == "The line broke" else { throw error }
            bench.service.change { $0.reads = [] }
          }
        }
      }
    }.get()
    #expect(keys == (1...8).map { ObjectKey([.integer(Int64($0))]) })
    // The first page was not asked for again.
    let reads = bench.service.state.withLock { $0.reads }
    #expect(reads.contains { $0.hasPrefix("Items?$select") && !$0.contains("$skip=") } == false)
  }

  @Test func aNextPageOfAnotherHostIsNotAskedFor() async {
    let bench = CannedBench(Bench.package)
    bench.service.answer("GET ", FakeService.document)
    bench.service.answer("GET $metadata", FakeService.metadata)
    bench.service.answer(
      "GET Items",
      "{\"@odata.context\":\"$metadata#Items\",\"value\":[{\"ID\":1}],"
        + "\"@odata.nextLink\":\"http://other.test/shop/Items?$skiptoken=1\"}")
    let result: Result<LoadEnd, ConnectorError> = await bench.ask { connector in
      Result { () throws(ConnectorError) in
        try connector.load(
          LoadScope(entities: [Bench.item]), from: nil, each: { _ in }, rejected: { _ in })
      }
    }
    guard case .failure(let error) = result else {
      Issue.record("it ended well")
      return
    }
    #expect(error.message.contains("other.test"))
    #expect(bench.service.requests.allSatisfy { $0.url.hasPrefix(CannedService.root) })
  }

  @Test func changesOfOthersAreFoundByComparison() async throws {
    let bench = Bench(Self.rows)
    func look() async throws -> [ChangeHint] {
      try await bench.ask { connector in
        Result { () throws(ConnectorError) in try connector.changes(since: nil).hints }
      }.get()
    }
    #expect(try await look() == [.entity("Item"), .entity("Order")])
    #expect(try await look() == [])
    bench.service.change { state in
      state.items[3]?.amount = 100
      state.items[5] = nil
      state.items[9] = FakeService.Row(id: 9, name: "nine")
    }
    let keys = [3, 5, 9].map { ObjectKey([.integer($0)]) }
    #expect(try await look() == [.objects(entity: "Item", keys: keys)])
    #expect(try await look() == [])
  }

  @Test func aModelThatDoesNotFitIsTold() async throws {
    let bench = Bench()
    let found = try await bench.ask { connector in
      Result { () throws(ConnectorError) in
        try connector.mismatches(with: Bench.package)
      }
    }.get()
    #expect(found == [])
    let wrong = Package(
      name: "Shop", version: "1.0",
      entities: [
        Entity(
          name: "Item", table: "Items",
          attributes: [
            Attribute(name: "id", column: "ID", type: .long, isNullable: false),
            Attribute(name: "price", column: "Price", type: .decimal, isNullable: true),
          ], key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil,
          group: "all")
      ], groups: [SynchronizationGroup(name: "all")])
    let other = try await bench.ask { connector in
      Result { () throws(ConnectorError) in try connector.mismatches(with: wrong) }
    }.get()
    #expect(other.map(\.place) == ["Item.price"])
  }
}
