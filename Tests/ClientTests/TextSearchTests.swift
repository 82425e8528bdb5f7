import Ferry
import FerryModel
import FerryReference
import FerryTestTraits
import FerryWorld
import Foundation
import Testing

@testable import Ferry

@Suite("Full-text search")
struct TextSearchTests {
  private func ids(_ words: String, _ depot: Depot) throws -> [Int64] {
    try Article.findAll(where: Article.matches(words), in: depot.database).map(\.id).sorted()
  }

  @Test("It finds words, beginnings and sentences in the chosen attributes, whatever their case")
  func finds() throws {
    let depot = try Depot()
    try depot.article(1, "Nail", text: "a thin nail of steel")
    try depot.article(2, "Schräge", text: "steel, thick")
    try depot.article(3, "Screw", text: nil)
    #expect(try ids("STEEL", depot) == [1, 2])
    #expect(try ids("steel thin", depot) == [1])
    #expect(try ids("schrage", depot) == [2])
    #expect(try ids("scr*", depot) == [3])
    #expect(try ids("\"thin nail\"", depot) == [1])
    #expect(try ids("\"nail thin\"", depot) == [])
    #expect(try ids("", depot) == [])
    for odd in ["a OR", "NEAR(", "(", "*", "\"", "name:", "a-b", "'", "^x", "{}"] {
      _ = try ids(odd, depot)
    }
    let cheap = Article.matches("steel") && Article.Attributes.price.isNull
    #expect(try Article.count(where: cheap, in: depot.database) == 2)
    #expect(try Article.count(where: !Article.matches("steel"), in: depot.database) == 1)
  }

  @Test(
    "Match looks into the one attribute that it names, also of a joined entity",
    .reference("facts/1.3"))
  func ofOneAttribute() throws {
    let depot = try Depot()
    let database = depot.database
    try depot.article(1, "steel", text: "a thin nail")
    try depot.article(2, "nail", text: "steel, thick")
    try depot.article(3, "screw", text: nil)
    let named = { (attribute: String, test: AttributeTest.Operator, words: String) in
      try Article.findAll(
        where: TestOf(AttributeTest(attribute, test, words)), in: database
      ).map(\.id).sorted()
    }
    #expect(try named("name", .match, "STEEL") == [1])
    #expect(try named("text", .match, "steel") == [2])
    #expect(try named("text", .match, "thin na*") == [1])
    #expect(try named("text", .match, "steel thin") == [])
    #expect(try named("name", .notMatch, "steel") == [2, 3])
    #expect(try named("text", .notMatch, "steel") == [1, 3])
    for odd in ["a OR", "NEAR(", "(", ")", "*", "\"", "name:", "", "} : x"] {
      #expect(try named("name", .match, odd) == [])
    }
    // Both sources are articles; the words are looked for in the second one's names.
    let pairs = RowQuery(from: "Article", as: "a").select("a.id, m.id other")
      .join("Article", as: "m", "m.makerID", "a.makerID")
    try depot.maker(9, "Ada", nil)
    try depot.article(4, "bolt", maker: 9, text: "steel")
    try depot.article(5, "steel", maker: 9)
    let found = try database.executeQuery(
      pairs.where(AttributeTest("m.name", .match, "steel")).orderBy(.ascending("a.id")))
    #expect(found.map(\.values) == [[.integer(4), .integer(5)], [.integer(5), .integer(5)]])
    let inner = RowQuery(from: Maker.self).where(
      AttributeTest(
        .exists,
        RowQuery(from: "Article", as: "x").where(
          AttributeTest("x.makerID", .equal, column: "Maker.id")
        )
        .where(AttributeTest("x.text", .match, "steel"))))
    #expect(try Maker.findWithQuery(inner, in: database).map(\.id) == [9])
  }

  @Test("What cannot be searched for words is an error that says what is marked")
  func unmarked() throws {
    let depot = try Depot(model: Warehouse.package(searched: ["text"]))
    let articles = RowQuery(from: "Article", as: "a").join("Maker", as: "m", "m.id", "a.makerID")
    let inner = RowQuery(fromQuery: RowQuery(from: Article.self), as: "t").select("t.name")
    let cases: [(RowQuery, String, String, String)] = [
      (articles, "a.name", "a.name is not marked for full-text search", "Marked are text;"),
      (articles, "m.name", "Maker has no attribute for full-text search", "Mark its texts"),
      (articles, "a.txet", "a has no attribute txet", "text"),
      (articles, "b.text", "the query has no b", "join"),
      (inner, "t.name", "t.name is of an inner query", "inside"),
    ]
    for (query, name, message, hint) in cases {
      for test in [AttributeTest.Operator.match, .notMatch] {
        let error = #expect(throws: FerryError.self) {
          try depot.database.executeQuery(query.where(AttributeTest(name, test, "x")))
        }
        #expect(error?.code == .invalidQuery)
        #expect(error?.message.contains(message) == true, "\(error?.description ?? "")")
        #expect(error?.hint.contains(hint) == true, "\(error?.description ?? "")")
      }
    }
  }

  @Test("The index changes with the object, in the same transaction")
  func follows() throws {
    let depot = try Depot()
    var nail = try depot.article(1, "Nail", text: "thin")
    #expect(throws: FerryError.self) {
      try depot.database.transaction { () throws(FerryError) in
        nail.name = "Bolt"
        try nail.save()
        #expect(try Article.count(where: Article.matches("bolt"), in: depot.database) == 1)
        throw FerryError(.cancelled, "no", hint: "no")
      }
    }
    #expect(try ids("bolt", depot) == [] && ids("nail", depot) == [1])
    nail = try #require(
      try Article.findFirst(where: Article.Attributes.id == 1, in: depot.database))
    nail.name = "Bolt"
    try nail.save()
    #expect(try ids("bolt", depot) == [1] && ids("nail", depot) == [])
    try nail.delete()
    #expect(try ids("bolt", depot) == [])
  }

  @Test("Another choice of attributes makes the index anew when the database is opened")
  func rebuilt() async throws {
    let depot = try Depot(model: Warehouse.package(searched: ["name"]))
    try depot.article(1, "Nail", text: "thin")
    #expect(try ids("thin", depot) == [])
    await depot.database.close()
    for (searched, expected) in [(["text"], [Int64(1)]), (["name", "text"], [1]), (["name"], [])] {
      let store = try Store(
        path: depot.path, model: Warehouse.package(searched: searched), world: .system(),
        durability: .application)
      let query = RowQuery(from: Article.self).where(Article.matches("thin"))
      let found = try query.objects(of: Article.described(searched), in: store) { $0 }
      #expect(found.map { $0.values[0] } == expected.map(AttributeValue.integer))
    }
    let none = try Store(
      path: depot.path, model: Warehouse.package(searched: []), world: .system(),
      durability: .application)
    #expect(throws: FerryError.self) {
      try RowQuery(from: Article.self).where(Article.matches("thin")).count(in: none)
    }
  }

  @Test("A sealed database seals the index: no word of it can be read from the file")
  func sealed() async throws {
    let depot = try Depot(key: .random())
    for number in 1...200 { try depot.article(Int64(number), "Nail", text: "zanzibar \(number)") }
    #expect(try ids("zanzibar", depot).count == 200)
    await depot.database.close()
    for name in ["depot.db", "depot.db-wal"] {
      let file = depot.folder.appendingPathComponent(name)
      guard let bytes = try? Data(contentsOf: file) else { continue }
      #expect(bytes.range(of: Data("zanzibar".utf8)) == nil)
    }
  }
}
