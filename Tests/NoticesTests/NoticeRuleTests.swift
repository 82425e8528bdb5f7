import FerryModel
import FerryTravel
import FerryWorld
import Testing

@testable import FerryServer

/// What may be written of a notice, over every case.
@Suite(.timeLimit(.minutes(60)))
struct NoticeRuleTests {
  private let flight: Entity
  private let version: Int

  init() throws {
    flight = try #require(Travel.package.entity(named: "Flight"))
    version = try #require(flight.position(of: "seatsLeft"))
  }

  private var row: [AttributeValue] {
    flight.attributes.map { $0.name == "seatsLeft" ? .integer(5) : .text($0.name) }
  }

  private func decide(
    _ content: Notice.Content, asOf: Int64?, isThere: Bool, isClaimed: Bool, isDoubtful: Bool
  ) -> NoticeRule.Decision {
    NoticeRule.decide(
      Notice(
        flight, ObjectKey([.integer(1)]), content,
        asOf: asOf.map { (version, .integer($0)) }),
      NoticeRule.Known(
        values: isThere ? row : nil, isClaimed: isClaimed, isDoubtful: isDoubtful))
  }

  @Test func onlyWhatCannotBeOlderIsWritten() {
    let whole = Dictionary(uniqueKeysWithValues: row.enumerated().map { ($0.offset, $0.element) })
    for content in [
      Notice.Content.values(whole), .values([version: .integer(9)]), .deleted, .hint, .whole,
    ] {
      for asOf in [nil, 4, 5, 6] as [Int64?] {
        for isThere in [false, true] {
          for isClaimed in [false, true] {
            for isDoubtful in [false, true] {
              let decision = decide(
                content, asOf: asOf, isThere: isThere, isClaimed: isClaimed,
                isDoubtful: isDoubtful)
              guard case .write(let written) = decision else { continue }
              #expect(!isClaimed)
              #expect(content != .hint && content != .whole)
              let isNewer = isThere && (asOf ?? 0) > 5
              let isSameDelete = isThere && asOf == 5 && content == .deleted
              #expect(!isDoubtful || isNewer || isSameDelete)
              if isThere, let asOf { #expect(asOf > 5 || isSameDelete) }
              // Of an object that is not known nothing is guessed.
              if !isThere, written != nil { #expect(content == .values(whole)) }
            }
          }
        }
      }
    }
  }

  @Test func anOlderNoticeIsIgnored() {
    for asOf: Int64 in [3, 5] {
      let decision = decide(
        .values([version: .integer(asOf)]), asOf: asOf, isThere: true, isClaimed: false,
        isDoubtful: false)
      #expect(decision == .ignore)
    }
    #expect(
      decide(.deleted, asOf: 4, isThere: true, isClaimed: false, isDoubtful: true) == .ignore)
  }

  @Test func otherAttributesStayAsTheyAre() {
    let decision = decide(
      .values([version: .integer(9)]), asOf: nil, isThere: true, isClaimed: false,
      isDoubtful: false)
    var wanted = row
    wanted[version] = .integer(9)
    #expect(decision == .write(wanted))
  }

  @Test func versionsHaveAnOrder() {
    #expect(NoticeRule.order(.integer(1), .integer(2)) == -1)
    #expect(NoticeRule.order(.text("2026-01-01T00:00:00.5"), .text("2026-01-01T00:00:00")) == 1)
    #expect(NoticeRule.order(.text("9"), .text("10")) == -1)
    #expect(NoticeRule.order(.text("b"), .text("a")) == nil)
    #expect(NoticeRule.order(.null, .integer(1)) == nil)
  }

  @Test func marksAreOldEnoughAndEnd() {
    var marks = NoticeMarks()
    var now = Timestamp(milliseconds: 0)
    var active = 0
    func advance(_ seconds: Int64, isNotice: Bool) {
      now = now.advanced(by: .seconds(seconds))
      marks.advance(
        now, isNotice: isNotice,
        begin: {
          active += 1
          return Mark(version: now.milliseconds, moment: 0)
        }, ended: { _ in active -= 1 })
    }
    advance(0, isNotice: false)
    #expect(active == 0)
    advance(0, isNotice: true)
    #expect(marks.mark == nil)
    advance(119, isNotice: true)
    #expect(marks.mark == nil)
    for _ in 0..<50 {
      advance(7, isNotice: true)
      #expect(active <= 2)
      // Whoever wrote within two minutes wrote behind the mark.
      if let mark = marks.mark { #expect(now.milliseconds - mark.version >= 120_000) }
    }
    #expect(marks.mark != nil)
    advance(599, isNotice: false)
    #expect(active == 2)
    advance(601, isNotice: false)
    #expect(active == 0)
    #expect(marks.mark == nil)
  }

  @Test func theBrakeHoldsWithinAMinute() {
    var brake = NoticeBrake()
    let now = Timestamp(milliseconds: 0)
    let first = (0..<12).filter { _ in brake.mayDelete(now, limit: 10) }
    #expect(first.count == 10)
    let isOver = brake.mayDelete(now.advanced(by: .seconds(61)), limit: 10)
    #expect(isOver)
  }
}
