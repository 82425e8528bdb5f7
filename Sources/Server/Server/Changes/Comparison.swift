import FerryConnector
import FerryModel
import FerryWorld

/// Decides which slice of which entity a comparison reads next, how large it is, and when. Pure.
///
/// A slice takes a moment, and nine times as long nothing is asked: replays, read-backs and other
/// programs go on beside it.
struct Comparison {
  private var entities: ArraySlice<Entity>
  private var place: [AttributeValue]?
  private var count: Int = 16
  private var next: Duration
  private(set) var report = ComparisonReport()

  /// A slice that takes longer is followed by a smaller one: rows may be large.
  static let slice: Duration = .milliseconds(20)
  static let mostRows: Int = 2_000
  /// How many times as long as a slice took nothing is asked, and how long at most.
  static let rest: Int = 9
  static let longestRest: Duration = .seconds(5)

  init(_ entities: [Entity], since now: Duration) {
    self.entities = entities.filter { !$0.isOperation }[...]
    next = now
  }

  /// What to read next; nil where everything was read.
  var question: (entity: Entity, place: [AttributeValue]?, count: Int)? {
    entities.first.map { ($0, place, count) }
  }

  func isDue(at now: Duration) -> Bool { now >= next }

  /// How long to wait for the next slice.
  func patience(at now: Duration) -> Duration {
    min(max(next - now, .milliseconds(1)), .seconds(1))
  }

  mutating func pause(until moment: Duration) { next = moment }

  mutating func took(
    _ slice: EntitySlice, differences: Int, from start: Duration, to end: Duration
  ) {
    let time = end - start
    report.rows += slice.rows.count
    report.differences += differences
    report.time += time
    if time > Comparison.slice {
      count = max(1, count / 2)
    } else if time * 2 < Comparison.slice {
      count = min(Comparison.mostRows, count * 2)
    }
    next = end + min(time * Comparison.rest, Comparison.longestRest)
    place = slice.next
    if place == nil { entities = entities.dropFirst() }
  }
}

/// What a comparison has come to so far, or has cost.
struct ComparisonReport: Sendable, Equatable {
  var rows: Int = 0
  /// Rows that were new, different or missing.
  var differences: Int = 0
  /// For which the business system and the cache were busy with it.
  var time: Duration = .zero

  /// For the log.
  var fields: [(String, String)] {
    [
      ("rows", String(rows)), ("differences", String(differences)),
      ("milliseconds", String(Int64(time / .milliseconds(1)))),
    ]
  }
}

/// Decides when all rows are compared: once a day, at the first moment behind an hour (UTC). Pure.
///
/// The clock may be set: backwards it compares nothing twice, forwards once.
struct ComparisonSchedule {
  private let hour: Int
  private var lastDay: Int64

  /// A server that starts behind the hour waits for the next one.
  init(hour: Int, now: Timestamp) {
    self.hour = hour
    lastDay = ComparisonSchedule.day(now, hour)
  }

  /// Returns true once a day.
  mutating func isDue(_ now: Timestamp) -> Bool {
    let day = ComparisonSchedule.day(now, hour)
    guard day > lastDay else { return false }
    lastDay = day
    return true
  }

  /// Days that begin at the hour.
  private static func day(_ now: Timestamp, _ hour: Int) -> Int64 {
    now.advanced(by: .seconds(-hour * 3_600)).day
  }
}
