import Ferry
import FerryReference
import FerrySQLite
import Foundation
import Observation
import Testing

@testable import Ferry

@Suite("Live queries", .timeLimit(.minutes(60)))
struct LiveQueryTests {
  private typealias A = Article.Attributes
  private typealias M = Maker.Attributes

  /// Rows by raw SQL, as an import would bring them.
  private func fill(_ depot: Depot, _ count: Int) throws {
    try depot.database.store.write { connection throws(FerryError) in
      try depot.database.store.sql { () throws(SQLiteError) in
        try connection.run(
          """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
          INSERT INTO Article (id, name, isSold, makerID, price, _partition, _hash)
          SELECT i, 'article ' || i, 1, i % 100, i, 1, i FROM n
          """, .integer(Int64(count)))
      }
    }
  }

  private func set(_ id: Int64, _ name: String, _ depot: Depot) throws {
    var article = try #require(try Article.findFirst(where: A.id == id, in: depot.database))
    article.name = name
    try article.save()
  }

  @Test(
    "Of 100 live queries by key range on 50,000 rows, a changed row runs those that contain it")
  func precise() async throws {
    let depot = try Depot()
    try fill(depot, 50_000)
    let live = depot.database.live
    var iterators: [LiveQuery<[Article]>.Iterator] = []
    // Ranges of 50 rows each, ten steps apart: 405 is in five of them.
    for number in 0..<100 {
      let first = Int64(number * 10 + 1)
      let query = Article.live(where: A.id.isIn(first...(first + 49)), in: depot.database)
      iterators.append(query.makeAsyncIterator())
    }
    for iterator in iterators { #expect(try await iterator.next()?.count == 50) }
    #expect(live.executions == 100)
    let before = live.concerned
    try set(405, "changed", depot)
    #expect(live.concerned == before + 5)
    for (number, iterator) in iterators.enumerated() {
      let first = number * 10 + 1
      guard (first...(first + 49)).contains(405) else { continue }
      let articles = try #require(try await iterator.next())
      #expect(articles.contains { $0.name == "changed" })
    }
    #expect(live.executions == 105)
    // Nobody contains it: nobody runs. Then all rows change at once: every one runs, once.
    try set(25_000, "changed", depot)
    #expect(live.concerned == before + 5)
    try fillNames(depot)
    for iterator in iterators { #expect(try await iterator.next()?.count == 50) }
    #expect(live.executions == 205)
  }

  @Test(
    "Of 100 live queries on owners by key range, a changed part runs those that contain its owner")
  func preciseOwners() async throws {
    let depot = try Depot(model: Baskets.package)
    let database = depot.database
    let store = database.store
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.run(
          """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
          INSERT INTO Basket (id, name, _partition, _hash) SELECT i, 'basket', 1, i FROM n
          """)
        try connection.run(
          """
          INSERT INTO Item (basketID, number, text, _partition, _hash)
          SELECT id, 1, 'apple', 1, id FROM Basket
          """)
      }
    }
    let live = database.live
    let query = { (first: Int64) in
      RowQuery(from: "Basket").where(AttributeTest("id", .greaterEqual, first))
        .where(AttributeTest("id", .lessThan, first + 50))
    }
    let iterators = (0..<100).map { number in
      database.live(query(Int64(number * 10 + 1))).makeAsyncIterator()
    }
    for iterator in iterators { #expect(try await iterator.next()?.count == 50) }
    let one = RowQuery(from: "Basket").where(AttributeTest("id", .equal, 405))
    let ofOne = try #require(try Basket.findWithQuery(one, in: database).first).live(in: database)
      .makeAsyncIterator()
    #expect(try await ofOne.next()??.isPending == false)
    #expect(live.executions == 101)
    let before = live.concerned
    var apple = try #require(try Item.findWithQuery(items(405), in: database).first)
    apple.text = "pear"
    try apple.update()
    #expect(live.concerned == before + 6)
    #expect(try await ofOne.next()??.isPending == true)
    for (number, iterator) in iterators.enumerated() {
      let first = number * 10 + 1
      guard (first...(first + 49)).contains(405) else { continue }
      #expect(try await iterator.next()?.count == 50)
    }
    #expect(live.executions == 107)
    // The owner is as pending as before: nobody runs.
    apple.text = "plum"
    try apple.update()
    // An import changes parts of which nothing is pending: nobody runs.
    try store.write { connection throws(FerryError) in
      try store.sql { () throws(SQLiteError) in
        try connection.run("UPDATE Item SET text = 'import' WHERE basketID < 400")
      }
    }
    #expect(live.concerned == before + 6)
    try apple.cancelPending()
    #expect(live.concerned == before + 12)
    #expect(try await ofOne.next()??.isPending == false)
    for (number, iterator) in iterators.enumerated() {
      let first = number * 10 + 1
      guard (first...(first + 49)).contains(405) else { continue }
      #expect(try await iterator.next()?.count == 50)
    }
    #expect(live.executions == 113)
  }

  private func items(_ basket: Int64) -> RowQuery {
    RowQuery(from: "Item").where(AttributeTest("basketID", .equal, basket))
  }

  @Test(
    "An owner is live with what is pending below it, at every depth, until the business answers")
  func ownersAnswered() async throws {
    let filled = try Filled()
    let store = filled.device.store
    let live = LiveQueries(store.rowWatch)
    let queries = [RowQuery(from: "Basket"), RowQuery(from: "Item")]
    let watches = queries.map { live.add(QueryDependencies($0, Baskets.package), isRung: false) }
    let rung = { () -> [Bool] in
      watches.map { !$0.signal.takeChanges().entities.isEmpty }
    }
    let remark = try #require(
      try Records(store).of(Remark.entity, key: ObjectKey([.text("r1")])).map(Remark.init(record:)))
    try await remark.delete()
    #expect(rung() == [true, true])
    #expect(try filled.basket(1)?.isPending == true)
    #expect(try filled.item(1)?.isPending == true)
    var basket = try #require(try filled.basket(1))
    try basket.submitPending()
    try filled.device.exchange(filled.shore)
    _ = rung()
    for id in filled.shore.stored.keys { filled.shore.accept(id) }
    try filled.device.exchange(filled.shore)
    #expect(try filled.basket(1)?.isPending == false)
    #expect(try filled.item(1)?.isPending == false)
    #expect(rung() == [true, true])
  }

