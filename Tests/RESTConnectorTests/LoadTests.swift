import FerryConnector
import FerryModel
import FerryRESTConnector
import Testing

/// Rows of a service, page by page, and what others change there.
@Suite(.timeLimit(.minutes(60)))
struct LoadTests {
  private let seven = (1...7).map { FakeService.Row(id: $0, name: "item \($0)", amount: $0) }

  @Test(arguments: [
    "\"paging\": \"link\"", "\"paging\": {\"next\": \"/next\"}",
    "\"paging\": {\"offset\": \"offset\", \"limit\": \"limit\"}, \"pageRows\": 500",
    "\"paging\": {\"page\": \"page\"}", "\"paging\": {\"next\": \"/next\"}, \"count\": \"/total\"",
  ])
  func allPagesAreRead(_ paging: String) async throws {
    let bench = try Bench(seven, Bench.text(list: paging))
    let (rows, rejected) = try await bench.load()
    #expect(rows.map { $0.values?[0] } == (1...7).map { .integer($0) })
    #expect(rejected.isEmpty)
  }

  /// A row was inserted before the second page: it gives a row of the first one again.
  @Test func aRowThatComesTwiceIsOne() async throws {
    let bench = try Bench(
      seven, Bench.text(list: "\"paging\": {\"offset\": \"offset\"}"))
    bench.service.change { $0.overlap = 1 }
    #expect(try await bench.load().rows.count == 7)
  }

  @Test func pagesInACircleEnd() async throws {
    for next in ["/shop/items", "/shop/items?a=1", "?b=1"] {
      let bench = try Bench([], Bench.text(list: "\"paging\": {\"next\": \"/next\"}"))
      bench.service.change { $0.listBody = "{\"rows\":[{\"id\":1}],\"next\":\"\(next)\"}" }
      await #expect(throws: ConnectorError.self) { try await bench.load() }
      #expect(bench.service.requests.count <= 4)
    }
  }

  @Test func aServiceThatDoesNotKnowTheParameterIsSeen() async throws {
    let bench = try Bench([], Bench.text(list: "\"paging\": {\"offset\": \"start\"}"))
    bench.service.change { $0.listBody = "{\"rows\":[{\"id\":1}]}" }
    await #expect(throws: ConnectorError.self) { try await bench.load() }
  }

  @Test func noLinkLeadsToAnotherHost() async throws {
    for link in [
      "http://other.test/items", "//other.test/items", "https://service.test/shop/items",
      "http://service.test:81/items", "http://user@service.test/shop/items?x", "file:///etc/passwd",
      "../../admin", "/shop/%2e%2e/admin", "javascript:1",
    ] {
      let bench = try Bench([], Bench.text(list: "\"paging\": \"link\""))
      bench.service.change {
        $0.listBody = "{\"rows\":[]}"
        $0.listHeaders = ["Link": "<\(link)>; rel=\"next\""]
      }
      await #expect(throws: ConnectorError.self, "\(link)") { try await bench.load() }
      #expect(bench.service.requests.count == 1, "\(link)")
    }
  }

  @Test func aListThatIsNoneSaysWhatToCorrect() async throws {
    let bench = try Bench([.one])
    bench.service.change { $0.listBody = "{\"rows\":{\"id\":1}}" }
    let error = await #expect(throws: ConnectorError.self) { try await bench.load() }
    #expect(error?.hint.contains("\"rows\"") == true)
    let mismatches = try await bench.ask { connector in
      Result { () throws(ConnectorError) in try connector.mismatches(with: Bench.package) }
    }.get()
    #expect(mismatches.first?.place == "/entities/Item/list")
  }

