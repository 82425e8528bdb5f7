import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import Foundation
import Testing

@testable import Ferry

@Suite("Queries")
struct QueryTests {
  private typealias A = Article.Attributes
  private typealias M = Maker.Attributes
  private let depot: Depot
  private var database: FerryDatabase { depot.database }

  init() throws {
    depot = try Depot()
    try depot.threeMakers()
    try depot.article(
      10, "Nail", maker: 1, text: "thin", price: 9.5, weight: 0.5, since: "2020-01-31",
      serial: "9")
    try depot.article(
      11, "Screw", maker: 1, price: 10, weight: 1.5, since: "2021-02-01", isSold: false,
      serial: "100000000000000000000")
    try depot.article(12, "Saw 100%", maker: 2, text: "a_b", price: 100, weight: 20)
    try depot.article(13, "saw", price: -3, since: "2019-12-31")
    try depot.article(14, "Glue", maker: 2)
  }

  private func ids(_ test: TestOf<Article>) throws -> [Int64] {
    try Article.findAll(where: test, orderBy: [.ascending(A.id)], in: database).map(\.id)
  }

  @Test(
    "Each test of an attribute finds its objects, typed and by name",
    .reference("facts/1.3", "facts/1.6"))
  func tests() throws {
    let cases: [(TestOf<Article>, AttributeTest, [Int64])] = [
      (A.name == "Nail", AttributeTest("name", .equal, "Nail"), [10]),
      (A.text != "thin", AttributeTest("text", .notEqual, "thin"), [11, 12, 13, 14]),
      (A.price < 10, AttributeTest("price", .lessThan, Decimal(10)), [10, 13]),
      (A.price <= 10, AttributeTest("price", .lessEqual, 10), [10, 11, 13]),
      (A.price > 9, AttributeTest("price", .greaterThan, "9"), [10, 11, 12]),
      (A.weight >= 1.5, AttributeTest("weight", .greaterEqual, 1.5), [11, 12]),
      (A.text.isNull, AttributeTest("text", .isNull), [11, 13, 14]),
      (A.text.isNotNull, AttributeTest("text", .notNull), [10, 12]),
      (A.name.like("s%w"), AttributeTest("name", .like, "S%W"), [11, 13]),
      (!A.name.like("s%w"), AttributeTest("name", .notLike, "s%w"), [10, 12, 14]),
      (A.name.contains("100%"), AttributeTest("name", .contains, "100%"), [12]),
      (!A.name.contains("a"), AttributeTest("name", .notContains, "A"), [11, 14]),
      (A.name.starts(with: "Sa"), AttributeTest("name", .startsWith, "Sa"), [12, 13]),
      (A.name.ends(with: "w"), AttributeTest("name", .endsWith, "w"), [11, 13]),
      (!A.text.ends(with: "_b"), AttributeTest("text", .notEndsWith, "_b"), [10, 11, 13, 14]),
      (A.id.isIn([10, 14, 99]), AttributeTest("id", .in, [10, 14, 99]), [10, 14]),
      (!A.id.isIn([10, 14]), AttributeTest("id", .notIn, [10, 14]), [11, 12, 13]),
      (
        A.text.isIn(["thin", nil]), AttributeTest("text", .in, ["thin", String?.none]),
        [10, 11, 13, 14]
      ),
      (A.id.between(11, and: 12), AttributeTest("id", .greaterEqual, 11), [11, 12]),
      (A.isSold == false, AttributeTest("isSold", .equal, false), [11]),
      (
        A.since > LocalDate("2020-01-30"), AttributeTest("since", .greaterThan, "2020-01-30"),
        [10, 11]
      ),
      (A.serial > 9, AttributeTest("serial", .greaterThan, 9), [11]),
    ]
    for (typed, named, expected) in cases {
      #expect(try ids(typed) == expected, "\(typed)")
      if case .compare(_, .greaterEqual, .value(.integer(11))) = named.criteria.content { continue }
      #expect(try ids(TestOf(named)) == expected, "\(named)")
    }
    #expect(try ids(A.id.isIn(11...12)) == [11, 12])
    #expect(try ids(A.id.isIn(11..<12)) == [11])
    #expect(AttributeTest.Operator.allCases.map(\.rawValue) == Array(1...22))
  }

