import FerryModel
import Testing

@testable import FerryServer

/// What a server may call current.
@Suite("How far the cache is known to be current")
struct FreshnessTests {
  private let object = ObjectName(entity: "Order", key: ObjectKey([.integer(1)]))

  @Test("A look waits for what a replay that was being performed has written")
  func performing() {
    var freshness = Freshness()
    let look = freshness.begin(performing: [7])
    freshness.end(look, waiting: [], loadAfter: nil)
    #expect(freshness.completed == 0)
    freshness.reported(7, unwritten: [object])
    #expect(freshness.completed == 0)
    freshness.read([object])
    #expect(freshness.completed == look)
  }

  @Test("A replay that is answered before the look ends holds nothing up, and a later one neither")
  func answered() {
    var freshness = Freshness()
    let look = freshness.begin(performing: [7])
    freshness.reported(7, unwritten: [object])
    freshness.reported(8, unwritten: [object])
    freshness.end(look, waiting: [], loadAfter: nil)
    #expect(freshness.completed == look)
  }

  @Test("A load that a look waits for is waited for by the look that comes in its place")
  func replaced() {
    var freshness = Freshness()
    let first = freshness.begin()
    freshness.end(first, waiting: [object], loadAfter: nil)
    freshness.end(freshness.begin(), waiting: [object], loadAfter: 5)
    let last = freshness.begin()
    freshness.end(last, waiting: [object], loadAfter: nil)
    freshness.read([object])
    #expect(freshness.completed == first)
    freshness.loaded(5, waiting: [])
    #expect(freshness.completed == first)
    freshness.loaded(6, waiting: [])
    #expect(freshness.completed == last)
  }

  @Test("A look that failed takes its replays with it")
  func failed() {
    var freshness = Freshness()
    freshness.fail(freshness.begin(performing: [7]))
    let look = freshness.begin()
    freshness.end(look, waiting: [], loadAfter: nil)
    #expect(freshness.completed == look)
    #expect(freshness.failed == nil)
  }
}
