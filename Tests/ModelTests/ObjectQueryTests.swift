import FerryModel
import FerryTestTraits
import Testing

struct ObjectQueryTests {
  private static let article = entity(
    "Article",
    [("id", .integer), ("price", .decimal), ("name", .string), ("lineID", .integer)])
  private static let package = Package(
    name: "Shop", version: "1.0",
    entities: [article, entity("Line", [("id", .integer), ("amount", .decimal)])],
    groups: [SynchronizationGroup(name: "default")])

  private static func entity(_ name: String, _ attributes: [(String, AttributeType)]) -> Entity {
    Entity(
      name: name, table: name,
      attributes: attributes.map {
        Attribute(name: $0.0, column: $0.0, type: $0.1, isNullable: false)
      }, key: [0], keyOrigin: .app, relationships: [], operations: [], partition: nil,
      group: "default")
  }

  private func sql(_ condition: String?, _ order: String? = nil) -> String {
    let parameters = ["least", "most"].map {
      ObjectQuery.Parameter(name: $0, type: .decimal)
    }
    return ObjectQuery(name: "q", parameters: parameters, condition: condition, order: order)
      .sql(of: Self.article, in: Self.package)
  }

  @Test(
    "Where a number that is kept as text is named, it is ordered as a number",
    .reference("facts/1.2"))
  func ordered() {
    let collated: [(String, String)] = [
      ("price > :least", "price COLLATE ferry_decimal > ?1"),
      (":most >= Price", "?2 >= Price COLLATE ferry_decimal"),
      ("price\n<:least", "price COLLATE ferry_decimal\n<?1"),
      ("\"price\" <= 10", "\"price\" COLLATE ferry_decimal <= 10"),
      ("[price] < `price`", "[price] COLLATE ferry_decimal < `price` COLLATE ferry_decimal"),
      (
        "Article.price BETWEEN :least AND :most",
        "Article.price COLLATE ferry_decimal BETWEEN ?1 AND ?2"
      ),
      ("price = 10.50", "price COLLATE ferry_decimal = 10.50"),
      ("price IN (:least, 10.0)", "price COLLATE ferry_decimal IN (?1, 10.0)"),
      ("price = abs(id)", "price COLLATE ferry_decimal = abs(id COLLATE ferry_decimal)"),
      ("price != :least", "price COLLATE ferry_decimal != ?1"),
      ("price = :least * 2", "price COLLATE ferry_decimal = ?1 * 2"),
      ("2 * :least = price", "2 * ?1 = price COLLATE ferry_decimal"),
      (":least = price + 1", "?1 = price COLLATE ferry_decimal + 1"),
      (
        "Line.amount = Article.price || ''",
        "Line.amount COLLATE ferry_decimal = Article.price COLLATE ferry_decimal || ''"
      ),
      (
        "EXISTS (SELECT 1 FROM Line WHERE Line.amount > :least AND Line.id = Article.lineID)",
        "EXISTS (SELECT 1 FROM Line WHERE Line.amount COLLATE ferry_decimal > ?1"
          + " AND Line.id = Article.lineID)"
      ),
    ]
    for (written, expected) in collated {
      #expect(sql(written) == "WHERE \(expected) ORDER BY _id")
    }
    #expect(
      sql(nil, "price DESC, name")
        == "ORDER BY price COLLATE ferry_decimal DESC, name, _id")
  }

  @Test("What is only asked to be equal, written with its own order or no attribute stays as it is")
  func plain() {
    let same = [
      "name = 'price'", "price = :least", "price == :least", "price IS :least", ":least = price",
      "price IN (:least, :most)", "id = lineID", "lineID == id", "Line.id = id", "id = Line.id",
      "price COLLATE BINARY > 1",
      "(price = :least) OR NOT price = :most AND id = lineID", "price = :least COLLATE NOCASE",
      "price(1)", "x.price > 1", "Line.price > 1", "name AS price", "'it''s price' <> name",
    ]
    for text in same {
      let expected = text.replacing(":least", with: "?1").replacing(":most", with: "?2")
      #expect(sql(text) == "WHERE \(expected) ORDER BY _id")
    }
    #expect(sql(nil) == "ORDER BY _id")
  }
}