  private func fillNames(_ depot: Depot) throws {
    try depot.database.store.write { connection throws(FerryError) in
      try depot.database.store.sql { () throws(SQLiteError) in
        try connection.run("UPDATE Article SET name = 'all' WHERE id <= 5000")
      }
    }
  }

  @Test("A row that enters, leaves, changes or goes concerns a query; others do not")
  func before() async throws {
    let depot = try Depot()
    try depot.article(1, "Nail", price: 5)
    let iterator = Article.live(where: A.price > 10, in: depot.database).makeAsyncIterator()
    #expect(try await iterator.next()?.map(\.id) == [])
    var nail = try #require(try Article.findAll(in: depot.database).first)
    let prices: [(Decimal, [Int64])] = [(11, [1]), (100, [1]), (9, [])]
    for (price, expected) in prices {
      nail.price = price
      try nail.update()
      #expect(try await iterator.next()?.map(\.id) == expected)
    }
    let runs = depot.database.live.executions
    nail.price = 3
    try nail.update()
    try depot.article(2, "Cheap", price: 1)
    try depot.article(3, "Dear", price: 1_000)
    #expect(try await iterator.next()?.map(\.id) == [3])
    #expect(depot.database.live.executions == runs + 1)
    let dear = try #require(try Article.findFirst(where: A.id == 3, in: depot.database))
    try await dear.delete()
    #expect(try await iterator.next()?.map(\.id) == [])
  }

