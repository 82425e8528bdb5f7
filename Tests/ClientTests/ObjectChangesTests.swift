import Ferry
import Testing

@testable import Ferry

@Suite("Changes of objects, commit by commit", .timeLimit(.minutes(60)))
struct ObjectChangesTests {
  private typealias A = Article.Attributes

  /// Also a new article, and a transaction inside that is undone.
  private func rename(_ old: Article, _ depot: Depot) throws {
    let database = depot.database
    try database.transaction {
      var nail = old
      nail.name = "Screw"
      try nail.update()
      try depot.article(100_001, "Pin")
      try database.transaction {
        nail.price = 7
        try nail.update()
        var pin = try #require(try Article.findFirst(where: A.id == 100_001, in: database))
        try pin.delete()
        try database.rollback()
      }
    }
  }

  @Test("A commit reports each object once, and nothing of a transaction inside that was undone")
  func once() async throws {
    let depot = try Depot()
    let database = depot.database
    database.submitsAutomatically = true
    let iterator = Article.changes(in: database).makeAsyncIterator()
    var nail = try depot.article(100_000, "Nail")
    let inserted = try #require(try await iterator.next())
    #expect(inserted.changes.map(\.kind) == [.inserted])
    nail.name = "Bolt"
    try nail.update()
    let updated = try #require(try await iterator.next())
    #expect(updated.changes.map(\.attributes) == [["name"]])

    try rename(nail, depot)
    let outer = try #require(try await iterator.next())
    #expect(outer.changes.map(\.kind) == [.updated, .inserted])
    #expect(outer.changes.map(\.attributes) == [["name"], []])
  }
}
