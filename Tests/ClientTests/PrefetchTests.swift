import Ferry
import FerryModel
import FerrySQLite
import Testing

@testable import Ferry

@Suite("Relationships read together with their objects")
struct PrefetchTests {
  private typealias A = Article.Attributes
  private typealias M = Maker.Attributes

  @Test("What was prefetched is given for the key that it was read for, and for no other")
  func anotherKey() throws {
    let depot = try Depot()
    try depot.maker(1, "Ada", nil)
    try depot.maker(2, "Bo", nil)
    try depot.article(7, "Nail", maker: 1)
    let other = try depot.article(8, "Screw", maker: 2)
    let read = { () throws(FerryError) in
      try Article.findAll(in: depot.database, prefetching: [Article.Attributes.maker])[0]
    }
    var nail = try read()
    nail.record.set(1, 2 as Int64?)
    #expect(try nail.maker()?.name == "Bo")
    nail.record.set(1, Int64?.none)
    #expect(try nail.maker() == nil)
    nail = try read()
    nail.copyAll(from: other)
    #expect(try nail.maker()?.name == "Bo")
    nail = try read()
    nail.record.values[1] = .integer(2)
    #expect(try nail.maker()?.name == "Bo")
    nail = try read()
    nail.record.set(1, 1 as Int64?)
    nail.name = "Bolt"
    try depot.database.store.write { connection throws(FerryError) in
      let before = connection.executions
      #expect(try nail.maker()?.name == "Ada")
      #expect(connection.executions == before, "the same key: nothing is read")
    }
  }
}