  @Test("Each kind of test is held against a row in memory as the database holds it")
  func agreement() async throws {
    let depot = try Depot()
    try depot.maker(1, "Ada", "Berlin")
    for number in 0..<40 {
      let text = ["thin", "THIN nail", "a_b", "100%", nil, "Ünder", ""][number % 7]
      try depot.article(
        Int64(number), "n\(number)", maker: number % 3 == 0 ? 1 : nil, text: text,
        price: number % 5 == 0 ? nil : Decimal(number * 7 - 60) / 4,
        weight: number % 4 == 0 ? nil : Double(number) / 3,
        since: number % 6 == 0 ? nil : "20\(10 + number)-01-31", isSold: number % 2 == 0,
        serial: number % 9 == 0 ? nil : "\(number)00000000000000000000")
    }
    let tests: [TestOf<Article>] = [
      A.id < 7, A.id >= 30, A.price > 0, A.price <= -3.5, A.price == 10, A.price != 10,
      A.price.isNull, A.weight > 3, !(A.weight > 3), A.since < LocalDate("2020-05-05"),
      A.isSold == true, A.serial > 500_000, A.text == "thin", A.text != "thin", A.text == nil,
      A.text.like("thin%"), !A.text.like("%n"), A.text.contains("_"), A.text.contains("%"),
      A.text.like("%"), A.text.like("_____"), A.text.starts(with: "ü"), A.text.ends(with: "IL"),
      A.id.isIn([3, 4]), A.text.isIn(["", nil]), !A.text.isIn(["", nil]), A.makerID == A.id,
      A.id < 7 && A.text.isNotNull, A.id < 7 || A.price.isNull, !(A.id < 7 && A.price > 0),
    ]
    let entity = Article.entity
    let all = try Article.findAll(in: depot.database)
    for test in tests {
      let rowTest = RowTest(test.criteria.content, entity, alias: "Article", isAlone: true)
      let found = Set(try Article.findAll(where: test, in: depot.database).map(\.id))
      let held = Set(
        all.filter {
          rowTest.mayConcern(RowChange(object: 0, before: nil, after: $0.record.values))
        }.map(\.id))
      #expect(held == found, "\(test)")
    }
    for test in [A.maker.exists(), Article.matches("thin")] {
      let rowTest = RowTest(test.criteria.content, entity, alias: "Article", isAlone: true)
      #expect(rowTest.mayConcern(RowChange(object: 0, before: nil, after: all[0].record.values)))
    }
  }

  @Test("What a query joins or asks of other entities concerns it, by their own tests")
  func others() async throws {
    let depot = try Depot()
    try depot.maker(1, "Ada", "Berlin")
    try depot.article(1, "Nail", maker: 1)
    let database = depot.database
    let iterator = Article.live(where: A.maker.exists(M.city == "Berlin"), in: database)
      .makeAsyncIterator()
    #expect(try await iterator.next()?.count == 1)
    let runs = database.live.executions
    try depot.maker(2, "Bo", "Bremen")
    var ada = try #require(try Maker.findFirst(where: M.id == 1, in: database))
    ada.record.set(2, "Rome")
    try ada.update()
    #expect(try await iterator.next()?.count == 0)
    #expect(database.live.executions == runs + 1)
    let outer = RowQuery(from: Article.self).join(A.maker, outer: true).select(M.city)
      .where(M.city.isNull)
    let rows = database.live(outer).makeAsyncIterator()
    #expect(try await rows.next()?.count == 0)
    try await ada.delete()
    #expect(try await rows.next()?.count == 1)
  }

  @Test("Of an entity that a query has twice, a test without an alias is the first one's alone")
  func twice() async throws {
    let depot = try Depot()
    try depot.maker(1, "Ada", "Rome")
    try depot.maker(2, "Bo", "Berlin", owner: 1)
    try depot.maker(3, "Cy", "Bonn")
    let database = depot.database
    let parents = RowQuery(from: Maker.self).join(M.parent, as: "p").where(M.city == "Berlin")
      .select(M.name.of("p"))
    let rows = database.live(parents).makeAsyncIterator()
    #expect(try await rows.next()?.map(\.values) == [[.text("Ada")]])
    var ada = try #require(try Maker.findFirst(where: M.id == 1, in: database))
    ada.record.set(1, "Ada Byron")
    try ada.update()
    #expect(try await rows.next()?.map(\.values) == [[.text("Ada Byron")]])
    // What is said of each alias still holds for its rows alone.
    let known = RowQuery(from: Maker.self).join(M.parent, as: "p")
      .where(M.city == "Berlin").where(AttributeTest("p.city", .equal, "Rome"))
    let dependencies = QueryDependencies(known, depot.model)
    let entity = Maker.entity.name
    let concerned = try ["Berlin", "Rome", "Bonn"].map { city in
      let maker = try #require(try Maker.findFirst(where: M.city == city, in: database))
      let change = RowChange(object: 1, before: nil, after: maker.record.values)
      return dependencies.concern(RowChanges(entities: [entity: .rows([change])]))
    }
    #expect(concerned == [true, true, false])
  }

