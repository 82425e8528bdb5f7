import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import Foundation
import Testing

@testable import Ferry

@Suite("What queries take and give")
struct QueryValueTests {
  private typealias A = Article.Attributes
  private let depot: Depot
  private var database: FerryDatabase { depot.database }

  init() throws {
    depot = try Depot()
    try depot.maker(1, "Ada", "Berlin")
    try depot.maker(2, "Bo", "Bremen")
    try depot.maker(3, "Cy", nil)
    try depot.article(10, "Nail 12", maker: 1, price: 9.5, weight: 0.5, serial: "9")
    try depot.article(11, "Screw", price: -7, weight: 3)
  }

  private func makers(_ test: AttributeTest) throws -> [Int64] {
    try Maker.findAll(where: TestOf(test), in: database).map(\.id)
  }

  @Test(
    "A list behind `in` is a list, whether it is written there or a variable",
    .reference("facts/1.3"))
  func lists() throws {
    let cities = ["Berlin", "Bremen", "Bonn"]
    #expect(try makers(AttributeTest("city", .in, cities)) == [1, 2])
    #expect(try makers(AttributeTest("city", .notIn, cities)) == [3])
    let some: (any AttributeConvertible)? = [Int64(3), 1, 7]
    #expect(try makers(AttributeTest("id", .in, some)) == [1, 3])
    #expect(try makers(AttributeTest("city", .in, [String]())) == [])
    #expect(try makers(AttributeTest("city", .in, "Bremen")) == [2])
    #expect(try makers(AttributeTest("city", .in, [String?.none, "Bremen"])) == [2, 3])
  }

  @Test(
    "What is no text behind a test of texts is an error, and no row passes",
    .reference("facts/1.3"),
    arguments: [
      AttributeTest.Operator.like, .notLike, .contains, .notContains, .startsWith, .notStartsWith,
      .endsWith, .notEndsWith, .match, .notMatch,
    ])
  func noText(_ operator: AttributeTest.Operator) throws {
    for (value, shown) in [(12, "12"), (nil, "null"), (true, "true")]
      as [((any AttributeConvertible)?, String)]
    {
      let test = TestOf<Article>(AttributeTest("name", `operator`, value))
      let error = #expect(throws: FerryError.self) { try Article.count(where: test, in: database) }
      #expect(error?.code == .invalidQuery)
      let message = error?.message ?? ""
      #expect(message.contains("name") && message.contains("a text, not \(shown)"), "\(message)")
    }
  }

  @Test(
    "A column is read as another kind of number or text where nothing is lost",
    .reference("facts/1.6"))
  func conversions() throws {
    let row = try database.executeSQL(
      """
      SELECT weight * 1.5 AS w, weight * 4 AS even, 7 AS n, isSold, price, serial, name,
      '2024-01-31' AS day, NULL AS missing FROM Article WHERE id = 10
      """)[0]
    #expect(row.get("w", as: Decimal.self) == 0.75)
    #expect(row.get("w", as: Decimal?.self) == 0.75)
    #expect(row.get("w", as: String.self) == "0.75")
    #expect(row.get("even", as: Int64.self) == 2)
    #expect(row.get("even", as: Int8?.self) == 2)
    #expect(row.get("n", as: Decimal.self) == 7)
    #expect(row.get("n", as: String.self) == "7")
    #expect(row.get("n", as: Double.self) == 7)
    #expect(row.get("isSold", as: Bool.self))
    #expect(row.get("price", as: Double.self) == 9.5)
    #expect(row.get("serial", as: Int.self) == 9)
    #expect(row.get("day", as: LocalDate.self) == LocalDate("2024-01-31"))
    #expect(row.get("missing", as: Decimal?.self) == nil)
    #expect(row.get("missing", as: [String]?.self) == nil)
    let query = RowQuery(from: Article.self).select(.average(A.price).as("mean"), .count.as("n"))
    let totals = try database.executeQuery(query)[0]
    #expect(totals.get("mean", as: Decimal?.self) == 1.25)
    #expect(totals.get("n", as: Decimal.self) == 2)
    #expect(totals.get(1, as: String.self) == "2")
  }

