import FerryWorld
import Testing

@Suite("What happens often is told twice a minute at most")
struct MinuteTallyTests {
  @Test("The first is told at once, and the number of the others when the minute is over")
  func counts() {
    var tally = MinuteTally<String>()
    let none = [tally.past(minute: 1)]
    let told = ["a", "a", "b", "a"].map { tally.note($0) }
    #expect(told == [true, false, true, false])
    let same = tally.past(minute: 1)
    #expect(none[0].isEmpty && same.isEmpty)
    let past = tally.past(minute: 2)
    #expect(past.more.map(\.key) == ["a"] && past.more.map(\.count) == [2] && past.others == 0)
    let again = tally.past(minute: 2)
    let isTold = tally.note("a")
    let end = tally.past(minute: .max)
    #expect(again.isEmpty && isTold && end.isEmpty, "a new minute, in which it was told")
  }

  @Test("More keys than there is room for are counted together")
  func others() {
    var tally = MinuteTally<Int>(limit: 10)
    _ = tally.past(minute: 1)
    let told = (0..<1_000).count { tally.note($0) }
    #expect(told == 10)
    let past = tally.past(minute: 2)
    #expect(past.more.isEmpty && past.others == 990)
  }
}
