import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import Testing

@testable import Ferry

/// The reference's operators one by one, as an app writes them that brings its queries along.
@Suite("Operators of the reference")
struct OperatorTests {
  private typealias A = Article.Attributes
  private typealias M = Maker.Attributes
  private let depot: Depot
  private var database: FerryDatabase { depot.database }

  init() throws {
    depot = try Depot()
    try depot.threeMakers()
    try depot.article(10, "Nail", maker: 1, text: "thin", price: 9.5)
    try depot.article(11, "Screw", maker: 1, price: 10, isSold: false)
    try depot.article(12, "Saw 100%", maker: 2, text: "a_b", price: 100)
    try depot.article(13, "saw", price: -3)
    try depot.article(14, "Glue", maker: 2)
  }

  @Test(
    "Each operator has its number and finds its objects; null is none of it",
    .reference("facts/1.3", "facts/1.6", "facts/5.17"))
  func operators() throws {
    let ofBremen = RowQuery(from: Maker.self).where(
      CompositeTest(
        .and,
        [
          AttributeTest("Maker.id", .equal, column: "Article.makerID"),
          AttributeTest("city", .equal, "Bremen"),
        ]))
    let cases: [(Int, AttributeTest, [Int64])] = [
      (1, AttributeTest("text", .isNull), [11, 13, 14]),
      (2, AttributeTest("text", .notNull), [10, 12]),
      (3, AttributeTest("name", .equal, "Nail"), [10]),
      (4, AttributeTest("text", .notEqual, "thin"), [11, 12, 13, 14]),
      (5, AttributeTest("name", .like, "s%w"), [11, 13]),
      (6, AttributeTest("text", .notLike, "t%"), [11, 12, 13, 14]),
      (7, AttributeTest("name", .match, "saw"), [12, 13]),
      (8, AttributeTest("name", .notMatch, "saw"), [10, 11, 14]),
      (9, AttributeTest("price", .lessThan, 10), [10, 13]),
      (10, AttributeTest("price", .lessEqual, 10), [10, 11, 13]),
      (11, AttributeTest("price", .greaterThan, 10), [12]),
      (12, AttributeTest("price", .greaterEqual, 10), [11, 12]),
      (13, AttributeTest("name", .contains, "aw"), [12, 13]),
      (14, AttributeTest("text", .notContains, "hi"), [11, 12, 13, 14]),
      (15, AttributeTest("name", .startsWith, "sa"), [12, 13]),
      (16, AttributeTest("text", .notStartsWith, "th"), [11, 12, 13, 14]),
      (17, AttributeTest("name", .endsWith, "w"), [11, 13]),
      (18, AttributeTest("text", .notEndsWith, "n"), [11, 12, 13, 14]),
      (19, AttributeTest("id", .in, [10, 14, 99]), [10, 14]),
      (20, AttributeTest("id", .notIn, [10, 14, 99]), [11, 12, 13]),
      (21, AttributeTest(.exists, ofBremen), [12, 14]),
      (22, AttributeTest(.notExists, ofBremen), [10, 11, 13]),
    ]
    #expect(cases.map(\.0) == AttributeTest.Operator.allCases.map(\.rawValue))
    for (number, test, expected) in cases {
      let query = RowQuery(from: Article.self).where(test).orderBy(.ascending(A.id))
      let found = try Article.findWithQuery(query, in: database).map(\.id)
      #expect(found == expected, "\(number): \(test)")
      #expect(try Article.countWithQuery(query, in: database) == expected.count)
    }
  }

  @Test(
    "A test may compare with another column, of the object or of a joined one",
    .reference("facts/1.6"))
  func columns() throws {
    let daughters = RowQuery(from: Maker.self)
      .where(AttributeTest("id", .greaterThan, column: "owner")).orderBy(.ascending(M.id))
    #expect(try Maker.findWithQuery(daughters, in: database).map(\.id) == [2, 3])
    let joined = RowQuery(from: "Article", as: "a").select("a.id")
      .join("Maker", as: "m", "m.id", "a.makerID")
      .where(AttributeTest("a.name", .lessThan, column: "m.name"))
      .orderBy(.ascending("a.id"))
    #expect(try database.executeQuery(joined).map { $0.values[0] } == [])
    let later = RowQuery(from: "Article", as: "a").select("a.id")
      .join("Maker", as: "m", "m.id", "a.makerID")
      .where(AttributeTest("a.name", .greaterThan, column: "m.name"))
      .orderBy(.ascending("a.id")).skip(1).take(2)
    #expect(
      try database.executeQuery(later).map { $0.values[0] } == [.integer(11), .integer(12)])
  }

  @Test(
    "A second order is that of equals; skip and take cut what distinct and union leave",
    .reference("facts/1.6"))
  func cut() throws {
    let twice = RowQuery(from: Article.self).orderBy(.ascending(A.isSold)).orderBy(
      .descending(A.id))
    #expect(try Article.findWithQuery(twice, in: database).map(\.id) == [11, 14, 13, 12, 10])
    let makers = RowQuery(from: Article.self).select(A.makerID).where(A.makerID.isNotNull)
    let second = makers.distinct().orderBy(.descending(A.makerID)).skip(1).take(1)
    #expect(try database.executeQuery(second).map { $0.values[0] } == [.integer(1)])
    let all = RowQuery(from: Maker.self).select(M.id.as("makerID"))
    let numbers = { (query: RowQuery) in
      try database.executeQuery(query.orderBy(.descending("makerID")).skip(1).take(2))
        .map { $0.values[0].shown }
    }
    #expect(try numbers(makers.union(all)) == ["2", "1"])
    #expect(try numbers(makers.unionAll(all)) == ["2", "2"])
    #expect(try numbers(makers.intersect(all)) == ["1"])
    #expect(try numbers(all.except(makers)) == [])
  }
}
