import Ferry
import FerryModel
import Foundation
import Testing

@testable import Ferry

@Suite("What queries take and give")
struct QueryValueTests {
  private typealias A = Article.Attributes
  private let depot: Depot
  private var database: Database { depot.database }

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

  @Test("facts/1.3: a list behind `in` is a list, whether it is written there or a variable")
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
    "facts/1.3: what is no text behind a test of texts is an error, and no row passes",
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
}
