import Ferry
import Testing

@testable import Ferry

@Suite("The order of what a relationship leads to", .timeLimit(.minutes(60)))
struct RelationshipOrderTests {
  @Test("Objects come in the order of their keys, read alone or together")
  func byKey() throws {
    let depot = try Depot()
    try depot.maker(1, "Ada", nil)
    for id in [9, 3, 20] as [Int64] { try depot.article(id, "Nail \(id)", maker: 1) }
    let alone = try #require(try Maker.findAll(in: depot.database).first)
    #expect(try alone.articles().map(\.id) == [3, 9, 20])
    let together = try Maker.findAll(
      prefetching: [Maker.Attributes.articles], in: depot.database)
    #expect(try together.first?.articles().map(\.id) == [3, 9, 20])
  }
}
