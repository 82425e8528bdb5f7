import FerryModel
import Synchronization
import Testing

@testable import FerrySQLiteStore
@testable import FerryServer

@Suite("Users take turns in exchanges", .timeLimit(.minutes(60)))
struct ExchangeTurnTests {
  private final class Kept: Sendable {
    private let counts = Mutex((inside: 0, most: 0))
    private let users = Mutex<[String]>([])

    var most: Int { counts.withLock { $0.most } }
    var order: [String] { users.withLock { $0 } }

    func enter(_ user: String = "") {
      counts.withLock { counts in
        counts.inside += 1
        counts.most = max(counts.most, counts.inside)
      }
      users.withLock { $0.append(user) }
    }

    func leave() { counts.withLock { $0.inside -= 1 } }
  }

  @Test("Each user has one turn, however many requests they have made; then they begin again")
  func lines() {
    var lines = UserLines<String>()
    for number in 1...100 { lines.add("a\(number)", of: ExactText("a")) }
    lines.add("b1", of: ExactText("b"))
    lines.add("c1", of: ExactText("c"))
    lines.add("b2", of: ExactText("b"))
    #expect((1...6).map { _ in lines.next() } == ["a1", "b1", "c1", "a2", "b2", "a3"])
    #expect(lines.count == 97)
    while lines.next() != nil {}
    #expect(lines.count == 0)
  }

  @Test("No more than the places are inside, and each one who waits has a turn")
  func places() async {
    let turns = ExchangeTurns(places: 2)
    let kept = Kept()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          await turns.enter("user \(number % 7)")
          kept.enter()
          await Task.yield()
          kept.leave()
          await turns.leave()
        }
      }
    }
    #expect(kept.most == 2)
    #expect(await turns.waiting == 0)
    // All places are free again.
    await turns.enter("a")
    await turns.enter("b")
    await turns.leave()
    await turns.leave()
  }

  @Test("One request of another user goes before the rest of a greedy one's")
  func fair() async {
    let turns = ExchangeTurns(places: 1)
    let kept = Kept()
    await turns.enter("greedy")
    await withTaskGroup(of: Void.self) { group in
      for (number, user) in (Array(repeating: "greedy", count: 20) + ["bob"]).enumerated() {
        group.addTask {
          await turns.enter(user)
          kept.enter(user)
          await turns.leave()
        }
        // In this order, so that bob is the last to come.
        while await turns.waiting <= number { await Task.yield() }
      }
      await turns.leave()
    }
    #expect(kept.order.prefix(2) == ["greedy", "bob"])
    #expect(kept.order.count == 21)
  }
}
