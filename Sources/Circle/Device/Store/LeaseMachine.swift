/// Judges whether the data may be used without the server: for so long after the last word of it.
///
/// The highest time that was ever seen since then counts, so a clock that is set back gives no time.
/// One that is set back by more than a day closes the data until the server was asked: how much time
/// went by is not known.
package struct LeaseMachine: Equatable {
  package enum State: Equatable { case open, announced, over }

  /// A clock that is corrected by less is no reason to close the data.
  static let patience: Int64 = 86_400_000

  /// All in milliseconds, the last two by the device's clock.
  package let length: Int64
  package private(set) var contact: Int64
  package private(set) var highest: Int64

  package init(length: Int64, contact: Int64) {
    self.length = length
    self.contact = contact
    highest = contact
  }

  /// When the data closes.
  package var end: Int64 {
    let (end, isTooFar) = contact.addingReportingOverflow(length)
    return isTooFar ? .max : end
  }

  package mutating func judge(now: Int64) -> State {
    highest = max(highest, now)
    assert(highest >= contact, "the highest time is before the last contact")
    if highest >= end || now < highest - LeaseMachine.patience { return .over }
    // A fifth of the time before, but no more than a week.
    return highest >= end - min(length / 5, 7 * 86_400_000) ? .announced : .open
  }

  /// As it is stored.
  package var text: String { "\(length) \(contact) \(highest)" }

  package init?(_ text: String) {
    let numbers = text.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count == 3, numbers[0] > 0 else { return nil }
    self.init(length: numbers[0], contact: numbers[1])
    highest = max(numbers[1], numbers[2])
  }
}