  @Test(
    "A column that holds what the type cannot is an error with the column's name",
    .reference("facts/1.6"))
  func misfits() throws {
    let row = try database.executeSQL(
      """
      SELECT name, 2.5 AS half, 300 AS many, '007' AS code, x'00' AS blob, '[1]' AS list,
      9223372036854775807 AS most, 1e300 AS huge FROM Article WHERE id = 10
      """)[0]
    func check<Content: AttributeConvertible>(
      _ column: String, _ type: Content.Type, _ kind: String
    ) {
      let error = #expect(throws: FerryError.self) { try row.value(column, as: type) }
      #expect(error?.code == .invalidQuery && error?.attribute == column)
      #expect(
        error?.message == "column \(column) has \(kind), which cannot be read as \(type)",
        "\(error?.description ?? "")")
    }
    check("half", Int64.self, "a double")
    check("half", Int?.self, "a double")
    check("half", LocalDate.self, "a double")
    check("many", Int8.self, "a whole number")
    check("many", Bool.self, "a whole number")
    check("many", [Int64].self, "a whole number")
    check("name", Decimal.self, "a text")
    check("name", Double.self, "a text")
    check("name", LocalDateTime?.self, "a text")
    check("code", Int.self, "a text")
    check("blob", String.self, "bytes")
    check("huge", Decimal.self, "a double")
    #expect(try row.value("list") == [Int64(1)])
    #expect(try row.value("blob") == [UInt8(0)])
    #expect(try row.value("most") == Int.max)
    #expect(try row.value("most") == Decimal(Int64.max))
    #expect(try row.value("huge") == "1e+300")
    #expect(try row.value("code") == "007")
    let unknown = #expect(throws: FerryError.self) { try row.value("halv", as: Double.self) }
    #expect(unknown?.hint == "Did you mean \"half\"?")
    #expect(throws: FerryError.self) { try row.value(8, as: Double.self) }
    #expect(throws: FerryError.self) { try row.value(-1, as: Double.self) }
  }

  @Test("A null that is read as a type that is not optional is an error, and get stops")
  func nulls() async throws {
    func check<Content: AttributeConvertible>(_ type: Content.Type) throws {
      let row = try database.executeSQL("SELECT NULL AS total FROM Article WHERE id = 10")[0]
      let error = #expect(throws: FerryError.self) { try row.value("total", as: type) }
      #expect(error?.code == .invalidQuery && error?.attribute == "total")
      #expect(error?.message == "column total is null, which cannot be read as \(type)")
      #expect(error?.hint == "Read it as \(type)?.")
      #expect(try row.value("total", as: Content?.self) == nil)
    }
    try check(String.self)
    try check(Int.self)
    try check(Int64.self)
    try check(Bool.self)
    try check(Double.self)
    try check(Decimal.self)
    try check(BigInteger.self)
    try check(LocalDate.self)
    try check(LocalDateTime.self)
    try check([String].self)
    try check([UInt8].self)
    let stopped = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let depot = try Depot()
      let row = try depot.database.executeSQL("SELECT NULL AS total")[0]
      print(row.get("total", as: Int.self))
    }
    let text = String(decoding: stopped?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("column total is null"))
  }

  @Test(
    "Two attributes are compared in every way, of one object and of two", .reference("facts/1.6"))
  func attributes() throws {
    let ids = { (test: TestOf<Maker>) in try Maker.findAll(where: test, in: database).map(\.id) }
    typealias M = Maker.Attributes
    for (id, owner) in [(4, 4), (5, 4), (6, 9)] as [(Int64, Int64)] {
      try depot.maker(id, "Di", "Kiel", owner: owner)
    }
    #expect(try ids(M.id == M.owner) == [4])
    #expect(try ids(M.id != M.owner) == [1, 2, 3, 5, 6])
    #expect(try ids(M.id < M.owner) == [6])
    #expect(try ids(M.id <= M.owner) == [4, 6])
    #expect(try ids(M.id > M.owner) == [5])
    #expect(try ids(M.id >= M.owner) == [4, 5])
    let pairs = { (test: TestCriteria) in
      try database.executeQuery(RowQuery(from: Article.self).join(A.maker).where(test)).count
    }
    #expect(try pairs(A.id > M.id) == 1 && pairs(A.id >= M.id) == 1 && pairs(A.id != M.id) == 1)
    #expect(try pairs(A.id < M.id) == 0 && pairs(A.id <= M.id) == 0 && pairs(A.id == M.id) == 0)
    let daughters = { (test: TestCriteria) in
      try database.executeQuery(
        RowQuery(from: Maker.self, as: "d").join(M.parent, as: "p", of: "d").where(test)
          .select(M.id.of("d"))
      ).map { $0.get(0, as: Int.self) }
    }
    #expect(try daughters(M.id.of("d") != M.id.of("p")) == [5])
    #expect(try daughters(M.id.of("d") <= M.id.of("p")) == [4])
    #expect(try daughters(M.id.of("d") >= M.id.of("p")) == [4, 5])
    #expect(try daughters(M.id.of("d") > M.owner.of("p")) == [5])
    #expect(try daughters(M.id.of("d") < M.owner.of("p")) == [])
    // In memory as in the database, so that live queries run when they must.
    let tests: [TestOf<Maker>] = [
      M.id != M.owner, M.id <= M.owner, M.id >= M.owner, !(M.id <= M.owner),
    ]
    let makers = try Maker.findAll(in: database)
    for test in tests {
      let rowTest = RowTest(test.criteria.content, Maker.entity, alias: "Maker", isAlone: true)
      let held = makers.filter {
        rowTest.mayConcern(RowChange(object: 0, before: nil, after: $0.record.values))
      }
      #expect(try held.map(\.id) == ids(test), "\(test)")
    }
  }

  @Test("A NUL among the words of a search parts words, as it does in the index")
  func nul() throws {
    try depot.article(12, "Nail", text: "a thin nail of steel")
    let found = { try Article.findAll(where: Article.matches($0), in: database).map(\.id) }
    #expect(try found("steel\0thin") == [12])
    #expect(try found("\"thin\0nail\"") == [12])
    #expect(try found("\0") == [])
  }

  @Test("A sum that no long can hold is an error of the query, with the cure")
  func overflow() throws {
    for id in [Int64.max, Int64.max - 1] { try depot.article(id, "Dust") }
    let query = RowQuery(from: Article.self).select(.sum(A.id))
    let error = #expect(throws: FerryError.self) { try database.executeQuery(query) }
    #expect(error?.code == .invalidQuery)
    #expect(error?.message.contains("integer overflow") == true)
    #expect(error?.hint.contains("decimal") == true)
    let having = RowQuery(from: Article.self).groupBy(A.isSold).having(.sum(A.id) > 1)
    let counted = #expect(throws: FerryError.self) {
      try Article.countWithQuery(having, in: database)
    }
    #expect(counted?.code == .invalidQuery)
    let plain = #expect(throws: FerryError.self) {
      try database.executeSQL("SELECT sum(id) FROM Article")
    }
    #expect(plain?.code == .invalidQuery)
  }
}