  @Test(
    "And, or and not combine tests; what one holds of, its opposite does not",
    .reference("facts/1.6"))
  func composites() throws {
    #expect(try ids(A.price > 9 && A.name == "Screw") == [11])
    #expect(try ids(A.price > 99 || A.name == "Nail") == [10, 12])
    #expect(try ids(!(A.price > 9)) == [13, 14])
    let nail = AttributeTest("name", .equal, "Nail")
    let heavy = AttributeTest("weight", .greaterThan, 1)
    #expect(try ids(TestOf(CompositeTest(.or, [nail, heavy]))) == [10, 11, 12])
    #expect(try ids(TestOf(CompositeTest(.and, [nail, heavy]))) == [])
    #expect(try ids(TestOf(CompositeTest(.not, [nail, heavy]))) == [13, 14])
    for test in [A.price > 9, A.text == "thin", A.weight < 2, A.name.like("%w"), A.text.isNull] {
      #expect(try Set(ids(test)).isDisjoint(with: ids(!test)))
      #expect(try ids(test).count + ids(!test).count == 5)
    }
  }

  @Test(
    "Sort, skip and take walk through the objects; decimals sort as numbers",
    .reference("facts/1.6"))
  func order() throws {
    let sorted = try Article.findAll(orderBy: [.ascending(A.price)], in: database).map(\.id)
    #expect(sorted == [14, 13, 10, 11, 12])
    let second = try Article.findAll(
      orderBy: [.descending(A.isSold), .descending(A.price)], skip: 1, take: 2, in: database)
    #expect(second.map(\.id) == [10, 13])
    #expect(
      try Article.findFirst(where: A.price > 0, orderBy: [.descending(A.serial)], in: database)?.id
        == 11)
    let bySerial = RowQuery(from: Article.self).where(A.serial.isNotNull).orderBy(
      .descending("serial"))
    #expect(try Article.findWithQuery(bySerial, in: database).map(\.id) == [11, 10])
    #expect(try Article.count(where: A.price > 0, in: database) == 3)
    #expect(
      try Article.countWithQuery(RowQuery(from: Article.self).skip(1).take(3), in: database) == 3)
  }

  @Test(
    "Relationships are asked for and joined, also of an entity with itself", .reference("facts/1.6")
  )
  func joins() throws {
    #expect(try ids(A.maker.exists(M.city == "Bremen")) == [12, 14])
    #expect(try ids(!A.maker.exists()) == [13])
    let makers = try Maker.findAll(where: M.articles.exists(A.price > 50), in: database)
    #expect(makers.map(\.id) == [2])
    #expect(
      try Maker.findAll(where: M.parent.exists(M.articles.exists(A.name == "Nail")), in: database)
        .map(\.id) == [2, 3])
    let joined = RowQuery(from: Article.self).join(A.maker).where(A.price > 0)
      .orderBy(.descending(M.name), .ascending(A.name))
    #expect(try Article.findWithQuery(joined, in: database).map(\.id) == [12, 10, 11])
    #expect(try Article.countWithQuery(joined, in: database) == 3)
    let many = RowQuery(from: Maker.self).join(M.articles).orderBy(.descending(A.price)).take(2)
    #expect(try Maker.findWithQuery(many, in: database).map(\.id).sorted() == [1, 2])
    let daughters = RowQuery(from: Maker.self, as: "d").join(
      M.parent, as: "p", of: "d", outer: true
    )
    .select(M.name.of("d"), M.name.of("p").as("parent")).orderBy(.ascending(M.name.of("d")))
    let rows = try database.executeQuery(daughters)
    #expect(rows.columnNames == ["name", "parent"])
    #expect(rows.map { $0["parent"] ?? .null } == [.null, .text("Ada"), .text("Ada")])
    let named = RowQuery(from: "Article", as: "a").select("a.name, m.city town")
      .join("Maker", as: "m", "m.id", "a.makerID").where(AttributeTest("m.city", .notNull))
      .orderBy(.descending("town"), .ascending("a.id"))
    #expect(
      try database.executeQuery(named).map { $0["town"] }
        == ["Bremen", "Bremen", "Berlin", "Berlin"].map(AttributeValue.text))
  }

  @Test("Groups, having and aggregates; the sum of decimals loses nothing", .reference("facts/1.6"))
  func aggregates() throws {
    try depot.article(20, "Dust", maker: 1, price: Decimal(string: "0.0000000000000000001"))
    let query = RowQuery(from: Article.self).join(A.maker)
      .select(M.city, .sum(A.price).as("total"), .count, .maximum(A.price).as("most"))
      .groupBy(M.city).having(.count > 1).orderBy(.descending("total"))
    let result = try database.executeQuery(query)
    #expect(result.columnNames == ["city", "total", "count(*)", "most"])
    #expect(result.columnTypes == [.string, .decimal, .long, .decimal])
    #expect(result.map { $0.get("city", as: String?.self) } == ["Bremen", "Berlin"])
    #expect(result.map { $0.values[1] } == [.text("100"), .text("19.5000000000000000001")])
    #expect(result[1].get("most", as: Decimal?.self) == 10)
    let all = RowQuery(from: Article.self).select(
      .average(A.weight).as("mean"), .minimum(A.price), .count(distinct: A.makerID), .sum(A.weight))
    let row = try #require(try database.executeQuery(all).first)
    #expect(row.values == [.double(22.0 / 3), .text("-3"), .integer(2), .double(22)])
    let none = RowQuery(from: Article.self).select(.sum(A.price)).where(A.id == 0)
    #expect(try database.executeQuery(none).first?.values == [.null])
    let byName = RowQuery(from: "Article").select("makerID, sum(price) s").groupBy(
      SelectItem("makerID")
    )
    .having(SelectItem.sum(SelectItem("price")) > 50)
    #expect(try database.executeQuery(byName).map(\.values) == [[.integer(2), .text("100")]])
  }

  @Test(
    "Distinct, union and its kin, inner queries in from, in and exists", .reference("facts/1.6"))
  func compositions() throws {
    let makers = RowQuery(from: Article.self).select(A.makerID).where(A.makerID.isNotNull)
    #expect(try database.executeQuery(makers).count == 4)
    #expect(
      try database.executeQuery(makers.distinct().orderBy(.ascending(A.makerID))).map {
        $0.values[0]
      } == [.integer(1), .integer(2)])
    let all = RowQuery(from: Maker.self).select(M.id.as("makerID"))
    let sorted = { (query: RowQuery) in
      try database.executeQuery(query.orderBy(.descending("makerID"))).map { $0.values[0] }
    }
    #expect(try sorted(makers.union(all)) == [.integer(3), .integer(2), .integer(1)])
    #expect(try sorted(makers.unionAll(all)).count == 7)
    #expect(try sorted(all.except(makers)) == [.integer(3)])
    #expect(try sorted(all.intersect(makers).take(1)) == [.integer(2)])
    let rich = RowQuery(from: Article.self).select(A.makerID).where(A.price > 50)
    #expect(try Maker.findAll(where: M.id.isIn(rich), in: database).map(\.id) == [2])
    let exists = TestOf<Maker>(
      AttributeTest(.notExists, RowQuery(from: Article.self).where(A.makerID == M.id)))
    #expect(try Maker.findAll(where: exists, in: database).map(\.id) == [3])
    let existing = TestOf<Maker>(
      AttributeTest(.exists, RowQuery(from: Article.self).where(A.makerID == M.id)))
    #expect(try Maker.findAll(where: existing, in: database).map(\.id) == [1, 2])
    let inRich = TestOf<Maker>(AttributeTest("id", .in, rich))
    #expect(try Maker.findAll(where: inRich, in: database).map(\.id) == [2])
    let notInRich = TestOf<Maker>(AttributeTest("id", .notIn, rich))
    #expect(try Maker.findAll(where: notInRich, in: database).map(\.id) == [1, 3])
    let totals = RowQuery(from: Article.self).select(A.makerID, .sum(A.price).as("total"))
      .groupBy(A.makerID)
    let outer = RowQuery(fromQuery: totals, as: "t").select("t.total")
      .where(AttributeTest("t.total", .greaterThan, Decimal(20)))
    #expect(try database.executeQuery(outer).map(\.values) == [[.text("100")]])
    let both = RowQuery(from: Article.self).where(A.id < 11).union(
      RowQuery(from: Article.self).where(A.id > 13)
    ).orderBy(.descending("id"))
    #expect(try Article.findWithQuery(both, in: database).map(\.id) == [14, 10])
  }

  @Test("An entity filter finds objects by their state", .reference("facts/1.3"))
  func filter() throws {
    let query = RowQuery(from: Article.self)
    #expect(
      try Article.countWithQuery(query.entityFilter([.pending, .created]), in: database) == 5)
    #expect(try Article.countWithQuery(query.entityFilter(.updated), in: database) == 0)
    #expect(try Article.countWithQuery(query.entityFilter(.all), in: database) == 5)
    #expect(EntityFilter.all.rawValue == 217_483_647)
  }

  @Test("A name that is not there, or a value of another type, is an error that says what to write")
  func wrong() throws {
    let cases: [(RowQuery, String, String)] = [
      (RowQuery(from: "Artikel"), "has no entity Artikel", "Article"),
      (
        RowQuery(from: Article.self).where(AttributeTest("nmae", .isNull)), "has no attribute nmae",
        "name"
      ),
      (
        RowQuery(from: Article.self).where(AttributeTest("price", .equal, "cheap")),
        "cannot be compared with \"cheap\"", "type"
      ),
      (RowQuery(from: Article.self).where(M.city == "x"), "has no Maker", "join"),
      (RowQuery(from: Maker.self).join(M.parent), "called Maker", "as:"),
      (
        RowQuery(from: Article.self).select(A.id).union(RowQuery(from: Maker.self)),
        "1 and 4 items",
        "same number"
      ),
      (
        RowQuery(from: Maker.self).where(AttributeTest("name", .match, "x")),
        "no attribute for full-text", "fullText"
      ),
    ]
    for (query, message, hint) in cases {
      let error = #expect(throws: FerryError.self) { try database.executeQuery(query) }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains(message) == true, "\(error?.description ?? "")")
      #expect(error?.hint.contains(hint) == true, "\(error?.description ?? "")")
    }
    #expect(throws: FerryError.self) {
      try Maker.findWithQuery(RowQuery(from: Article.self), in: database)
    }
  }

  @Test("An operator that is given what it does not take is an error that says what it takes")
  func unsuited() throws {
    let query = RowQuery(from: Maker.self)
    let cases: [(AttributeTest, String, String)] = [
      (AttributeTest("id", .exists, 1), "exists does not take a value", "a query and no attribute"),
      (AttributeTest("id", .notExists, 1), "notExists does not take a value", "a query"),
      (AttributeTest("name", .like, column: "city"), "like does not take another", "a text"),
      (AttributeTest("id", .isNull, column: "city"), "isNull does not take", "nothing but"),
      (AttributeTest("id", .equal, [1, 2]), "equal does not take", "a value, or another"),
      (AttributeTest("id", .lessThan, query), "lessThan does not take an attribute and", "value"),
      (AttributeTest(.in, query), "in does not take a query alone", "a list of values"),
    ]
    for (test, message, hint) in cases {
      let error = #expect(throws: FerryError.self) {
        try database.executeQuery(query.where(test))
      }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains(message) == true, "\(error?.description ?? "")")
      #expect(error?.hint.contains(hint) == true, "\(error?.description ?? "")")
    }
  }

  @Test("A query is prepared once for each reader, whatever its values and lists")
  func prepared() throws {
    func ask(_ price: Decimal, _ ids: [Int64], _ take: Int) throws {
      _ = try Article.findAll(
        where: A.price > price && A.id.isIn(ids), orderBy: [.ascending(A.id)], take: take,
        in: database)
    }
    try ask(1, [1], 1)
    let before = try depot.counts()
    for number in 2..<50 { try ask(Decimal(number), Array(0..<Int64(number)), number) }
    let after = try depot.counts()
    // The database's own work may take a reader, so that another one prepares the query too.
    #expect(after.preparations - before.preparations < 24)
    #expect(after.executions > before.executions)
    let nails = { try database.executeSQL("SELECT name FROM Article WHERE id = ?", $0) }
    _ = try nails(1)
    let texts = try depot.counts().preparations
    for number in 2..<50 { _ = try nails(number) }
    #expect(try depot.counts().preparations - texts < 24)
  }

  @Test("Inside a transaction a query sees what it changed, and a new text each time is forgotten")
  func inside() throws {
    try database.transaction { () throws(FerryError) in
      var nail = try Article.findAll(where: A.name == "Nail", in: database)[0]
      nail.price = 77
      try nail.save()
      #expect(try Article.count(where: A.price == 77, in: database) == 1)
    }
    for number in 0..<1_200 { _ = try database.executeSQL("SELECT \(number)") }
    #expect(try database.executeSQL("SELECT 1 + ?", 2).first?.values == [.integer(3)])
  }
}