  @Test("Commits while nobody waits become one element; a rolled back change becomes none")
  func coalesced() async throws {
    let depot = try Depot()
    let database = depot.database
    let iterator = Article.live(in: database).makeAsyncIterator()
    #expect(try await iterator.next()?.count == 0)
    for number in 0..<20 { try depot.article(Int64(number), "n") }
    #expect(try await iterator.next()?.count == 20)
    #expect(database.live.executions == 2)
    #expect(throws: FerryError.self) {
      try database.transaction { () throws(FerryError) in
        var first = try Article.findAll(in: database)[0]
        first.name = "x"
        try first.save()
        throw FerryError(.cancelled, "no", hint: "no")
      }
    }
    let waiting = Task { try await iterator.next()?.count }
    try depot.article(99, "n")
    #expect(try await waiting.value == 21)
    #expect(database.live.executions == 3)
  }

  @Test("An object deleted under an open live query is gone from it, and its copy says so")
  func deleted() async throws {
    let depot = try Depot()
    let database = depot.database
    var nail = try depot.article(1, "Nail")
    let copy = nail
    let list = Article.live(orderBy: [.ascending(A.id)], in: database).makeAsyncIterator()
    let one = nail.live(in: database).makeAsyncIterator()
    #expect(try await list.next()?.count == 1)
    #expect(try await one.next()??.name == "Nail")
    nail.name = "Bolt"
    try nail.update()
    #expect(try await one.next()??.name == "Bolt")
    try await nail.delete()
    #expect(try await list.next()?.isEmpty == true)
    let gone = try #require(try await one.next())
    #expect(gone == nil || gone?.isDeleted == true)
    var stale = copy
    stale.name = "late"
    let error = #expect(throws: FerryError.self) { try stale.save() }
    #expect(error?.code == .objectNotFound)
  }

  @Test("A live query ends with its task and with the database")
  func ends() async throws {
    let depot = try Depot()
    let database = depot.database
    let task = Task {
      var count = 0
      for try await _ in Article.live(in: database) { count += 1 }
      return count
    }
    let iterator = Article.live(in: database).makeAsyncIterator()
    #expect(try await iterator.next()?.count == 0)
    task.cancel()
    #expect(try await task.value <= 1)
    let waiting = Task { try await iterator.next() == nil }
    await database.close()
    #expect(try await waiting.value)
    let late = Article.live(in: database).makeAsyncIterator()
    #expect(try await late.next() == nil)
  }

  @Test("Changes come commit by commit, with the attributes that have another value")
  func changes() async throws {
    let depot = try Depot()
    let iterator = Article.changes(in: depot.database).makeAsyncIterator()
    var nail = try depot.article(100_000, "Nail")
    let inserted = try #require(try await iterator.next())
    #expect(inserted.changes.map(\.kind) == [.inserted] && inserted.isComplete)
    nail.name = "Bolt"
    nail.price = 3
    try nail.update()
    let updated = try #require(try await iterator.next())
    #expect(updated.changes.last?.attributes == ["name", "price"])
    #expect(updated.changes.last?.key == ObjectKey([.integer(100_000)]))
    try fill(depot, 3_000)
    #expect(try await iterator.next()?.isComplete == false)
  }

  @Test("An observed value follows on the main actor and tells whoever looks at it")
  @MainActor func observed() async throws {
    let depot = try Depot()
    let database = depot.database
    let counted = LiveValue(Article.liveCount(where: A.price > 1, in: database), initially: -1)
    let (told, continuation) = AsyncStream.makeStream(of: Void.self)
    var tellings = told.makeAsyncIterator()
    #expect(counted.value == -1 && !counted.isLoaded)
    withObservationTracking {
      _ = counted.value
    } onChange: {
      continuation.yield()
    }
    _ = await tellings.next()
    while !counted.isLoaded { await Task.yield() }
    #expect(counted.value == 0)
    withObservationTracking {
      _ = counted.value
    } onChange: {
      continuation.yield()
    }
    try depot.article(1, "Nail", price: 2)
    _ = await tellings.next()
    while counted.value == 0 { await Task.yield() }
    #expect(counted.value == 1 && counted.failure == nil)
  }
}
