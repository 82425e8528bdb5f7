import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import Foundation
import Synchronization
import Testing

@Suite("Forms of calls that apps are used to")
struct CallFormTests {
  private typealias A = Article.Attributes
  private let depot: Depot
  private var database: FerryDatabase { depot.database }

  init() throws {
    depot = try Depot()
    try depot.maker(1, "Ada", "Berlin")
    for id in 1...5 as ClosedRange<Int64> {
      try depot.article(
        id, "Nail \(id)", maker: id < 5 ? 1 : nil, price: id < 4 ? Decimal(id) : nil)
    }
  }

  @Test("An absent test is a test that all pass; it may be chosen at run time")
  func absentTest() throws {
    for isFiltered in [false, true] {
      let test = isFiltered ? A.id > 3 : nil
      #expect(try Article.findAll(where: test, in: database).count == (isFiltered ? 2 : 5))
      #expect(try Article.count(where: test, in: database) == (isFiltered ? 2 : 5))
      #expect(
        try Article.findFirst(where: test, in: database)?.id == (isFiltered ? 4 : 1))
    }
    #expect(try Article.count(in: database) == 5)
  }

  @Test("An order and the values of a SQL text may be put together before")
  func arrays() throws {
    var order: [SortCriteria] = [.descending(A.makerID)]
    order.append(.descending(A.id))
    let ids: [Int64] = [4, 3, 2, 1, 5]
    #expect(try Article.findAll(orderBy: order, in: database).map(\.id) == ids)
    #expect(try Article.findFirst(orderBy: order, in: database)?.id == 4)
    #expect(
      try Article.findWithQuery(RowQuery(from: Article.self).orderBy(order), in: database).map(\.id)
        == ids)
    #expect(
      try Article.findAll(orderBy: [.descending(A.makerID), .descending(A.id)], in: database)
        .map(\.id) == ids)
    let wanted: [any AttributeConvertible] = [Int64(2), "Nail 4"]
    let text = "SELECT id FROM Article WHERE id > ? AND name < ?"
    #expect(try database.executeSQL(text, values: wanted).map { $0.get(0, as: Int.self) } == [3])
    #expect(try database.executeSQL(text, 2, "Nail 4").map { $0.get(0, as: Int.self) } == [3])
    let error = #expect(throws: FerryError.self) { try database.executeSQL(text, values: []) }
    #expect(error?.code == .invalidQuery)
  }

  @Test(
    "Ranges and lists of plain values test attributes that may be null", .reference("facts/1.6"))
  func nullableRanges() throws {
    let two: Decimal = 2
    let tests: [(TestOf<Article>, [Int64])] = [
      (A.price.isIn(1...two), [1, 2]), (A.price.isIn(1..<two), [1]),
      (A.price.between(2, and: 3), [2, 3]), (A.price.isIn([two, 7]), [2]),
      (A.price.isIn([two, nil]), [2, 4, 5]), (!A.price.isIn(1...two), [3, 4, 5]),
      (A.makerID.isIn(Set<Int64>([1])), [1, 2, 3, 4]), (A.makerID.isIn(0...3), [1, 2, 3, 4]),
      (A.id.isIn(2...3), [2, 3]), (A.id.isIn(2..<3), [2]),
    ]
    for (test, ids) in tests {
      #expect(
        try Article.findAll(where: test, orderBy: [.ascending(A.id)], in: database).map(\.id) == ids
      )
    }
  }

  private struct Unwanted: Error, Equatable { let reason: String }

  @Test(
    "A transaction whose body throws the app's own error is undone and throws that",
    .reference("facts/1.4"))
  func ownError() throws {
    let own = #expect(throws: Unwanted.self) {
      try database.transaction {
        var article = try #require(try Article.findFirst(in: database))
        try article.delete()
        #expect(try Article.count(in: database) == 4)
        throw Unwanted(reason: "changed my mind")
      }
    }
    #expect(own == Unwanted(reason: "changed my mind"))
    #expect(try Article.count(in: database) == 5)
    let count = try database.transaction {
      for var article in try Article.findAll(where: A.id > 3, in: database) {
        try article.delete()
      }
      return try Article.count(in: database)
    }
    #expect(count == 3)
  }

  @Test(
    "Only the savepoint is undone whose body threw, where the outer one catches it",
    .reference("facts/1.4"))
  func ownErrorInside() throws {
    try database.transaction {
      var first = try #require(try Article.findFirst(in: database))
      try first.delete()
      #expect(throws: Unwanted.self) {
        try database.transaction {
          for var article in try Article.findAll(in: database) { try article.delete() }
          throw Unwanted(reason: "inner")
        }
      }
    }
    #expect(try Article.findAll(in: database).map(\.id) == [2, 3, 4, 5])
  }

  @Test("Ferry's own errors leave a transaction as they are, typed where the body says so")
  func ferryError() throws {
    let error = #expect(throws: FerryError.self) {
      try database.transaction {
        var article = try #require(try Article.findFirst(in: database))
        try article.delete()
        _ = try Article.load(key: ObjectKey([.integer(99)]), in: database)
      }
    }
    #expect(error?.code == .objectNotFound)
    do throws(FerryError) {
      try database.transaction { () throws(FerryError) in
        _ = try Article.load(key: ObjectKey([.integer(99)]), in: database)
      }
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.code == .objectNotFound)
    }
    #expect(try Article.count(in: database) == 5)
  }
}
