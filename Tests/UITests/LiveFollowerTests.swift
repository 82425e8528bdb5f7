import Ferry
import FerryTestKit
import FerryTravel
import Testing

@testable import FerryUI

/// What a view's property does from its first drawing to its end. SwiftUI calls `follow` before it draws.
@Suite("What a view follows", .timeLimit(.minutes(60)))
@MainActor struct LiveFollowerTests {
  private let feed = Feed()
  private let database = FerryDatabase.preview(Travel.package)

  private func request(_ identity: String = "first", _ feed: Feed? = nil) -> LiveRequest<Int> {
    let feed = feed ?? self.feed
    return LiveRequest(identity, initially: 0) { _ in feed.sequence() }
  }

  /// Follows, and waits until the sequence is there.
  private func following(_ feed: Feed? = nil) async -> LiveFollower<Int> {
    let follower = LiveFollower(initially: 0)
    follower.follow(request("first", feed), in: .open(database))
    await begun(1, feed)
    return follower
  }

  private func begun(_ count: Int, _ feed: Feed? = nil) async {
    while (feed ?? self.feed).begun < count { await Task.yield() }
  }

  @Test("Values arrive; the first one ends the loading")
  func values() async {
    let follower = LiveFollower(initially: 7)
    #expect(follower.value == 7 && follower.isLoading && follower.failure == nil)
    follower.follow(request(), in: .open(database))
    #expect(follower.value == 7 && follower.isLoading)
    await begun(1)
    feed.send(1)
    await eventually { follower.value == 1 && !follower.isLoading }
    feed.send(2)
    await eventually { follower.value == 2 }
  }

  @Test("Drawing the same view again goes on with what runs")
  func same() async {
    let follower = await following()
    feed.send(1)
    await eventually { follower.value == 1 }
    follower.follow(request(), in: .open(database))
    #expect(!follower.isLoading && follower.value == 1)
    feed.send(2)
    await eventually { follower.value == 2 }
    #expect(feed.begun == 1 && feed.endedCount == 0)
  }

  @Test("Another query ends the old one; the old value stays until the new one comes")
  func replaced() async {
    let follower = await following()
    feed.send(1)
    await eventually { follower.value == 1 }
    let other = Feed()
    follower.follow(request("second", other), in: .open(database))
    #expect(follower.value == 1 && follower.isLoading)
    await begun(1, other)
    while feed.endedCount < 1 { await Task.yield() }
    other.send(5)
    await eventually { follower.value == 5 && !follower.isLoading }
  }

  @Test("A value of the old query that is on its way is not shown")
  func late() async {
    let follower = await following()
    let other = Feed()
    // Sent before the change, and delivered after it: the task of the old query has not run in between.
    feed.send(1)
    follower.follow(request("second", other), in: .open(database))
    await begun(1, other)
    while feed.endedCount < 1 { await Task.yield() }
    #expect(follower.value == 0 && follower.isLoading)
    other.send(5)
    await eventually { follower.value == 5 }
  }

  @Test("When the view goes, what it follows is cancelled")
  func gone() async {
    var follower: LiveFollower? = await following()
    weak let watched = follower
    feed.send(1)
    if let follower { await eventually { follower.value == 1 } }
    follower = nil
    while feed.endedCount < 1 { await Task.yield() }
    #expect(watched == nil)
  }

  @Test("An error is shown beside the last value, and a retry reads again")
  func failed() async {
    let follower = await following()
    feed.send(1)
    await eventually { follower.value == 1 }
    feed.fail(FerryError(.invalidQuery, "no attribute nmae", hint: "Write name."))
    await eventually { follower.failure != nil }
    #expect(follower.failure?.code == .invalidQuery && follower.value == 1 && !follower.isLoading)
    follower.follow(request(), in: .open(database))
    #expect(follower.failure != nil)
    follower.retry()
    #expect(follower.failure == nil && follower.isLoading)
    await begun(2)
    feed.send(2)
    await eventually { follower.value == 2 && !follower.isLoading }
  }

  @Test("An error before the first value ends the loading")
  func failedFirst() async {
    let follower = await following()
    feed.fail(FerryError(.closed, "closed", hint: ""))
    await eventually { follower.failure?.code == .closed && !follower.isLoading }
  }

  @Test("A sequence that ends says that the database was closed")
  func ended() async {
    let follower = await following()
    feed.finish()
    await eventually { follower.failure?.code == .closed && !follower.isLoading }
  }

  @Test("Another database shows nothing of the first one")
  func otherDatabase() async {
    let follower = await following()
    feed.send(1)
    await eventually { follower.value == 1 }
    let other = FerryDatabase.preview(Travel.package)
    follower.follow(request(), in: .open(other))
    #expect(follower.value == 0 && follower.isLoading)
    await begun(2)
    feed.send(9, to: 0)
    feed.send(3)
    await eventually { follower.value == 3 }
    follower.follow(request(), in: .awaited)
    #expect(follower.value == 0 && follower.isLoading && follower.failure == nil)
    while feed.endedCount < 2 { await Task.yield() }
  }

  @Test("Without a database the error says how to give one; one that is being opened is awaited")
  func noDatabase() async {
    let follower = LiveFollower(initially: 0)
    follower.follow(request(), in: .awaited)
    #expect(follower.isLoading && follower.failure == nil)
    follower.follow(request(), in: .missing)
    #expect(follower.failure?.code == .wrongState && !follower.isLoading)
    #expect(follower.failure?.hint.contains(".ferryDatabase(database)") == true)
    follower.retry()
    #expect(feed.begun == 0)
    follower.follow(request(), in: .open(database))
    #expect(follower.failure == nil && follower.isLoading)
    await begun(1)
    feed.send(1)
    await eventually { follower.value == 1 }
  }
}
