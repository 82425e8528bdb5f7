import Ferry
import FerryModel
import FerryReference
import FerrySQLite
import FerryTestTraits
import Synchronization
import Testing

@testable import Ferry

@Suite("Relationships read together with their objects")
struct PrefetchTests {
  private typealias A = Article.Attributes
  private typealias M = Maker.Attributes

  /// Statements begun while `body` runs. Inside a transaction of this thread every read uses the
  /// connection that is counted.
  private func executions(
    _ depot: Depot, _ body: () throws -> Void
  ) throws -> Int {
    try depot.database.store.write { connection throws(FerryError) in
      let before = connection.executions
      do { try body() } catch { Issue.record(error) }
      return connection.executions - before
    }
  }

  private func depot(makers: Int, articlesOfEach: Int) throws -> Depot {
    let depot = try Depot()
    try depot.database.store.write { connection throws(FerryError) in
      try depot.database.store.sql { () throws(SQLiteError) in
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        try connection.run(
          """
          \(numbers) INSERT INTO Maker (id, name, city, _partition, _hash)
          SELECT i, 'maker', 'Berlin', 1, i FROM n
          """, .integer(Int64(makers)))
        try connection.run(
          """
          \(numbers) INSERT INTO Article (id, name, isSold, makerID, _partition, _hash)
          SELECT i, 'article', 1, (i - 1) / ? + 1, 1, i FROM n
          """, .integer(Int64(makers * articlesOfEach)), .integer(Int64(articlesOfEach)))
      }
    }
    return depot
  }

  @Test(
    "1,000 objects with those of a relationship are two statements, however asked",
    .reference("facts/1.5"))
  func twoStatements() throws {
    let depot = try depot(makers: 1_000, articlesOfEach: 3)
    let database = depot.database
    let joined = RowQuery(from: Maker.self).join(M.articles).where(A.id > 0)
    let ways: [() throws -> [Maker]] = [
      { try Maker.findAll(prefetching: [M.articles], in: database) },
      {
        try Maker.findAll(
          where: M.city == "Berlin", orderBy: [.descending(M.id)], prefetching: [M.articles],
          in: database)
      },
      {
        try Maker.findAll(orderBy: [.ascending(M.name)], prefetching: [M.articles], in: database)
      },
      {
        try Maker.findWithQuery(joined, prefetching: [M.articles], in: database)
      },
      {
        try Maker.query(
          "WHERE city = ?1 ORDER BY name", [.text("Berlin")], prefetching: [M.articles],
          in: database)
      },
    ]
    for way in ways {
      let count = try executions(depot) {
        let makers = try way()
        var articles = 0
        for maker in makers { articles += try maker.articles().count }
        #expect(makers.count == 1_000 && articles == 3_000)
      }
      #expect(count == 2)
    }
    let walked = try executions(depot) {
      for maker in try Maker.findAll(take: 5, in: database) { _ = try maker.articles() }
    }
    #expect(walked == 6, "without prefetching, one for each walk")
    let both = try executions(depot) {
      let makers = try Maker.findAll(
        where: M.id == 7, prefetching: [M.articles, M.parent], in: database)
      #expect(try makers[0].articles().count == 3)
      #expect(try makers[0].record.related("parent") as Maker? == nil)
    }
    #expect(both == 3)
  }

  @Test(
    "Paths of several steps are one statement for each step, however they begin",
    .reference("facts/1.5"))
  func severalSteps() throws {
    let depot = try depot(makers: 200, articlesOfEach: 3)
    try depot.database.store.write { connection throws(FerryError) in
      try depot.database.store.sql { () throws(SQLiteError) in
        try connection.run("UPDATE Maker SET owner = (id - 1) / 10 + 1 WHERE id > 10")
      }
    }
    let database = depot.database
    let paths: [any RelationshipPath<Article>] = [
      A.maker, A.maker.then(M.parent), A.maker.then(M.parent).then(M.parent),
      A.maker.then(M.articles),
    ]
    let count = try executions(depot) {
      var (parents, siblings) = (0, 0)
      for article in try Article.findAll(prefetching: paths, in: database) {
        let maker = try #require(try article.maker())
        siblings += try maker.articles().count
        let parent: Maker? = try maker.record.related("parent")
        if let parent {
          parents += 1
          #expect(parent.id == (maker.id - 1) / 10 + 1)
          _ = try parent.record.related("parent") as Maker?
        }
      }
      #expect(parents == 570 && siblings == 1_800)
    }
    #expect(count == 5, "the articles, their makers, two steps of parents, the makers' articles")
  }