@Suite("The plain SQL door")
struct SQLDoorTests {
  private let depot: Depot
  private var database: FerryDatabase { depot.database }

  init() throws {
    depot = try Depot()
    try depot.maker(1, "Ada", "Berlin")
    try depot.article(10, "Nail", maker: 1, price: 9)
    try depot.article(11, "Screw", maker: 1, price: 10)
  }

  @Test("It reads objects, with values as parameters")
  func reads() throws {
    let rows = try database.executeSQL(
      """
      WITH dear AS (SELECT * FROM Article WHERE price > ? COLLATE ferry_decimal)
      SELECT m.name, ferry_sum(price) AS total FROM dear JOIN Maker m ON m.id = makerID GROUP BY m.id
      """, Decimal(9.5))
    #expect(rows.columnNames == ["name", "total"])
    #expect(rows.map(\.values) == [[.text("Ada"), .text("10")]])
    #expect(rows[0].get("total", as: Decimal.self) == 10)
  }

  @Test(
    "It writes nothing, reads no table of Ferry's own, and takes one statement",
    arguments: [
      "DELETE FROM Article", "INSERT INTO Article (id) VALUES (1)", "PRAGMA query_only = OFF",
      "SELECT value FROM ferry_setting", "SELECT * FROM sqlite_master",
      "SELECT 1; DELETE FROM Article",
      "ATTACH 'x.db' AS x", "BEGIN", "DROP TABLE Article", "SELECT load_extension('x')", "",
      "nonsense",
      "SELECT * FROM Article WHERE id = ?", "UPDATE Article SET name = 'x' RETURNING name",
    ])
  func refuses(_ text: String) throws {
    let attempt = { () throws(FerryError) in _ = try database.executeSQL(text) }
    let error = #expect(throws: FerryError.self) { try attempt() }
    #expect(error?.code == .invalidQuery, "\(error?.description ?? "")")
    // Also where the connection could write.
    #expect(throws: FerryError.self) { try database.transaction(attempt) }
    #expect(try Article.count(in: database) == 2)
  }
}
