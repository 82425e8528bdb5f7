import Ferry
import FerryModel
import FerryWorld
import Testing

@testable import Ferry

@Suite("Live queries on a database that two share", .timeLimit(.minutes(60)))
struct SharedLiveTests {
  private typealias A = Article.Attributes

  /// Another opening of the same database, as an extension of the app would have it.
  private func open(_ depot: Depot) throws -> FerryDatabase {
    var settings = SessionSettings()
    settings.isDatabaseShared = true
    settings.submitsAutomatically = false
    return try FerryDatabase.open(
      at: depot.path, package: depot.model,
      profile: ConnectionProfile(server: "http://127.0.0.1:9", session: settings))
  }

  private func article(
    _ id: Int64, _ name: String, in database: FerryDatabase
  ) throws(FerryError) -> Article {
    var record = ObjectRecord(Article.entity, in: database)
    record.set(0, id)
    record.set(2, name)
    record.set(7, false)
    var article = Article(record: record)
    try article.create()
    return article
  }

  @Test("One sees what the other commits, and only the live queries that it concerns run")
  func precise() async throws {
    let depot = try Depot()
    let app = try open(depot)
    let helper = try open(depot)
    let low = Article.live(where: A.id.isIn(1...10), in: app).makeAsyncIterator()
    let high = Article.live(where: A.id.isIn(11...20), in: app).makeAsyncIterator()
    #expect(try await low.next()?.count == 0)
    #expect(try await high.next()?.count == 0)
    var nail = try article(5, "Nail", in: helper)
    #expect(try await low.next()?.map(\.name) == ["Nail"])
    nail.name = "Screw"
    try nail.update()
    #expect(try await low.next()?.map(\.name) == ["Screw"])
    #expect(app.live.executions == 4, "the query of 11 to 20 did not run again")
    _ = try article(15, "Bolt", in: helper)
    #expect(try await high.next()?.map(\.name) == ["Bolt"])
    try await nail.delete()
    #expect(try await low.next()?.count == 0)
    #expect(app.live.executions == 6)
    // And the other way round, with what one did itself told once.
    let here = Article.live(where: A.id.isIn(1...10), in: helper).makeAsyncIterator()
    #expect(try await here.next()?.count == 0)
    _ = try article(6, "Rivet", in: app)
    #expect(try await here.next()?.map(\.name) == ["Rivet"])
    #expect(try await low.next()?.map(\.name) == ["Rivet"])
    #expect(app.live.executions == 7 && helper.live.executions == 2)
    await app.close()
    await helper.close()
  }

  @Test("What is undone is not told, and whoever missed much reads everything again")
  func much() throws {
    let depot = try Depot()
    let (first, second) = (depot.database.store, try other(depot))
    try first.share()
    try second.share()
    let heard = Heard()
    second.rowWatch.onChange { heard.add($0) }
    #expect(throws: FerryError.self) {
      try first.transaction { () throws(FerryError) in
        _ = try article(1, "Nail", in: depot.database)
        throw FerryError(.cancelled, "no", hint: "")
      }
    }
    try second.hearOthers()
    #expect(heard.all.isEmpty)
    _ = try article(1, "Nail", in: depot.database)
    try second.hearOthers()
    #expect(heard.all.count == 1)
    guard case .rows(let rows) = heard.all.first?.entities["Article"] else {
      Issue.record("the row was not told")
      return
    }
    #expect(rows.map(\.before) == [nil] && rows.first?.after?[2] == .text("Nail"))
    for id in 0...SharedChanges.kept { _ = try article(id + 2, "n", in: depot.database) }
    try second.hearOthers()
    #expect(heard.all.last?.entities["Article"] == .all)
    try second.hearOthers()
    #expect(heard.all.count == 2)
    second.close()
  }

  private func other(_ depot: Depot) throws -> Store {
    try Store(
      path: depot.path, model: depot.model, world: .system(), durability: .application)
  }
}

/// Called by the one thread of its test.
private final class Heard: @unchecked Sendable {
  private(set) var all: [RowChanges] = []
  func add(_ changes: RowChanges) { all.append(changes) }
}