  @Test("One object is found, loaded and searched for with what it leads to")
  func oneObject() throws {
    let depot = try depot(makers: 20, articlesOfEach: 2)
    let database = depot.database
    let key = ObjectKey([.integer(3)])
    let ways: [() throws -> Maker?] = [
      { try Maker.find(key: key, prefetching: [M.articles.then(A.maker)], in: database) },
      { try Maker.load(key: key, prefetching: [M.articles.then(A.maker)], in: database) },
      {
        try Maker.findFirst(
          where: M.id == 3, orderBy: [.ascending(M.name)],
          prefetching: [M.articles.then(A.maker)], in: database)
      },
    ]
    for way in ways {
      let maker = try #require(try way())
      let count = try executions(depot) {
        let owners = try maker.articles().map { try $0.maker()?.id }
        #expect(owners == [3, 3])
      }
      #expect(count == 0)
    }
    let missing = ObjectKey([.integer(99)])
    #expect(try Maker.find(key: missing, prefetching: [M.articles], in: database) == nil)
  }

  @Test("A live query brings what it prefetches, anew when that changes")
  func live() async throws {
    let depot = try depot(makers: 2, articlesOfEach: 2)
    let database = depot.database
    let makers = Maker.live(
      where: M.id == 1, prefetching: [M.articles.then(A.maker)], in: database
    ).makeAsyncIterator()
    let first = try #require(try await makers.next())
    let one = try #require(first.first).live(prefetching: [M.articles], in: database)
      .makeAsyncIterator()
    _ = try await one.next()
    var article = try #require(try first.first?.articles().first)
    article.name = "renamed"
    try article.update()
    let second = try #require(try await makers.next()?.first)
    let alone = try #require(try await one.next() ?? nil)
    let count = try executions(depot) {
      let seen = try [second, alone].map { try $0.articles().first?.name }
      let owner = try second.articles().first?.maker()
      #expect(seen == ["renamed", "renamed"] && owner?.id == 1)
    }
    #expect(count == 0)
    await database.close()
  }

  /// A relationship that begins to be followed only when somebody has changed what it leads to.
  private struct Late: RelationshipPath {
    typealias Object = Maker
    typealias Target = Article
    static let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)
    var steps: [RelationshipStep] {
      Late.meanwhile.withLock { $0?() }
      return M.articles.steps
    }
  }

  @Test("Objects and what was prefetched with them are of one snapshot")
  func oneSnapshot() throws {
    let depot = try depot(makers: 2, articlesOfEach: 1)
    Late.meanwhile.withLock { [database = depot.database] meanwhile in
      meanwhile = {
        do {
          for var article in try Article.findAll(in: database) { try article.delete() }
        } catch {
          Issue.record(error)
        }
      }
    }
    defer { Late.meanwhile.withLock { $0 = nil } }
    let makers = try Maker.findAll(where: M.id > 0, prefetching: [Late()], in: depot.database)
    #expect(try Article.count(in: depot.database) == 0)
    #expect(try makers.map { try $0.articles().count } == [1, 1])
  }

  @Test("Prefetching follows two attributes, and the way from the many to the one")
  func ways() throws {
    let depot = try Depot(model: Baskets.package)
    let database = depot.database
    func add(_ values: AttributeValue..., of entity: Entity) throws {
      var record = ObjectRecord(entity, in: database)
      record.values = values
      _ = try PendingStore.save(try record.change(.create), in: database.store)
    }
    try add(.null, .text("fruit"), of: Basket.entity)
    let basket = try #require(try Basket.findAll(in: database).first)
    for number in 1...2 as ClosedRange<Int64> {
      try add(.integer(basket.id), .integer(number), .null, of: Item.entity)
    }
    try add(.text("r1"), .integer(basket.id), .integer(1), .null, of: Remark.entity)
    var items = try Item.findAll(
      prefetching: [Item.Attributes.remarks, Item.Attributes.basket], in: database)
    let count = try executions(depot) {
      let remarks: [[Remark]] = try items.map { try $0.record.referring(by: "item") }
      let owner: Basket? = try items[1].record.related("basket")
      #expect(remarks.map(\.count) == [1, 0] && owner?.name == "fruit")
    }
    #expect(count == 0)
    items[0].record.clearRelationshipObjects()
    #expect(items[0].record.prefetched.isEmpty)
  }

  @Test("What was prefetched is given for the key that it was read for, and for no other")
  func anotherKey() throws {
    let depot = try Depot()
    try depot.maker(1, "Ada", nil)
    try depot.maker(2, "Bo", nil)
    try depot.article(7, "Nail", maker: 1)
    let other = try depot.article(8, "Screw", maker: 2)
    let read = {
      try Article.findAll(prefetching: [Article.Attributes.maker], in: depot.database)[0]
    }
    var nail = try read()
    nail.record.set(1, 2 as Int64?)
    #expect(try nail.maker()?.name == "Bo")
    nail.record.set(1, Int64?.none)
    #expect(try nail.maker() == nil)
    nail = try read()
    nail.copyAll(from: other)
    #expect(try nail.maker()?.name == "Bo")
    nail = try read()
    nail.record.values[1] = .integer(2)
    #expect(try nail.maker()?.name == "Bo")
    nail = try read()
    nail.record.set(1, 1 as Int64?)
    nail.name = "Bolt"
    try depot.database.store.write { connection throws(FerryError) in
      let before = connection.executions
      #expect(try nail.maker()?.name == "Ada")
      #expect(connection.executions == before, "the same key: nothing is read")
    }
  }
}