  /// Each of these rows is left out with a reason; the others come.
  @Test func rowsThatDoNotFitAreNamed() async throws {
    let bench = try Bench()
    bench.service.change {
      $0.listBody = """
        {"rows":[{"id":1,"name":"one","amount":5},{"id":2,"name":"two","amount":1e400},
        {"id":3,"name":"three","amount":4.5},{"id":4,"name":"four","name":"vier","amount":1},
        {"id":null,"name":"x","amount":1},{"name":"y"},{"id":7,"name":["z"],"amount":1},
        {"id":8,"name":"eight","amount":9007199254740993000},{"id":9.0,"name":"nine","amount":1e1}]}
        """
    }
    let (rows, rejected) = try await bench.load()
    #expect(
      rows.map(\.values) == [
        [.integer(1), .text("one"), .integer(5)], [.integer(9), .text("nine"), .integer(10)],
      ])
    #expect(
      rejected.map(\.attribute) == ["amount", "amount", "name", "id", "id", "name", "amount"])
    #expect(rejected.allSatisfy { !$0.reason.isEmpty })
  }

  @Test(arguments: [
    "{\"rows\":[{\"id\":NaN}]}", "{\"rows\":[{\"id\":1,\"name\":\"\\ud800\"}]}",
    String(repeating: "[", count: 70) + String(repeating: "]", count: 70), "<html></html>", "",
  ])
  func whatIsNoTextOfTheServiceIsTriedAgain(_ body: String) async throws {
    let bench = try Bench()
    bench.service.change { $0.listBody = body }
    await #expect(throws: ConnectorError.self) { try await bench.load() }
  }

  @Test func aCountThatIsNotReachedIsNoWholeList() async throws {
    let bench = try Bench(
      [], Bench.text(list: "\"paging\": {\"offset\": \"offset\"}, \"count\": \"/total\""))
    bench.service.change { $0.listBody = "{\"rows\":[],\"total\":3}" }
    let error = await #expect(throws: ConnectorError.self) { try await bench.load() }
    #expect(error?.isTransient == true)
  }

  @Test func aKeyOfTheServiceIsSent() async throws {
    let bench = try Bench(
      [.one],
      Bench.text(top: "\"credential\": {\"header\": \"X-API-Key\", \"file\": \"/proc/self/comm\"}"))
    bench.service.change { $0.token = "nobody" }
    await #expect(throws: ConnectorError.self) { try await bench.load() }
    let sent = bench.service.requests.last?.headers["X-API-Key"] ?? ""
    #expect(!sent.isEmpty)
    bench.service.change { $0.token = sent }
    #expect(try await bench.load().rows.count == 1)
  }

  @Test func changesAreFoundByComparison() async throws {
    let bench = try Bench(seven, Bench.text(list: "\"paging\": \"link\""))
    _ = try await bench.changes()
    #expect(try await bench.changes().hints.isEmpty)
    bench.service.change {
      $0.rows["items"]?[2]?.amount = 70
      $0.rows["items"]?[3] = nil
    }
    let keys = [ObjectKey([.integer(2)]), ObjectKey([.integer(3)])]
    #expect(try await bench.changes().hints == [.objects(entity: "Item", keys: keys)])
  }

  @Test func changesAreAskedForByATime() async throws {
    let changes = """
      "changes": {"address": "/items{?since}", "rows": "/rows", "field": "/changed",
        "overlapSeconds": 0, "paging": "link"}, "deletes": {"flag": "/deleted"}
      """
    let text =
      "{\"entities\": {\"Item\": {\"list\": {\"address\": \"/items\", \"rows\": \"/rows\", "
      + "\"paging\": \"link\"}, \"read\": \"/items/{id}\", \"create\": \"/items\", "
      + "\"update\": \"/items/{id}\", \"delete\": \"/items/{id}\", \(changes)}, "
      + "\"Order\": {\"list\": {\"address\": \"/orders\", \"rows\": \"/rows\"}, "
      + "\"read\": \"/orders/{id}\", \"create\": \"/orders\", \"update\": \"/orders/{id}\", "
      + "\"delete\": \"/orders/{id}\", \(changes.replacing("items", with: "orders"))}}}"
    let bench = try Bench(seven, text)
    bench.service.change { state in
      for key in 1...7 { state.rows["items"]?[Int64(key)]?.changed = 100 }
      state.rows["orders"]?[1] = FakeService.Row(id: 1, changed: 100)
    }
    let first = try await bench.changes()
    #expect(first.hints == [.entity("Item"), .entity("Order")])
    #expect(try await bench.changes(since: first.cursor).rows.count == 8)
    #expect(try await bench.changes(since: first.cursor).rows.isEmpty)
    bench.service.change { state in
      state.rows["items"]?[2]?.amount = 70
      state.rows["items"]?[2]?.changed = 101
      state.rows["items"]?[3]?.isDeleted = true
      state.rows["items"]?[3]?.changed = 102
    }
    let second = try await bench.changes(since: first.cursor)
    #expect(
      second.rows == [
        RowImage(
          entity: "Item", key: ObjectKey([.integer(2)]),
          values: [.integer(2), .text("item 2"), .integer(70)]),
        RowImage(entity: "Item", key: ObjectKey([.integer(3)]), values: nil),
      ])
    // Another process goes on where this one was.
    try bench.restart()
    let third = try await bench.changes(since: second.cursor)
    #expect(!third.hints.contains(.entity("Item")))
  }

  @Test func aRowOfAnotherKeyIsNotTaken() async throws {
    let bench = try Bench([.one])
    bench.service.change { $0.rows["items"]?[5] = FakeService.Row(id: 6) }
    let result = await bench.ask { connector in
      Result { () throws(ConnectorError) in
        try connector.read(Bench.item, keys: [ObjectKey([.integer(5)])])
      }
    }
    #expect(throws: ConnectorError.self) { try result.get() }
  }
}
