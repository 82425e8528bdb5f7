import Ferry
import Testing

/// A mark before one that combines with it is no `Character` of its own, and means what it means
/// all the same.
@Suite("Marks that others join") struct JoinedMarksTests {
  private let depot: Depot

  init() throws {
    depot = try Depot()
    try depot.article(1, "Cafe\u{301}", text: "a thin nail")
  }

  @Test("What like gives a meaning has none in a part that is sought")
  func wildcards() throws {
    func ids(_ part: String) throws -> [Int64] {
      try Article.findAll(where: Article.Attributes.name.contains(part), in: depot.database)
        .map(\.id)
    }
    #expect(try ids("e\u{301}") == [1])
    for mark in ["%\u{301}", "_\u{301}", "\\\u{301}"] { #expect(try ids(mark) == [], "\(mark)") }
  }

  @Test("A quote in a full-text search does not end the search")
  func words() throws {
    for typed in ["thin\"\u{301} nail", "\u{600}\" OR", "\"thin\u{200D}\"", "thin*\u{301}"] {
      _ = try Article.findAll(where: Article.matches(typed), in: depot.database)
    }
    #expect(
      try Article.findAll(where: Article.matches("\"thin nail\""), in: depot.database).count == 1)
  }
}
